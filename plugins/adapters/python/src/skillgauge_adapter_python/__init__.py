"""The `python` adapter of skillgauge."""
