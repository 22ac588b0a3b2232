"""The command `map`."""
