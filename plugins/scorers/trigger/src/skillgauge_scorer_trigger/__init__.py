"""The `trigger` scorer of skillgauge."""
