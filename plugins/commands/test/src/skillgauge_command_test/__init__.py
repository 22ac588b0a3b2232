"""The command `test`."""
