"""A run as a report of any installed reporter, to be downloaded: one file, or several in a ZIP archive."""

from __future__ import annotations

import mimetypes
import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import IO, Protocol

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from skillgauge.api import Artifact, PluginError, Problem
from skillgauge.api.report import Reporter, RunView

_IN_MEMORY = 8 * 1024 * 1024
"""Bytes of an archive beyond which it is made in a temporary file."""
_CHUNK = 64 * 1024
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


class Reporters(Protocol):
    """A source of reporters."""

    def reporter_names(self) -> tuple[str, ...]:
        """The names of the installed reporters."""

    def reporter(self, name: str) -> Reporter:
        """A reporter.

        Raises:
            PluginError: it is not installed, or does not work.
        """

    def commented(self, view: RunView) -> tuple[RunView, tuple[str, ...]]:
        """A run with what plugins say of its groups, as reports show it, and lines of theirs."""


@dataclass(frozen=True)
class Download:
    """A report that is sent as a file."""

    name: str
    media_type: str
    file: IO[bytes]
    """What it holds; whoever has the download closes it."""

    def chunks(self) -> Iterator[bytes]:
        """Yield what it holds."""
        return _chunks(self.file)


class DownloadResponse(StreamingResponse):
    """A download on its way to a browser. However that ends, its file is closed."""

    def __init__(self, download: Download) -> None:
        headers = {"Content-Disposition": f'attachment; filename="{download.name}"'}
        super().__init__(download.chunks(), media_type=download.media_type, headers=headers)
        self._file = download.file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


class Downloads:
    """Renders runs through installed reporters.

    Args:
        reporters: the reporters; `None` offers no downloads.
    """

    def __init__(self, reporters: Reporters | None = None) -> None:
        self._reporters = reporters

    @property
    def names(self) -> tuple[str, ...]:
        """The reporters that a run can be downloaded by."""
        return self._reporters.reporter_names() if self._reporters else ()

    def make(self, view: RunView, key: str, name: str) -> Download | None:
        """Return a run as a report; `None` if there is no such reporter.

        Args:
            view: the run. Blocks; call it from a worker thread.
            key: its name in addresses.
            name: of the reporter.

        Raises:
            PluginError: the reporter does not work, or gives files outside its folder.
        """
        if self._reporters is None or name not in self.names:
            return None
        reporter = self._reporters.reporter(name)
        artifacts = iter(reporter.render(self._reporters.commented(view)[0]))
        beginning, suffix = _ODD.sub("-", f"{key}-{name}"), _ODD.sub("-", reporter.suffix)
        with ExitStack() as opened:  # until the answer has them
            content = opened.enter_context(_temporary())
            first = _copied(next(artifacts, None), content)
            second = next(artifacts, None)  # asked for only now: what it holds may depend on what was read before it
            if second is None and first is not None and not first.path:
                opened.pop_all()
                media_type = mimetypes.guess_type(f"report.{suffix}")[0] or "application/octet-stream"
                return Download(f"{beginning}.{suffix}", media_type, content)
            with ExitStack() as packing:
                archive = packing.enter_context(_temporary())
                with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
                    if first is not None:
                        _pack(packed, Artifact(_chunks(content), first.path or f"report.{suffix}"))
                    for artifact in filter(None, chain((second,), artifacts)):
                        _pack(packed, artifact)
                packing.pop_all()
                return Download(f"{beginning}.zip", "application/zip", archive)


def _temporary() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(_IN_MEMORY)


def _copied(artifact: Artifact | None, file: IO[bytes]) -> Artifact | None:
    """Write what an artifact holds to a file, and return it."""
    if artifact is not None:
        for chunk in artifact.chunks:
            file.write(chunk)
    return artifact


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield what was written to a file, from its beginning."""
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


def _pack(archive: zipfile.ZipFile, artifact: Artifact) -> None:
    """Add a file to an archive.

    Raises:
        PluginError: it would lie outside the archive's folder.
    """
    relative = PurePosixPath(artifact.path)
    if relative.is_absolute() or ".." in relative.parts:
        message = f"the reporter wants to write {artifact.path!r}, outside its folder"
        raise PluginError(Problem("view.outside", message))
    with archive.open(str(relative), "w", force_zip64=True) as member:
        for chunk in artifact.chunks:
            member.write(chunk)
