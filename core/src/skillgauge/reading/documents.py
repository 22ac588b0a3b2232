"""From a path to a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ..errors import Origin, SourceSpan, SuiteError
from ..types.frozen import JsonValue
from .json_text import json_value
from .problems import Step, problem, span_at
from .yaml_text import yaml_value

Kind: TypeAlias = Literal["json", "yaml"]
"""Syntax of a document."""

MAX_BYTES: Mapping[Kind, int] = {"json": 64 * 1024 * 1024, "yaml": 4 * 1024 * 1024}
"""Largest file that `read_document` accepts unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Document:
    """Content of a source file."""

    value: JsonValue
    """Frozen by `freeze`."""
    file: str
    """Path as the user gave it."""

    def origin(self, *pointer: Step) -> Origin:
        """The place of a value, by the keys and indices that lead to it."""
        return Origin(self.file, pointer)


def read_document(path: Path, *, kind: Kind | None = None, max_bytes: int | None = None) -> Document:
    """Read a file that holds one JSON or YAML document.

    Args:
        path: the file; problems name it as it is written here.
        kind: its syntax; by default YAML for the endings `.yaml` and `.yml`, else JSON.
        max_bytes: largest size accepted; by default that of `MAX_BYTES`.

    Raises:
        SuiteError: with `document.*` problems whose `span` is known.
    """
    kind = kind or ("yaml" if path.suffix.lower() in (".yaml", ".yml") else "json")
    return parse_document(read_text(path, max_bytes or MAX_BYTES[kind]), file=str(path), kind=kind)


def parse_document(text: str, *, file: str, kind: Kind) -> Document:
    """As `read_document`, from text that stands at the beginning of `file`."""
    return Document(json_value(text, file) if kind == "json" else yaml_value(text, file), file)


def read_text(path: Path, max_bytes: int) -> str:
    """The text of a UTF-8 file, without its byte order mark.

    Raises:
        SuiteError: it is absent, unreadable, too large or no text.
    """
    file = str(path)
    try:
        if not path.is_file():  # also keeps us from waiting for a pipe or device
            reason = "is not a regular file" if path.exists() else "does not exist"
            raise SuiteError(problem("missing", f"{path.name!r} {reason}", SourceSpan(file)))
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        reason = f"{path.name!r} cannot be read: {error.strerror or error}"
        raise SuiteError(problem("missing", reason, SourceSpan(file))) from error
    if len(data) > max_bytes:
        raise SuiteError(problem("too-large", f"larger than {max_bytes:,} bytes", SourceSpan(file)))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        span = span_at(file, before, len(before))
        raise SuiteError(problem("encoding", message, span, "Save the file as UTF-8.")) from error
    if (nul := text.find("\0")) >= 0:
        raise SuiteError(problem("encoding", "contains a NUL character", span_at(file, text, nul)))
    return text
