"""The worth of a run: of its trials, of its groups, and of all of it."""
