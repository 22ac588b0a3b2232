"""Recognise a sheet by its first cell."""

from __future__ import annotations

from pathlib import Path

from skillgauge.api import Claim

MARK = "acme cases"
"""First cell of a sheet of ours; the program that is called stands beside it."""


def claim(path: Path) -> Claim | None:
    """Look at the first words of a file; never raise."""
    try:
        if path.suffix.lower() != ".csv" or not path.is_file():
            return None
        with path.open("rb") as file:
            begin = file.read(len(MARK) + 8).removeprefix(b"\xef\xbb\xbf").lstrip(b'"')
    except (OSError, ValueError):
        return None
    return Claim(reason=f"a CSV file that begins with {MARK!r}") if begin.startswith(MARK.encode()) else None
