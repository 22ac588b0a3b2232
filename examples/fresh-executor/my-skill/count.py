"""A skill that lives in the process of whoever calls it, and leaves something behind there."""

import os

CALLS = 0


def call(value):
    """Say how often this was called in this process; "die" takes the process down."""
    global CALLS
    CALLS += 1
    if value.get("die"):
        os._exit(7)
    return {"calls": CALLS}
