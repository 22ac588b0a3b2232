"""The `junit` reporter of skillgauge."""
