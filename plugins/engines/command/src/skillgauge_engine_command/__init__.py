"""The `command` engine of skillgauge."""
