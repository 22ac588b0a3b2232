"""Make checks of graders and constraints."""
