"""The start notebook: one chart, four knobs."""
