"""Opens the database: makes its tables, brings them up to date, and refuses what is not ours without touching it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg

from skillgauge_stored_runs import trouble

from .address import Address
from .link import Link
from .schema import APPLICATION, MIGRATIONS, SCHEMA

Db = psycopg.Connection[tuple[Any, ...]]

_ANOTHER = "Name a database of its own with --store; `createdb NAME` makes one."
_KEPT_READERS = 2
"""Connections that are kept for the next reader."""
_MIGRATING = (int.from_bytes(b"SKGA", "big"), 0)
"""The lock of those who change the tables; numbers of runs begin at 1."""
_SESSION = f"""SELECT set_config('search_path', '{SCHEMA}', false),
    set_config('default_transaction_isolation', 'read committed', false),
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END"""
"""What was acknowledged must survive a crash of the server, whatever is the default there. Tables are looked up in our
schema only."""
_KEEPALIVES = """SELECT set_config('tcp_keepalives_idle', '10', false),
    set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)"""
"""The server notices within half a minute that this machine is gone, and frees what it owned."""
_LOOK = f"""SELECT
    EXISTS (SELECT FROM pg_class WHERE relname = 'meta' AND relnamespace = (
        SELECT oid FROM pg_namespace WHERE nspname = '{SCHEMA}')),
    EXISTS (SELECT FROM pg_namespace WHERE nspname = '{SCHEMA}'), current_setting('server_encoding')"""
"""Not `to_regclass`, which may remember within a transaction that another process had not made it yet."""
_OTHERS = """SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND (n.nspname = %(schema)s OR NOT %(ours)s)
    AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%%'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1 LIMIT 6"""
"""Tables and the like in a database: of our schema if it is there, else of all; extensions bring some by themselves."""


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that ends when it is forgotten: a reader may give up in the middle, and a store be left open."""

    def __del__(self, *_bound: object) -> None:  # psycopg binds what it needs while the interpreter ends
        if hasattr(self, "pgconn"):  # it is not there if connecting failed
            self.close()


@dataclass(frozen=True)
class _Look:
    """The state of a database."""

    version: int
    """Of our tables; 0 if there are none."""
    has_schema: bool
    encoding: str


class Database:
    """A database and how to open it. Any thread may use it.

    Args:
        address: where it is.
        patience_s: how long a connection that was lost is made again.
        migrations: the tables, as scripts; others than the built-in ones are for tests.
    """

    def __init__(self, address: Address, patience_s: float, migrations: tuple[str, ...] = MIGRATIONS) -> None:
        self.address = address
        self.patience_s = patience_s
        self._migrations = migrations
        self._readers: list[Link] = []
        self._closed = False
        self._lock = threading.Lock()

    def __str__(self) -> str:
        return self.address.shown

    def writer(self, prepare: Callable[[Db], None]) -> Link:
        """A connection for writing, made when it is first used; makes the tables if there are none.

        Args:
            prepare: called with each new connection.
        """

        def connect() -> Db:
            db = self._connect()
            try:
                self._migrate(db)
                prepare(db)
            except BaseException:
                db.close()
                raise
            return db

        return Link(connect, str(self), self.patience_s)

    @contextmanager
    def reader(self) -> Iterator[Link | None]:
        """A connection for reading, for one thread at a time; `None` if nothing was ever stored here.

        Raises:
            StoreError: it cannot be opened, or it is not ours.
        """
        with self._lock:
            link = self._readers.pop() if self._readers else Link(self._connect, str(self), self.patience_s)
        try:
            # Asked anew by each reader: it is one short query, and the tables may have changed.
            yield link if link.run(self._is_readable) else None
        except BaseException:
            link.close()
            raise
        with self._lock:
            is_kept = not self._closed and len(self._readers) < _KEPT_READERS
            if is_kept:
                self._readers.append(link)
        if not is_kept:
            link.close()

    def close(self) -> None:
        """Close the connections that wait for readers; those who read go on, and later ones make new ones."""
        with self._lock:
            self._closed = True
            readers, self._readers = self._readers, []
        for link in readers:
            link.close()

    def _connect(self) -> Db:
        parameters = {**self.address.parameters(), "client_encoding": "UTF8"}
        db = _Connection.connect(**parameters, autocommit=True)
        try:
            db.execute(_SESSION)
            if not (db.info.host or "/").startswith(("/", "@")):
                with suppress(psycopg.Error):  # a server behind something that knows no such settings
                    db.execute(_KEEPALIVES)
        except BaseException:
            db.close()
            raise
        return db

    def _is_readable(self, db: Db) -> bool:
        look = self._look(db)
        if 0 < look.version < len(self._migrations):
            self._migrate(db)
        return look.version > 0

    def _look(self, db: Db) -> _Look:
        """Find out what is there.

        Raises:
            StoreError: the schema is another program's, or newer than this program.
        """
        row = db.execute(_LOOK).fetchone()
        assert row is not None
        has_meta, has_schema, encoding = row
        if not has_meta:
            return _Look(0, has_schema, encoding)
        try:
            rows = db.execute(f"SELECT application, version FROM {SCHEMA}.meta").fetchall()
        except psycopg.errors.UndefinedColumn:
            rows = []
        if len(rows) != 1 or rows[0][0] != APPLICATION:
            raise trouble("store.foreign", f"the schema {SCHEMA} of {self} belongs to another program", _ANOTHER)
        version = int(rows[0][1])
        if version > len(self._migrations):
            raise trouble(
                "store.newer",
                f"{self} has version {version} of our tables; this program knows up to {len(self._migrations)}",
                "Upgrade skillgauge-store-postgres, or name another database with --store.",
            )
        return _Look(version, has_schema, encoding)

    def _migrate(self, db: Db) -> None:
        """Apply what is missing, each script in a transaction of its own, while other processes may do the same."""
        while (look := self._look(db)).version < len(self._migrations):
            with db.transaction():
                db.execute("SELECT pg_advisory_xact_lock(%s, %s)", _MIGRATING)
                if self._look(db).version != look.version:
                    continue
                if look.version == 0:
                    self._refuse_foreign(db, look)
                    if not look.has_schema:
                        db.execute(f"CREATE SCHEMA {SCHEMA}")
                db.execute(self._migrations[look.version])
                if look.version == 0:
                    db.execute("INSERT INTO meta VALUES (%s, 0)", (APPLICATION,))
                db.execute("UPDATE meta SET version = %s", (look.version + 1,))

    def _refuse_foreign(self, db: Db, look: _Look) -> None:
        if look.encoding != "UTF8":
            message = f"{self} keeps texts as {look.encoding}, which has not all characters"
            hint = (
                "Name another database with --store; make it with: createdb --encoding UTF8 --template template0 NAME"
            )
            raise trouble("store.encoding", message, hint)
        rows = db.execute(_OTHERS, {"schema": SCHEMA, "ours": look.has_schema}).fetchall()
        if rows:
            names = [name for (name,) in rows]
            listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            hint = _ANOTHER
            if not look.has_schema:
                hint = f"{_ANOTHER} To keep runs beside them: CREATE SCHEMA {SCHEMA}"
            raise trouble("store.foreign", f"{self} belongs to another program (tables: {listed})", hint)
