"""From a path or a text to a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from .faults import DocumentError, Fault, place_at
from .json_text import json_value
from .values import JsonValue
from .yaml_parts.values import yaml_value

Kind: TypeAlias = Literal["json", "yaml"]
"""Syntax of a document."""

MAX_BYTES = 64 * 1024 * 1024
"""Largest file that `read` accepts unless told otherwise, whatever its syntax."""


def read(path: Path, *, kind: Kind | None = None, max_bytes: int | None = None) -> JsonValue:
    """The value of a file that holds one JSON or YAML document.

    Args:
        path: the file.
        kind: its syntax; by default YAML for the endings `.yaml` and `.yml`, else JSON.
        max_bytes: largest size accepted; by default that of `MAX_BYTES`.

    Raises:
        DocumentError: with everything that is wrong.
    """
    kind = kind or ("yaml" if path.suffix.lower() in (".yaml", ".yml") else "json")
    return _reader.get()(path, kind, max_bytes or MAX_BYTES)


@contextmanager
def reading_once() -> Iterator[None]:
    """Within, `read` gives the value of a file that it has read lately again, without looking at the file.

    For a search, in which many look into each file before one of them takes it.
    """
    token = _reader.set(lru_cache(_KEPT)(_read))
    try:
        yield
    finally:
        _reader.reset(token)


def _read(path: Path, kind: Kind, max_bytes: int) -> JsonValue:
    return parse(read_text(path, max_bytes), kind)


_KEPT = 4
"""Values of files that are kept; all who look into a file do so one after the other."""
_reader: ContextVar[Callable[[Path, Kind, int], JsonValue]] = ContextVar("_reader", default=_read)


def parse(text: str, kind: Kind) -> JsonValue:
    """As `read`, from text."""
    return json_value(text) if kind == "json" else yaml_value(text)


def _no_file(path: Path) -> Fault:
    if path.is_dir():
        return Fault("missing", f"{path.name!r} is a folder", hint="Put a file of that name in its place.")
    reason = "is not a regular file" if path.exists() else "does not exist"
    return Fault("missing", f"{path.name!r} {reason}")


def read_text(path: Path, max_bytes: int) -> str:
    """The text of a UTF-8 file, without its byte order mark.

    Raises:
        DocumentError: it is absent, unreadable, too large or no text.
    """
    try:
        if not path.is_file():  # also keeps us from waiting for a pipe or device
            raise DocumentError(_no_file(path))
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        reason = f"{path.name!r} cannot be read: {error.strerror or error}"
        raise DocumentError(Fault("missing", reason)) from error
    if len(data) > max_bytes:
        raise DocumentError(Fault("too-large", f"larger than {max_bytes:,} bytes", hint="Split it into several files."))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise DocumentError(
            Fault("encoding", message, *place_at(before, len(before)), "Save the file as UTF-8.")
        ) from error
    if (nul := text.find("\0")) >= 0:
        raise DocumentError(Fault("encoding", "contains a NUL character", *place_at(text, nul)))
    return text
