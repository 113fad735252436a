"""What a chapter is made of: knobs, an experiment, rounds, claims, figures."""
