"""The processor time that reading and writing cost."""
