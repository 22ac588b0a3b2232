"""The `promptfoo` format of skillgauge."""
