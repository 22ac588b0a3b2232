"""Opens the database file: makes it, brings it up to date, and refuses what is not ours without touching it."""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import field
from pathlib import Path

from skillgauge.api import StoreError
from skillgauge_documents.immutables import immutable
from skillgauge_stored_runs import LARGEST, trouble

from .places import refuse_networks
from .schema import APPLICATION_ID, MIGRATIONS
from .trouble import TROUBLES, explain

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_EVAL_SKILLS = {"skills", "evaluations", "task_results"}
_ELSEWHERE = "Name another file with --store."
_LONGEST_ROW = LARGEST + 1024 * 1024
"""Bytes; SQLite's own limit is a thousand million."""
_WAL_PAGES = 4000
"""Checkpoint after about 16 MB of log: fewer syncs than SQLite's default of 4 MB, and still a small file."""

_FileId = tuple[int, int]
"""Device and number of a file."""


class _OpenFiles:
    """The databases that this process has open, by whichever store.

    When a process closes any descriptor of a file, POSIX drops all its locks, and another process takes away the log
    that this one is still writing. So while a connection is open, only SQLite opens the file.
    """

    def __init__(self) -> None:
        self._connections: Counter[_FileId] = Counter()
        self._lock = threading.Lock()

    def add(self, file: _FileId) -> None:
        """Take note of a connection."""
        with self._lock:
            self._connections[file] += 1

    def remove(self, file: _FileId) -> None:
        """Take note that a connection is closed."""
        with self._lock:
            self._connections[file] -= 1

    def has(self, path: Path) -> bool:
        """Tell whether a connection is open."""
        try:
            file = _file_id(path)
        except OSError:
            return False
        with self._lock:
            return self._connections[file] > 0


_OPEN_FILES = _OpenFiles()


def _file_id(path: Path) -> _FileId:
    found = path.stat()
    return found.st_dev, found.st_ino


class _Connection(sqlite3.Connection):
    """A connection that is counted as long as it is open."""

    file: _FileId | None = None

    def close(self) -> None:
        """Close it."""
        super().close()
        if self.file is not None:
            _OPEN_FILES.remove(self.file)
            self.file = None


@immutable
class Database:
    """A database file and how to open it. Any thread may use it; each gets connections of its own."""

    path: Path
    busy_s: float
    """How long to wait for a lock that another process holds."""
    migrations: tuple[str, ...] = MIGRATIONS
    group_access: bool = False
    """Whether a file that is made now is for the group of its folder, too."""
    _ours: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    """Whether the file was found to be ours. From then on only SQLite opens it; see `_OpenFiles`."""

    def writer(self) -> sqlite3.Connection:
        """A connection for writing, for the calling thread only; makes the file if there is none.

        Raises:
            StoreError: it cannot be opened, or it is not ours.
        """
        try:
            if not self.path.parent.is_dir():
                hint = f"Create the folder {self.path.parent}, or name another file with --store."
                raise trouble("store.no-folder", f"the folder of {self.path} does not exist", hint)
            if not self._ours.is_set():
                refuse_networks(self.path)
                self._create()
                self._refuse_foreign()
            db = self._connect("rw")
            try:
                self._migrate(db)
                self._ours.set()
                self._use_wal(db)
                db.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
                # A sync on macOS leaves data in the drive's own cache otherwise; elsewhere this does nothing.
                db.execute("PRAGMA fullfsync = 1")
            except BaseException:
                db.close()
                raise
            return db
        except (*TROUBLES, OSError) as error:
            raise explain(error, self.path) from error

    def reader(self) -> sqlite3.Connection | None:
        """A connection for reading, for any thread; `None` if nothing was ever stored here.

        Raises:
            StoreError: it cannot be opened, or it is not ours.
        """
        try:
            if not self.path.exists() or not (self._ours.is_set() or self._refuse_foreign()):
                return None
            if not self._ours.is_set():
                refuse_networks(self.path)
            # Not `mode=ro`: the last connection to leave tidies up the log, which such a one could not.
            db = self._connect("rw", any_thread=True)
            try:
                if self._ours.is_set() and _number(db, "application_id") != APPLICATION_ID:
                    raise _foreign(self.path)
                if _number(db, "user_version") < len(self.migrations):
                    self.writer().close()
                db.execute("PRAGMA query_only = 1")
            except BaseException:
                db.close()
                raise
            return db
        except (*TROUBLES, OSError) as error:
            raise explain(error, self.path) from error

    def _connect(self, mode: str, *, any_thread: bool = False) -> sqlite3.Connection:
        uri = f"{self.path.as_uri()}?mode={mode}"
        db = sqlite3.connect(
            uri,
            uri=True,
            timeout=self.busy_s,
            isolation_level=None,
            check_same_thread=not any_thread,
            factory=_Connection,
        )
        db.file = _file_id(self.path)
        _OPEN_FILES.add(db.file)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_ROW)
        return db

    def _create(self) -> None:
        """Make an empty file with mode 0600, or 0660 for a group, which SQLite copies to the log files beside it."""
        mode = 0o600
        if self.group_access:
            mode = 0o660
            _require_folder_of_group(self.path.parent)
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            if self.path.stat().st_size:
                return
        self.path.chmod(mode)

    def _refuse_foreign(self) -> bool:
        """Tell whether anything is stored; raises if it is not ours or newer than this code.

        Looks at the file itself first, because SQLite may change a file, or put others beside it, as soon as it
        opens it. The transaction that makes our tables ends before the log is switched on, so an id of 0 in the
        header means that the file is not ours.
        """
        if _OPEN_FILES.has(self.path):
            return self._refuse_foreign_open()
        with self.path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        if not header:
            return False
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            raise trouble("store.not-sqlite", f"{self.path} is not an SQLite database", _ELSEWHERE)
        if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
            raise _foreign(self.path)
        version = int.from_bytes(header[60:64], "big")
        if Path(f"{self.path}-wal").exists():
            with closing(self._connect("ro")) as db:
                version = _number(db, "user_version")
        self._refuse_newer(version)
        return True

    def _refuse_foreign_open(self) -> bool:
        """The same of a file that this process has open already, so that SQLite may open it once more."""
        with closing(self._connect("ro")) as db:
            db.execute("BEGIN")  # one look at all of it, since somebody may be making our tables
            if _number(db, "application_id") != APPLICATION_ID:
                if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                    return False
                raise _foreign(self.path)
            self._refuse_newer(_number(db, "user_version"))
        return True

    def _refuse_newer(self, version: int) -> None:
        if version > len(self.migrations):
            raise trouble(
                "store.newer",
                f"{self.path} has version {version} of our tables; this program knows up to {len(self.migrations)}",
                "Upgrade skillgauge-store-sqlite, or name another file with --store.",
            )

    def _migrate(self, db: sqlite3.Connection) -> None:
        """Apply what is missing, each script in a transaction of its own, while other processes may do the same."""
        while (version := _number(db, "user_version")) < len(self.migrations):
            with transaction(db, durable=True):
                if _number(db, "user_version") != version:
                    continue
                if version == 0 and db.execute("SELECT 1 FROM sqlite_master").fetchone():
                    raise trouble("store.foreign", f"{self.path} belongs to another program", _ELSEWHERE)
                for statement in _statements(self.migrations[version]):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {version + 1}")
        self._refuse_newer(version)

    def _use_wal(self, db: sqlite3.Connection) -> None:
        """Switch the write-ahead log on; a file system that cannot do it leaves the ordinary journal."""
        deadline = time.monotonic() + self.busy_s
        while db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            try:
                db.execute("PRAGMA journal_mode = WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                # SQLite does not wait for this lock itself.
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


@contextmanager
def transaction(db: sqlite3.Connection, *, durable: bool) -> Iterator[None]:
    """One transaction that excludes other writers from its start; `durable`: it survives a loss of power."""
    db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _require_folder_of_group(folder: Path) -> None:
    """Refuse a folder in which the group could not work with each other's files, or others could.

    Raises:
        StoreError: it is not for a group.
    """
    mode = folder.stat().st_mode
    is_shared = mode & stat.S_ISGID and mode & 0o070 == 0o070
    if is_shared and not mode & 0o007:
        return
    message = f"{folder} is no folder of a group: its mode is {stat.S_IMODE(mode):04o}"
    hint = f"Make it one: chgrp GROUP {shlex.quote(str(folder))} && chmod 2770 {shlex.quote(str(folder))}"
    raise trouble("store.no-group-folder", message, hint)


def _number(db: sqlite3.Connection, pragma: str) -> int:
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """The single statements of a script; `executescript` would end the transaction."""
    statement = ""
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            if statement.strip(" \n;"):
                yield statement
            statement = ""


def _foreign(path: Path) -> StoreError:
    """Says whose database it is, found out without locking or changing anything."""
    code = "store.foreign"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    except sqlite3.Error:
        return trouble(code, f"{path} belongs to another program or is damaged", _ELSEWHERE)
    tables: Sequence[str] = [name for (name,) in rows]
    if set(tables) >= _EVAL_SKILLS:
        hint = f"{_ELSEWHERE} Take its evaluations over with: skillgauge history import {shlex.quote(str(path))}"
        return trouble(code, f"{path} belongs to eval-skills and is not changed", hint)
    listed = ", ".join(tables[:5]) + (", ..." if len(tables) > 5 else "")
    contents = f"tables: {listed}" if tables else "it has no tables"
    return trouble(code, f"{path} belongs to another program ({contents})", _ELSEWHERE)
