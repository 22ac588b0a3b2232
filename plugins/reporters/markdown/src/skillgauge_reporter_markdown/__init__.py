"""The `markdown` reporter of skillgauge."""
