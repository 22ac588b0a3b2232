"""The `claude-code` engine of skillgauge."""
