"""The `command` adapter of skillgauge."""
