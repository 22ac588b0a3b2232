"""The command line as the whole of a process, which searches for garbage as seldom as it may."""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Sequence

GARBAGE_THRESHOLD = 200_000
"""New objects between two searches for cycles. What is loaded here lives until the end and makes hardly any, so that
Python's own 700 spend a quarter of the time of a large suite on looking through all of it again and again."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code, with which the process ends."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    # Pydantic would read the metadata of every installed distribution in search of extensions of its own.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    atexit.register(gc.freeze)  # the interpreter searches once more when it ends, for a tenth of the time of a dry run
    from . import app  # noqa: PLC0415 - what it imports is most of the objects of a start

    return app.run(arguments)
