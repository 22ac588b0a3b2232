"""The `skillgrade` format of skillgauge."""
