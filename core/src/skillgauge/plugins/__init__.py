"""Installed plugins, the way they are loaded, and the guard that keeps calls into them from taking the tool down."""
