"""The `html` reporter of skillgauge."""
