"""The files of a run on a machine that did not have them."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

from .manifest import HOME, Manifest, WrongContentError

Read = Callable[[str], Awaitable[bytes]]
"""Fetches the content with a digest."""
KEPT_S = 30 * 86_400.0
"""How long a content stays in the cache after it was last used."""


@dataclass(frozen=True)
class LaidDown:
    """The files of a run, laid down."""

    folder: Path
    """That of the run: places are relative to it."""
    home: Path
    """Places that begin with `~/` lie below it."""


async def lay_down(manifest: Manifest, read: Read, cache: Path, root: Path) -> LaidDown:
    """Make the files of a manifest.

    Args:
        manifest: names them.
        read: fetches what the cache does not have, one after the other.
        cache: folder of contents by digest, for all runs of a user on this machine; made if it is not there.
        root: an empty folder, in which everything is made.

    Raises:
        WrongContentError: a content that was fetched is another one.
        OSError: the folders cannot be written.
    """
    laid = LaidDown(root.joinpath("run", *["in"] * manifest.depth), root / "home")
    for folder in (laid.folder, laid.home, *(_path(laid, place) for place in manifest.folders)):
        folder.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(_prune, cache)
    for place, entry in manifest.files.items():
        kept = cache / entry.digest[:2] / entry.digest
        if not await asyncio.to_thread(_is_kept, kept, entry.digest):
            await asyncio.to_thread(_keep, kept, entry.digest, await read(entry.digest))
        await asyncio.to_thread(_copy, kept, _path(laid, place), executable=entry.executable)
    return laid


def _path(laid: LaidDown, place: str) -> Path:
    if place == HOME or place.startswith(f"{HOME}/"):
        return laid.home / place[2:]
    return Path(os.path.normpath(laid.folder / place))


def _is_kept(kept: Path, digest: str) -> bool:
    """Tell whether a content is in the cache, unchanged, and take note that it is used."""
    try:
        whole = sha256(kept.read_bytes()).hexdigest() == digest
        os.utime(kept)
    except OSError:
        return False
    return whole


def _keep(kept: Path, digest: str, content: bytes) -> None:
    if sha256(content).hexdigest() != digest:
        raise WrongContentError(f"what was sent as {digest} is another content")
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=kept.parent, delete=False) as stream:
        stream.write(content)
    Path(stream.name).replace(kept)


def _copy(kept: Path, path: Path, *, executable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(kept, path)
    path.chmod(0o755 if executable else 0o644)


def _prune(cache: Path) -> None:
    """Remove what was not used for a long time."""
    oldest = time.time() - KEPT_S
    for kept in cache.glob("[0-9a-f][0-9a-f]/*"):
        with suppress(OSError):  # another process was faster
            if kept.stat().st_mtime < oldest:
                kept.unlink()
