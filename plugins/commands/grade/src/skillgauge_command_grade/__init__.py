"""The command `grade` of skillgauge."""
