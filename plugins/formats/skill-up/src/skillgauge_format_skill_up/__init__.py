"""The `skill-up` format of skillgauge."""
