"""The command `convert`."""
