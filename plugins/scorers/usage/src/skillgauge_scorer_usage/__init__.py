"""The `usage` scorer of skillgauge."""
