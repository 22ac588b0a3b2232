"""Read an eval file and what belongs to it, and say what is wrong with it."""
