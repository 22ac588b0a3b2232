"""A plugin that is wrong on purpose: its hook is misspelt."""
