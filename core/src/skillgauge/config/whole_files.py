"""Write files so that none is ever half written."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..errors import Problem, UsageError


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file so that nobody ever sees half of it; a stream takes the chunks as they come.

    Raises:
        UsageError: the place cannot be written.
    """
    try:
        if is_stream(path):
            with path.open("ab") as stream:  # what a redirected stdout holds already stays
                stream.writelines(chunks)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(chunks)
            Path(partial).replace(path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        message, hint = f"cannot write {str(path)!r}: {error.strerror or error}", "Choose another place."
        raise UsageError(Problem("usage.unwritable", message, hint=hint)) from None


def is_stream(path: Path) -> bool:
    """Tell whether a path leads to a device, a pipe, or to stdout or stderr: no file may take the place of these."""
    try:
        status = path.stat()
        is_own = any(os.path.samestat(status, os.fstat(number)) for number in (1, 2))
    except OSError:
        return False
    return is_own or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode))


def unwritable(folder: Path) -> Problem | None:
    """Return why no file can be written into a folder that need not be there yet; `None` if one can.

    Nothing is made: the nearest folder above that is there answers for it.
    """
    nearest = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), folder)
    if not nearest.is_dir():
        reason = f"{str(nearest)!r} is not a folder"
    elif not os.access(nearest, os.W_OK | os.X_OK):
        reason = f"{str(nearest)!r} is not yours to write into"
    else:
        return None
    return Problem("usage.unwritable", f"cannot write into {str(folder)!r}: {reason}", hint="Choose another place.")
