"""What the learner is asked: predictions, exercises, and how answers are read and kept."""
