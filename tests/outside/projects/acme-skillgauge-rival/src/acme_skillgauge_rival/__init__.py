"""A plugin that is wrong on purpose: it takes a name that another one has."""
