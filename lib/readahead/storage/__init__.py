"""How the bytes come: clock, trace, emulated device, page cache."""
