"""Reading an index: fan-out, page chains and samples."""
