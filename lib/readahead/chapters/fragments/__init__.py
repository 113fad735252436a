"""Fragments: what a seek costs."""
