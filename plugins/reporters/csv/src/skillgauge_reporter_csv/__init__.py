"""The `csv` reporter of skillgauge."""
