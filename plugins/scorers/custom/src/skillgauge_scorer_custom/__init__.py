"""The `custom` scorer of skillgauge."""
