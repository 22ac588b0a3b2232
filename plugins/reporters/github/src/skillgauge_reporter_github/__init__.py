"""The `github` reporter of skillgauge."""
