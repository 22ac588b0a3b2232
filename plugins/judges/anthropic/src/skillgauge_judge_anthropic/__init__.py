"""The `anthropic` judge of skillgauge."""
