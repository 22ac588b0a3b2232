"""The files of a run on their way: where it began, and in a folder of a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from skillgauge.api import PluginError, Problem, RunFiles, host_environment
from skillgauge_processes import temporary_folder

from .files import Files, TooMuchError
from .laying import LaidDown, lay_down
from .manifest import Manifest, WrongContentError


class Content(Protocol):
    """The files of a run, by digest. Workers have one that asks that of the first process."""

    async def manifest(self) -> bytes:
        """Return the list of the files: JSON in UTF-8.

        Raises:
            PluginError: they are more than should travel, or one cannot be read.
        """

    async def content(self, digest: str) -> bytes:
        """Return a file of that list, by the SHA-256 that stands there.

        Raises:
            PluginError: the list has no such digest, or the file has changed since.
        """


class ContentOfRun:
    """The files of a run where it began: a `Content`. Nothing is read before somebody asks."""

    def __init__(self, of: RunFiles) -> None:
        self._files = Files(of.roots, of.folders)
        self._reading = asyncio.Lock()

    async def manifest(self) -> bytes:
        """See `Content.manifest`."""
        async with self._reading:  # several workers ask at once
            try:
                manifest = await asyncio.to_thread(lambda: self._files.manifest)
            except (TooMuchError, OSError) as error:
                hint = "Leave out what the evaluation does not need, or start the workers in a folder with equal files."
                raise _trouble(f"the files of this run cannot travel: {error}", hint) from error
        return manifest.model_dump_json().encode()

    async def content(self, digest: str) -> bytes:
        """See `Content.content`."""
        try:
            return await asyncio.to_thread(self._files.read, digest)
        except KeyError:
            raise _trouble(f"no file of this run has the digest {digest!r}") from None
        except (WrongContentError, OSError) as error:
            raise _trouble(f"a file of this run cannot travel: {error}", "Run it again.") from error


@asynccontextmanager
async def laid_down(content: Content) -> AsyncIterator[LaidDown]:
    """Make the files of a run in a folder of their own, which goes in the end, even of a process that is killed.

    Raises:
        PluginError: they are no such files, or others than they should be.
    """
    with temporary_folder() as folder:
        kept = _cache() or folder / "cache"
        try:
            manifest = Manifest.model_validate_json(await content.manifest())
            laid = await lay_down(manifest, content.content, kept, folder / "files")
        except ValidationError as error:
            message = f"this is no list of the files of a run: {error.errors()[0]['msg']}"
            raise _trouble(message, "Install the same version of skillgauge at both ends.") from None
        except WrongContentError as error:
            raise _trouble(f"the files of the run cannot be laid down: {error}") from None
        yield laid


def _cache() -> Path | None:
    """The folder of contents among the user's caches; `None` without a home."""
    environ = host_environment()
    if place := environ.get("XDG_CACHE_HOME"):
        return Path(place).absolute() / "skillgauge/content"
    return Path(home) / ".cache/skillgauge/content" if (home := environ.get("HOME")) else None


def _trouble(message: str, hint: str | None = None) -> PluginError:
    return PluginError(Problem("executor.content", message, hint=hint))
