"""Recipes for tables, the files that are built from them, and what the metadata of any file says."""
