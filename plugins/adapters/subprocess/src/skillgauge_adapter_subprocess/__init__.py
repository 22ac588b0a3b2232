"""The `subprocess` adapter of skillgauge."""
