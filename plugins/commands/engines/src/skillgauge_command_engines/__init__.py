"""The command `engines` of skillgauge."""
