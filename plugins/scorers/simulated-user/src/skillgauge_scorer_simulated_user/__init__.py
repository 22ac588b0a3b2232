"""A model plays the user of a conversation."""
