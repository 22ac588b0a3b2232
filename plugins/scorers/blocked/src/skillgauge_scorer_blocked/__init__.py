"""The `blocked` scorer of skillgauge."""
