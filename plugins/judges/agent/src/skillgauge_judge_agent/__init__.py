"""The `agent` judge of skillgauge."""
