"""How the bytes come: emulated device, trace, page cache."""
