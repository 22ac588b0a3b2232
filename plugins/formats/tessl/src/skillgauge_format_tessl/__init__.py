"""The `tessl` format of skillgauge."""
