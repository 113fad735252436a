"""What the learner sees and touches."""
