"""Newspaper clippings: figures that others printed, each with who, when, on what, and the sums that
proof-read them.
"""

from readahead.published.checks import Check, checks, work_out
from readahead.published.figures import TOPICS, UNITS, Figure, figure, figures, series

__all__ = ["TOPICS", "UNITS", "Check", "Figure", "checks", "figure", "figures", "series", "work_out"]
