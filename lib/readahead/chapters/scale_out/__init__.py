"""One query on several nodes."""
