"""Newspaper clippings: figures that others printed, each with who, when, on what, and the sums that
proof-read them.
"""

from readahead.published.clippings import TOPICS, UNITS, Figure, figure, figures, series
from readahead.published.sums import Check, checks, work_out

__all__ = ["TOPICS", "UNITS", "Check", "Figure", "checks", "figure", "figures", "series", "work_out"]
