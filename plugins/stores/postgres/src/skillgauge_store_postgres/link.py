"""A connection that is made again when it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import psycopg

from .trouble import disconnected, explain, is_lost, is_transient, unreachable

T = TypeVar("T")
Db = psycopg.Connection[tuple[Any, ...]]

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.05, 0.5
_AGAIN_S = 1.0
"""How long to try once it was in vain: a run that ends has some steps left, each of which would wait as long again."""
_MOST_CONFLICTS = 20
"""Times that a transaction is tried again because of others."""


class Link:
    """One connection, for one thread at a time.

    Args:
        connect: makes it.
        place: names the database in errors.
        patience_s: how long it is made again after it was lost. The first time is tried once: an address may be wrong.
    """

    def __init__(self, connect: Callable[[], Db], place: str, patience_s: float) -> None:
        self._connect = connect
        self._place = place
        self._patience_s = patience_s
        self._left_s = patience_s
        self._db: Db | None = None
        self._was_open = False

    @property
    def is_open(self) -> bool:
        """True if there is a connection, as far as this side knows."""
        return self._db is not None and not self._db.closed

    def run(self, work: Callable[[Db], T], *, is_patient: bool = True) -> T:
        """Return what `work` makes of the connection. It is called again if the connection is lost meanwhile.

        So what it writes must be the same if it was written before: the answer to a commit may have been lost.

        Args:
            work: called with the connection.
            is_patient: false tries once more and no longer, and leaves the patience of other calls as it is.

        Raises:
            StoreError: the database cannot be opened, read or written.
        """
        began, wait_s, conflicts, tries = time.monotonic(), _FIRST_WAIT_S, 0, 0
        while True:
            tries += 1
            try:
                result = work(self._opened())
            except psycopg.Error as error:
                if is_transient(error) and conflicts < _MOST_CONFLICTS:
                    conflicts += 1
                    continue
                if not is_lost(error, self._db):
                    raise explain(error, self._place) from error
                self.close()
                if not self._was_open:
                    raise unreachable(error, self._place) from error
                patience_s = self._left_s if is_patient else 0.0
                if time.monotonic() - began + wait_s > patience_s and tries > 1:
                    if is_patient:
                        self._left_s = min(self._left_s, _AGAIN_S)
                    raise disconnected(error, self._place, patience_s) from error
                time.sleep(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            else:
                self._left_s = self._patience_s
                return result

    def close(self) -> None:
        """Close the connection, if there is one; the next call makes another."""
        db, self._db = self._db, None
        if db is not None:
            with suppress(psycopg.Error):
                db.close()

    def _opened(self) -> Db:
        if self._db is None or self._db.closed:
            self._db = None
            self._db = self._connect()
            self._was_open = True
        return self._db
