"""Row groups: how many rows are stored and read together."""
