"""The `rubric` scorer of skillgauge."""
