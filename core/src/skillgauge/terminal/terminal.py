"""The abilities of a terminal: whether it is one, how wide it is, and whether it wants colours."""

from __future__ import annotations

import os
from typing import TextIO

from ..environment import host_environment

COLUMNS = 80
"""Width of a terminal that does not say how wide it is."""


def is_live(stream: TextIO) -> bool:
    """Tell whether lines may be written over: on a terminal that can do so, and never in a log."""
    environ = host_environment()
    return stream.isatty() and environ.get("TERM") != "dumb" and not environ.get("CI")


def takes_color(stream: TextIO, *, no_color: bool = False) -> bool:
    """Tell whether a stream is to be coloured; `NO_COLOR` and `TERM=dumb` count, see https://no-color.org."""
    return is_live(stream) and not no_color and not host_environment().get("NO_COLOR")


def width_of(stream: TextIO) -> int | None:
    """Columns of a terminal, or as many as `COLUMNS` says; `None` where lines may be as long as they like."""
    columns_text = host_environment().get("COLUMNS", "")
    if columns_text.isdigit() and int(columns_text):
        return int(columns_text)
    if not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or COLUMNS
    except OSError:
        return COLUMNS
