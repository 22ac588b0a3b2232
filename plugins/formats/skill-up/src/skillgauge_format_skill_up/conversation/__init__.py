"""Conversations with users that a model plays."""
