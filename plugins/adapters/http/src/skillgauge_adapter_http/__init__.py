"""The `http` adapter of skillgauge."""
