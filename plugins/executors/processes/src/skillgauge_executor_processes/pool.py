"""The worker processes of a run, as seen from the process that runs it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable
from functools import partial
from itertools import count

from skillgauge.api import (
    Blame,
    Failure,
    FailureClass,
    GivenUp,
    Keeper,
    KeptExecution,
    PluginError,
    Problem,
    Trial,
    TrialResult,
    get_logger,
)

from .wire import Frame, Kind, receive, send

log = get_logger(__name__)

CANCEL_S = 5.0
"""How long a worker may take to stop an attempt. One that takes longer is blocked by a plugin, and killed."""
CLOSE_S = 10.0
"""How long a worker may take to end once its connection is closed."""
_STDERR = 2

OnSpent = Callable[[str, GivenUp], None]
"""Takes the id of a trial and what its attempt has used so far."""


class Pool:
    """Hands attempts to worker processes, each to the one that has least to do.

    One that died is replaced when an attempt is meant for it.

    Args:
        recipe: of the run.
        workers: how many there may be.
        concurrency: attempts under way at once, divided among them.
        on_spent: called whenever a worker reports that an attempt has used more.
        keeper: keeps what workers have executed until it is graded.
    """

    def __init__(self, recipe: bytes, workers: int, concurrency: int, on_spent: OnSpent, keeper: Keeper) -> None:
        self._on_spent = on_spent
        self._keeper = keeper
        shares = [(concurrency + workers - 1 - at) // workers for at in range(workers)]
        self._places = [_Place(recipe, share) for share in shares]

    async def open(self) -> None:
        """Start every worker and wait for the first that is ready; one that cannot prepare the run is left out.

        Raises:
            PluginError: none can prepare the run.
        """
        opening = [place.start() for place in self._places]
        pending = set(opening)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if not all(one.cancelled() or one.exception() for one in done):
                return
        opening[0].result()

    async def attempt(self, trial: Trial) -> TrialResult | Failure:
        """Have one attempt made; a worker that dies over it is a failure that another attempt may help."""
        places = list(self._places)
        while True:
            place = min(places, key=lambda one: (one.is_bad, one.under_way))
            place.under_way += 1
            try:
                connection = await place.connection()
                return await connection.attempt(trial, self._on_spent, self._keeper)
            except PluginError as error:
                places.remove(place)
                if not places:
                    return _failure(FailureClass.LAUNCH, str(error), retryable=True)
            finally:
                place.under_way -= 1
