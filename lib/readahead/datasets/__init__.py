"""What lies there: recipes, built once, and what they look like inside."""
