"""Markdown files with front matter."""

from __future__ import annotations

from pathlib import Path

from skillgauge.api import EMPTY, Document, Problem, SourceSpan, SuiteError, parse_document
from skillgauge_documents.immutables import immutable

from .bundles import bytes_of

MAX_BYTES = 1 << 20
_FENCE = "---"


@immutable
class Headed:
    """A file in its two parts."""

    document: Document
    """The front matter; without one an empty object."""
    has_head: bool
    body: str
    body_line: int
    """Line of the file in which the body begins."""


def read_headed(file: Path) -> Headed:
    """Read a file.

    Raises:
        SuiteError: it cannot be read, is too large or no UTF-8, or its front matter is not closed or no YAML.
    """
    data = bytes_of(file, MAX_BYTES)
    if data is None:
        message = f"{file.name} cannot be read, or is larger than {MAX_BYTES:,} bytes"
        raise SuiteError(Problem("document.unreadable", message, span=SourceSpan(str(file))))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SuiteError(
            Problem(
                "document.encoding", f"byte 0x{data[error.start]:02x} is not UTF-8", span=SourceSpan(str(file), line)
            )
        ) from error
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return Headed(Document(EMPTY, str(file)), has_head=False, body="\n".join(lines).strip(), body_line=1)
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        message, hint = "the front matter is opened and not closed", "End it with a line ---."
        raise SuiteError(Problem("document.front-matter", message, span=SourceSpan(str(file), 1), hint=hint))
    document = parse_document("\n".join(lines[:end]), file=str(file), kind="yaml")
    if document.value is None:
        document = Document(EMPTY, str(file))
    return Headed(document, has_head=True, body="\n".join(lines[end + 1 :]).strip(), body_line=end + 2)


def head_of(file: Path) -> str:
    """Return the text of a file's front matter; empty if it has none or cannot be read."""
    lines = (bytes_of(file, MAX_BYTES) or b"").decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    return "\n".join(lines[:end]) if lines[0].rstrip() == _FENCE and end else ""
