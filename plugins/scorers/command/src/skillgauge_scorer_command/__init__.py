"""The `command` scorer of skillgauge."""
