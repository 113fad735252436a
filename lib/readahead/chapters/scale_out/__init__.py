"""Scale-out: one query on several nodes."""
