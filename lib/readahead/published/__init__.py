"""Figures that others published, each with author, date and device, and the sums that proof-read them."""

from readahead.published.checks import Check, checks, work_out
from readahead.published.figures import UNITS, Figure, figure, figures, series, topics

__all__ = ["UNITS", "Check", "Figure", "checks", "figure", "figures", "series", "topics", "work_out"]
