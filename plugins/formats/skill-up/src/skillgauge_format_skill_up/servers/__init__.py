"""MCP servers of a suite and of its cases."""
