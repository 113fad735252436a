"""One bench a topic."""
