"""Report a fault that was not foreseen: one line, and a traceback in a file."""

from __future__ import annotations

import os
import tempfile
import traceback

from ..errors import Problem
from ..log import one_line, without_secrets


def internal_error(error: BaseException) -> Problem:
    """The problem to show; the traceback goes, without secrets, into a file that only the user can read."""
    message = f"internal error: {without_secrets(one_line(error))}"
    try:
        handle, path = tempfile.mkstemp(prefix="skillgauge-error-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(without_secrets("".join(traceback.format_exception(error))))
    except OSError as reason:
        return Problem("internal.error", f"{message} (its traceback cannot be written: {reason})")
    return Problem("internal.error", f"{message} (traceback: {path})")
