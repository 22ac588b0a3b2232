"""The `codex` engine of skillgauge."""
