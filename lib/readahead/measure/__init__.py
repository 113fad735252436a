"""What happened: runs, samples, the machine they ran on."""
