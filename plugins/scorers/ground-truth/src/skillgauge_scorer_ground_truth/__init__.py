"""The `ground-truth` scorer of skillgauge."""
