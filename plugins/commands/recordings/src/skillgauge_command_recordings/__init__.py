"""The command `recordings` of skillgauge."""
