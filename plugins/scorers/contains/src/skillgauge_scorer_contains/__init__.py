"""The `contains` scorer of skillgauge."""
