"""The `vally` format of skillgauge."""
