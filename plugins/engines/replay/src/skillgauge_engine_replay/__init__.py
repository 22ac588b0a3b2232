"""The `replay` engine of skillgauge."""
