"""The commands of `python -m readahead`."""
