"""The `sequence` scorer of skillgauge."""
