"""What the united systems promise, and that it is kept."""
