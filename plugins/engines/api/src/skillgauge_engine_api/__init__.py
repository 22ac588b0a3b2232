"""The `api` engine of skillgauge."""
