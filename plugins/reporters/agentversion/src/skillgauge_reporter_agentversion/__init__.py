"""The `agentversion` reporter of skillgauge."""
