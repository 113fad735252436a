"""What the learner is asked."""
