"""Open a document of results, which may be anybody's: what readers of reporters begin with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from skillgauge.api import Document, JsonValue, SuiteError, read_document

LARGEST = 1024 * 1024 * 1024
"""Bytes of a document that is read."""
_BEGINNING = 64 * 1024
_BEFORE = b"\xef\xbb\xbf \t\r\n"


def result_document(
    path: Path, *, is_own: Callable[[JsonValue], bool], was_own: Callable[[bytes], bool]
) -> Document | None:
    """A JSON document of a reporter's own kind; `None` if it is something else.

    Args:
        path: the file.
        is_own: whether a value is such a document.
        was_own: whether a file that is no JSON was one before something happened to it, by its first 64 KiB, which
            begin with what is no white space.

    Raises:
        SuiteError: it is of the reporter's own kind, but cannot be read.
    """
    try:
        document = read_document(path, kind="json", max_bytes=LARGEST)
    except SuiteError:
        if was_own(_beginning(path)):
            raise
        return None
    return document if is_own(document.value) else None


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_BEGINNING).lstrip(_BEFORE)
    except OSError:
        return b""
