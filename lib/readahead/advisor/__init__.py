"""Advice on a table of one's own: modeled from its metadata, ranked by gain, checked on a sample."""
