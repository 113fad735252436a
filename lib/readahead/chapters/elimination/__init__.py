"""Elimination: row groups that a filter rules out unread."""
