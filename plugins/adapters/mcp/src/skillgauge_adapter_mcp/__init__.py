"""The `mcp` adapter of skillgauge."""
