"""The command `watch` of skillgauge."""
