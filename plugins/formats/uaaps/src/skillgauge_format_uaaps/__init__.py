"""The `uaaps` format of skillgauge."""
