"""A file that is to be written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Artifact:
    """A file to be written by the kernel."""

    chunks: Iterable[bytes]
    """Content, possibly made while it is written."""
    path: str = ""
    """Relative path inside the reporter's own folder; empty for the reporter's one report file."""
