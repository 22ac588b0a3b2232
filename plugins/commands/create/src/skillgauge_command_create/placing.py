"""Put a new folder into place: whole or not at all, and never instead of anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from skillgauge.api import Problem, UsageError

_NAMED = 5


def obstacle(folder: Path) -> Problem | None:
    """Return the thing that stands where a folder is to be made; an empty folder does not count."""
    if not os.path.lexists(folder):
        return None
    reason = "is no folder"
    if folder.is_dir() and not folder.is_symlink():
        try:
            held = sorted(path.name for path in folder.iterdir())
        except OSError as error:
            held = [f"what cannot be seen ({error.strerror})"]
        if not held:
            return None
        more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
        reason = f"holds {', '.join(held[:_NAMED])}{more}"
    hint = "Choose another --name or --output-dir, or remove it; nothing was changed."
    return Problem("create.exists", f"{str(folder)!r} exists already and {reason}", hint=hint)


def place(files: Mapping[str, bytes], folder: Path) -> None:
    """Make a folder with files in it; folders above it are made, too.

    Args:
        files: contents by path inside the folder.
        folder: what is made. Somebody else who makes it at the same time wins or loses as a whole.

    Raises:
        UsageError: something is there already, or the place cannot be written; nothing was left there.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".create-", dir=folder.parent) as staging:
            staged = Path(staging, "made")
            for name, content in files.items():
                path = staged / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            staged.rename(folder)  # refused by the system if there is anything but an empty folder
    except OSError as error:
        raise UsageError(obstacle(folder) or _unwritable(folder, error)) from None


def _unwritable(folder: Path, error: OSError) -> Problem:
    hint = "Choose another place with --output-dir."
    return Problem("usage.unwritable", f"cannot make {str(folder)!r}: {error.strerror}: {error.filename}", hint=hint)
