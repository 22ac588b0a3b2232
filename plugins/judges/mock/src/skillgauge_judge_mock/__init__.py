"""The `mock` judge of skillgauge."""
