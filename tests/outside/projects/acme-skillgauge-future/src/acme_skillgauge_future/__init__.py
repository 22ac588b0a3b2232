"""A plugin that is wrong on purpose: it is for another version of the core."""
