"""Lookups: rows fetched by their keys."""
