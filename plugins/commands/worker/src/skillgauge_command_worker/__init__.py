"""The command `worker` of skillgauge."""
