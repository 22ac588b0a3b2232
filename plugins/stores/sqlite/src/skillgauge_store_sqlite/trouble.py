"""Turns what can go wrong with a database into errors that say what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from skillgauge.api import StoreError
from skillgauge_stored_runs import AGAIN, trouble

TROUBLES = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged file does to its readers. The second comes from a damaged text, which Python's module meets first."""

_RESTORE = "Move it away and restore it from a backup, or begin with a new file."
_BY_PREFIX = (
    ("SQLITE_FULL", "store.disk-full", "there is no space left for {path}", f"Free some space, {AGAIN}."),
    (
        "SQLITE_IOERR",
        "store.io",
        "{path} cannot be written or read",
        f"Check the disk, its quota and the size limit of files, {AGAIN}.",
    ),
    (
        "SQLITE_BUSY",
        "store.busy",
        "{path} was locked by another program for too long",
        f"Close the program that holds it open, {AGAIN}.",
    ),
    (
        "SQLITE_READONLY",
        "store.not-writable",
        "{path} is read-only",
        "Make the file and its folder writable for you, or name another file with --store.",
    ),
    (
        "SQLITE_CANTOPEN",
        "store.not-writable",
        "{path} cannot be opened",
        "Make the file and its folder readable and writable for you, or name another file with --store.",
    ),
    (
        "SQLITE_NOTADB",
        "store.not-sqlite",
        "{path} is not an SQLite database",
        "Name another file with --store.",
    ),
    (
        "SQLITE_CORRUPT",
        "store.damaged",
        "{path} is damaged",
        _RESTORE,
    ),
    (
        "SQLITE_TOOBIG",
        "store.damaged",
        "{path} holds a record that is larger than any that is stored",
        _RESTORE,
    ),
    (
        "SQLITE_ERROR",  # of statements that are right, so the tables are wrong
        "store.damaged",
        "the tables of {path} are damaged",
        _RESTORE,
    ),
)


def damaged(path: Path, what: str) -> StoreError:
    """A file of ours that does not hold what it must."""
    return trouble("store.damaged", f"{path} is damaged ({what})", _RESTORE)


def is_busy(error: BaseException) -> bool:
    """Tell whether another process held a lock for too long."""
    return str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_BUSY")


def explain(error: sqlite3.Error | OSError | UnicodeDecodeError, path: Path) -> StoreError:
    """Return the meaning of an error of SQLite or of the file system for the user of the store at `path`."""
    if isinstance(error, OSError):
        message, hint = f"{path} cannot be opened: {error.strerror}", "Name another file with --store."
        return trouble("store.not-writable", message, hint)
    name = getattr(error, "sqlite_errorname", "")
    if (
        isinstance(error, UnicodeDecodeError | sqlite3.OperationalError) and not name
    ):  # Python's module could not read what SQLite gave it
        return damaged(path, "a text in it is not UTF-8")
    for prefix, code, message, hint in _BY_PREFIX:
        if name.startswith(prefix):
            return trouble(code, f"{message.format(path=path)} ({error})", hint)
    return trouble("store.failed", f"{path}: {error} ({name or type(error).__name__})")
