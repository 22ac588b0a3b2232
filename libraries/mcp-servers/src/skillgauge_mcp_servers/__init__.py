"""MCP servers that agents are given in an evaluation, and stand-ins that answer in their place."""
