"""What the developers of the workbook run and its readers do not: its benchmark, and the makers of its pages."""
