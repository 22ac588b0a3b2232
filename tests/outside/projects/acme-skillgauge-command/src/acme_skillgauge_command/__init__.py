"""A command of `skillgauge` that only ACME needs."""
