"""A plugin that is wrong on purpose: it ends the program that imports it."""
