"""Readahead: how storage I/O decides the throughput of a database.

README.md lists the rooms under "The house"; a file imports only from the rooms beneath its own. Nothing is imported
here, so that `readahead.models` starts neither DuckDB nor a widget.
"""

__version__ = "0.1.0"
