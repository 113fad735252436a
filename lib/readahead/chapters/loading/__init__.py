"""Loading: writers, commits, and whether a difference is one."""
