"""The command `rescore` of skillgauge."""
