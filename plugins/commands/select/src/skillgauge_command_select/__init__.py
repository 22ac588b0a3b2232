"""The command `select`."""
