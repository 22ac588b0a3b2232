"""The command `baseline` of skillgauge."""
