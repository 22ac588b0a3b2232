"""A skill that says which process answers."""

import os


def call(value):
    """Name it."""
    return f"worker {os.getpid()}"
