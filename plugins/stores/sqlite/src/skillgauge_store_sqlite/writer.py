"""The one thread that writes.

SQLite allows one writer at a time, and a transaction on a thread of its own never keeps the event loop waiting for
a disk. Callers hand it jobs and await their results; jobs run in the order in which they were given.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from skillgauge_stored_runs import trouble

from .database import Database
from .trouble import TROUBLES, explain, is_busy

T = TypeVar("T")
_Job = Callable[[], None]
_AGAIN_S = 1.0
"""How long to wait for a lock once somebody has held it for too long: a run that ends has some steps left, and each of
them would wait as long again."""


class Writer:
    """Runs jobs with the write connection.

    Args:
        database: opened by the first job; if that fails, the next job tries again.
        renew: called with the connection about every `renew_s` seconds between jobs.
        renew_s: see `renew`.
    """

    def __init__(self, database: Database, *, renew: Callable[[sqlite3.Connection], None], renew_s: float) -> None:
        self._database = database
        self._renew = renew
        self._renew_s = renew_s
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._db: sqlite3.Connection | None = None
        self._is_locked = False
        """Whether the last job gave up waiting for a lock."""
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in the thread. It is done even if the caller is cancelled, because what it keeps has happened.

        Raises:
            StoreError: the database cannot be opened, read or written.
        """
        if self._closed:
            raise trouble("store.closed", f"the store {self._database.path} is closed")
        if self._thread is None:
            # A daemon: a store that nobody closes must not keep the program from ending.
            self._thread = threading.Thread(target=self._loop, name="skillgauge-sqlite", daemon=True)
            self._thread.start()
        return await self._submit(lambda: work(self._connection()))

    async def close(self, last: Callable[[sqlite3.Connection], None]) -> None:
        """Do what was submitted, then `last`, and close the connection. Again: does nothing."""
        if self._closed or self._thread is None:
            self._closed = True
            return
        self._closed = True

        def end() -> None:
            if self._db is not None:
                with contextlib.closing(self._db):
                    last(self._db)
                self._db = None

        try:
            await self._submit(end)
        finally:
            self._jobs.put(None)
            self._thread.join()

    async def _submit(self, work: Callable[[], T]) -> T:
        future: Future[T] = Future()

        def job() -> None:
            try:
                done = work()
                self._wait_for_locks(is_locked=False)
                future.set_result(done)
            except TROUBLES as error:
                self._wait_for_locks(is_locked=is_busy(error))
                future.set_exception(explain(error, self._database.path))
            except Exception as error:  # noqa: BLE001 - it is raised where the result is awaited
                future.set_exception(error)

        self._jobs.put(job)
        return await asyncio.shield(asyncio.wrap_future(future))

    def _wait_for_locks(self, *, is_locked: bool) -> None:
        if self._db is not None and is_locked != self._is_locked:
            self._is_locked = is_locked
            wait_s = _AGAIN_S if is_locked else self._database.busy_s
            self._db.execute(f"PRAGMA busy_timeout = {round(wait_s * 1000)}")

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = self._database.writer()
        return self._db

    def _loop(self) -> None:
        due = time.monotonic() + self._renew_s
        while True:
            try:
                job = self._jobs.get(timeout=max(0.0, due - time.monotonic()))
                if job is None:
                    return
                job()
            except queue.Empty:
                pass
            if time.monotonic() >= due:
                due = time.monotonic() + self._renew_s
                if self._db is not None:
                    # The next job meets the same trouble, and has somebody to tell.
                    with contextlib.suppress(sqlite3.Error):
                        self._renew(self._db)
