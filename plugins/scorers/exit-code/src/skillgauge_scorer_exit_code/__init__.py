"""The `exit-code` scorer of skillgauge."""
