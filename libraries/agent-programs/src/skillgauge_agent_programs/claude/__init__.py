"""Claude Code, whichever engine drives it: its skills, and the variables that say where it asks."""
