"""The command `find`."""
