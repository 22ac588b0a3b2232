"""The engines of skillgauge for agents that speak the Agent Client Protocol."""
