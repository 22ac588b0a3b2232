"""The command `cache` of skillgauge."""
