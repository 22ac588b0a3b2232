"""The belongings of a case: files for its workspace, variables for its environment."""

from collections.abc import Iterable
from typing import Self

from pydantic import model_validator

from skillgauge_documents.frozen import Frozen, digest, once


class FileSpec(Frozen):
    """A file to be put into a workspace, from text or from a file on disk."""

    path: str
    """Where it goes, relative to the workspace root, with forward slashes."""
    text: str | None = None
    source: str | None = None
    """Absolute path of the file to copy; exactly one of `text` and `source` is set."""
    executable: bool = False
    digest: str = ""
    """Content digest, part of the execution id; computed from `text` when empty."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.text is None) == (self.source is None):
            raise ValueError("exactly one of text and source must be given")
        parts = self.path.split("/")
        if self.path.startswith("/") or ".." in parts or "\\" in self.path or not self.path.strip("./"):
            raise ValueError(f"path {self.path!r} does not stay inside the workspace")
        return self

    @once
    def content_id(self) -> str:
        """Digest of path, mode and content."""
        content = self.digest or (digest(self.text) if self.text is not None else digest(None, self.source))
        return digest(self.path, self.executable, content)


def content_ids(files: Iterable[FileSpec]) -> list[str]:
    """Return the digest of path, mode and content of each file."""
    return [file.content_id for file in files]


class HostVariable(Frozen):
    """A variable of the environment whose value is that of the user's own, and is written nowhere."""

    name: str
    """As the processes of a case see it."""
    host: str
    """As the user's environment has it."""
    default: str | None = None
    """Its value where the user's environment has none; without a default that is a problem of the run."""
