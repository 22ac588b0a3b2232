"""A plugin that is wrong on purpose: it cannot be imported."""
