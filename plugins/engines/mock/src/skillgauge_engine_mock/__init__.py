"""The `mock` engine of skillgauge."""
