"""YAML text: its values and its places."""
