"""What a consultant does on Monday, done from metadata: look, model, rank, and prove it on a sample."""
