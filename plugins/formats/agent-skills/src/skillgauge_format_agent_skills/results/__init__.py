"""The documents of skill-creator about a run: `benchmark.json`, written and read, and its workspace."""
