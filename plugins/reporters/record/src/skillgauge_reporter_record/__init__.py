"""The `record` reporter of skillgauge."""
