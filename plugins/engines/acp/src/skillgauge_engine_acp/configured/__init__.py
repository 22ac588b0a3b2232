"""The engine for agents that the user describes himself."""
