"""The owner of a run, so that two processes never work on the same one and a dead one never blocks it.

A run is owned by the connection that holds an advisory lock of the server, which is free the moment the connection
ends, however that happens. Each time a run is taken, its token in the table `owners` grows by one, and every
transaction that writes into the run looks whether the token is still its own. So a process whose connection was lost,
and whose run another took meanwhile, cannot write into it any more, whatever it believes.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any

import psycopg

Db = psycopg.Connection[tuple[Any, ...]]

LOCKS = int.from_bytes(b"SKGA", "big")
"""First number of our advisory locks; the second is that of the run."""
OWNED = f"""EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid = {LOCKS} AND l.objid::bigint = runs.run)"""
"""Tells in a query whether a row of `runs` is being worked on."""
_TAKE = """INSERT INTO owners VALUES (%s, 1, session_user, %s, now())
ON CONFLICT (run) DO UPDATE SET token = owners.token + 1, role = excluded.role, host = excluded.host,
since = excluded.since RETURNING token"""
JUST_RESTARTED = "now() < pg_postmaster_start_time() + interval '15 seconds'"
"""Tells in a query whether owners may still be on their way back to a server that has restarted."""
_RESERVED = f"SELECT FROM owners WHERE run = %s AND since < pg_postmaster_start_time() AND {JUST_RESTARTED}"
"""A server that restarts ends all connections, so for a while a run is left to the process that had it before."""
_FENCE = "SELECT FROM owners WHERE run = %s AND token = %s FOR SHARE"
_END_OLD = f"""SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2
AND l.classid = {LOCKS} AND l.objid = %(run)s AND l.pid = %(pid)s
AND EXISTS (SELECT FROM owners WHERE run = %(run)s AND token = %(token)s)"""
_RETAKE_S = 5.0
"""How long to wait until the server has noticed that an earlier connection of ours is gone."""


class Ownership:
    """The runs that one store owns, by its one connection for writing."""

    def __init__(self) -> None:
        self._tokens: dict[int, int] = {}
        self._pid = 0
        """The server's process that holds the locks."""

    def take(self, db: Db, run: int) -> bool:
        """Own a run that no connection owns, inside a transaction of the caller's; false if one does.

        If the transaction does not succeed, the caller gives the run back by `release`.
        """
        if run in self._tokens or not _lock(db, run):
            return False
        if db.execute(_RESERVED, (run,)).rowcount:
            db.execute("SELECT pg_advisory_unlock(%s, %s)", (LOCKS, run))
            return False
        row = db.execute(_TAKE, (run, socket.gethostname())).fetchone()
        assert row is not None
        self._tokens[run], self._pid = int(row[0]), db.info.backend_pid
        return True

    def has(self, run: int) -> bool:
        """Tell whether this store owns a run already."""
        return run in self._tokens

    def has_any(self) -> bool:
        """Tell whether this store owns any run."""
        return bool(self._tokens)

    def has_just_restarted(self, db: Db) -> bool:
        """Tell whether owners may still be on their way back to a server that has restarted."""
        return db.execute(f"SELECT WHERE {JUST_RESTARTED}").rowcount == 1

    def is_free(self, db: Db, run: int) -> bool:
        """Tell whether no connection owns a run, and keep it so until the caller's transaction ends."""
        if run in self._tokens:
            return False
        row = db.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", (LOCKS, run)).fetchone()
        return row is not None and bool(row[0]) and not db.execute(_RESERVED, (run,)).rowcount

    def check(self, db: Db, run: int) -> bool:
        """Tell whether a run is still ours, and keep others from taking it until the caller's transaction ends."""
        token = self._tokens.get(run)
        return token is not None and db.execute(_FENCE, (run, token)).rowcount == 1

    def release(self, db: Db, run: int) -> None:
        """Own a run no longer."""
        if self._tokens.pop(run, None) is not None:
            with suppress(psycopg.Error):  # a connection that is gone holds no lock
                db.execute("SELECT pg_advisory_unlock(%s, %s)", (LOCKS, run))

    def release_all(self, db: Db) -> None:
        """Own nothing any longer."""
        self._tokens.clear()
        db.execute("SELECT pg_advisory_unlock_all()")

    def retake(self, db: Db) -> None:
        """Own the same runs by a new connection; one that another process took meanwhile is ours no longer."""
        until = time.monotonic() + _RETAKE_S
        for run, token in tuple(self._tokens.items()):
            while not (locked := _lock(db, run)) and time.monotonic() < until:
                with suppress(psycopg.errors.InsufficientPrivilege):
                    db.execute(_END_OLD, {"run": run, "pid": self._pid, "token": token})
                time.sleep(0.05)
            if not locked:
                del self._tokens[run]
            elif db.execute("SELECT FROM owners WHERE run = %s AND token = %s", (run, token)).rowcount != 1:
                self.release(db, run)
        self._pid = db.info.backend_pid


def _lock(db: Db, run: int) -> bool:
    row = db.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCKS, run)).fetchone()
    return row is not None and bool(row[0])
