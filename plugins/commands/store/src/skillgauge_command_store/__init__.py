"""The command `store` of skillgauge."""
