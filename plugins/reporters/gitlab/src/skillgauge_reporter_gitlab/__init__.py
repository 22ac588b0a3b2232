"""The `gitlab` reporter of skillgauge."""
