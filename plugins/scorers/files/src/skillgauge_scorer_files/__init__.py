"""The `files` scorer of skillgauge."""
