"""The `mcp` command of skillgauge: a server with which agents check, run and read evals."""
