"""A skill that stays alive between calls, and leaves something behind."""

CALLS = 0


def call(value):
    """Say how often this was called since it was opened."""
    global CALLS
    CALLS += 1
    return {"calls": CALLS}
