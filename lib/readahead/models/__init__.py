"""What should happen: pure arithmetic on a device and a file's shape."""
