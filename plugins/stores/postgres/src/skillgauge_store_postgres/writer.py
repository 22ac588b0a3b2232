"""The one thread that writes.

A transaction on a thread of its own never keeps the event loop waiting for a server. Callers hand it jobs and await
their results; jobs run in the order in which they were given, by one connection, which owns the runs of the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import psycopg

from skillgauge.api import StoreError
from skillgauge_stored_runs import trouble

from .link import Link

T = TypeVar("T")
_LOOK_S = 5.0
"""How often to look whether the connection is still there, and to make it again, while a run is owned by it: a session
may take many minutes, and its run is free for others while nobody notices."""
Db = psycopg.Connection[tuple[Any, ...]]


class Writer:
    """Runs jobs with the write connection.

    Args:
        link: opened by the first job; if that fails, the next job tries again.
        place: names the database in errors.
        is_needed: tells whether the connection is to be kept up between jobs.
    """

    def __init__(self, link: Link, place: str, is_needed: Callable[[], bool]) -> None:
        self._link = link
        self._is_needed = is_needed
        self._place = place
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, work: Callable[[Db], T]) -> T:
        """Do `work` in the thread; it may be done again if the connection is lost, and is not stopped with the caller.

        Raises:
            StoreError: the database cannot be opened, read or written.
        """
        if self._closed:
            raise trouble("store.closed", f"the store in {self._place} is closed")
        if self._thread is None:
            # A daemon: a store that is never closed must not keep the program from ending.
            self._thread = threading.Thread(target=self._loop, name="skillgauge-postgres", daemon=True)
            self._thread.start()
        future: Future[T] = Future()

        def job() -> None:
            try:
                future.set_result(self._link.run(work))
            except Exception as error:  # noqa: BLE001 - it is raised where the result is awaited
                future.set_exception(error)

        self._jobs.put(job)
        return await asyncio.shield(asyncio.wrap_future(future))

    async def close(self, last: Callable[[Db], object]) -> None:
        """Do what was submitted, then `last` if there is a connection, and close it. Again: does nothing."""
        if self._closed or self._thread is None:
            self._closed = True
            return
        self._closed = True

        def end() -> None:
            # What cannot be done any more, the end of the connection does.
            with contextlib.suppress(StoreError):
                if self._link.is_open:
                    self._link.run(last)
            self._link.close()

        self._jobs.put(end)
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _loop(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=_LOOK_S)
            except queue.Empty:
                # What the next job cannot mend either, it has a caller to tell.
                with contextlib.suppress(StoreError):
                    if self._is_needed():
                        self._link.run(lambda db: db.execute("SELECT"), is_patient=False)
                continue
            if job is None:
                return
            job()
