"""The learner's own table."""
