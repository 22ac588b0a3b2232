"""The `regex` scorer of skillgauge."""
