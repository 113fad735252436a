"""Read-ahead: asking for bytes before they are needed."""
