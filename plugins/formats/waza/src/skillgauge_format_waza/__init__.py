"""The `waza` format of skillgauge."""
