"""The contract of sandboxes: files, limits, environment, and nothing that is left behind."""
