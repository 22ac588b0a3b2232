"""The `tool-call` scorer of skillgauge."""
