"""The command `create`."""
