"""The `exact` scorer of skillgauge."""
