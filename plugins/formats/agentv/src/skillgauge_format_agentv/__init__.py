"""The `agentv` format of skillgauge."""
