"""The scorers of a run: each is made once for all checks that mean the same, before anything runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass

from ..contract.scorers import Scorer
from ..errors import PluginError, Problem
from ..plugins.calls import Connection
from ..types.suite import Check


@dataclass(frozen=True)
class BoundScorer:
    """A scorer, made for checks with the same options."""

    name: str
    """The scorer's own name, aliases resolved."""
    scorer: Scorer


class RunScorers:
    """Scorers between the first trial and the last: opened, used and closed.

    Checks that differ by id and weight only share one object. Objects are made on a thread of their own, one at a time,
    because a plugin may import and load as long as it likes.

    A suite may give each of a million cases options of its own, so not every object is kept: those of `kept` are made
    before the run and stay until its end. One for another check is made when a trial needs it and given up after that
    trial; if it has `open` and `close`, they enclose that one use.

    Args:
        kept: checks whose scorers are kept, by their `scorer_digest`; the first of each scorer is among them.
        make: makes the scorer of a check. Raises `PluginError` if it cannot.
    """

    def __init__(self, kept: Mapping[str, Check], make: Callable[[Check], BoundScorer]) -> None:
        self._checks = kept
        self._make = make
        self._kept: dict[str, BoundScorer] = {}
        self._labels: dict[str, str] = {}
        self._connections = AsyncExitStack()
        self._making = asyncio.Lock()

    async def open(self) -> None:
        """Make the scorers that are kept, and let each open what it needs for the run.

        Raises:
            PluginError: with all that cannot be made, or with the first that cannot be opened.
        """
        await asyncio.to_thread(self._make_kept)
        for bound in self._kept.values():
            await self._connections.enter_async_context(_connected(bound))

    async def close(self) -> None:
        """Close whatever is open, each once, the last one first."""
        await self._connections.aclose()

    def of(self, check: Check) -> AbstractAsyncContextManager[BoundScorer]:
        """The scorer of a check for one use. Entering raises `PluginError` if it has to be made and cannot be."""
        kept = self._kept.get(check.scorer_digest)
        return nullcontext(kept) if kept else self._for_one_use(check)

    def label_of(self, check: Check) -> str:
        """Name and version of a check's scorer as its class has them, for what is not graded: no object is made."""
        return self._labels.get(check.scorer, check.scorer)

    def _make_kept(self) -> None:
        problems: dict[Problem, None] = {}
        for key, check in self._checks.items():
            try:
                self._kept[key] = bound = self._make(check)
                self._labels[check.scorer] = f"{bound.name} {getattr(bound.scorer.__class__, 'version', '')}"
            except PluginError as error:
                problems |= dict.fromkeys(error.problems)
        if problems:
            raise PluginError(problems)

    @asynccontextmanager
    async def _for_one_use(self, check: Check) -> AsyncIterator[BoundScorer]:
        async with self._making:
            bound = await asyncio.to_thread(self._make, check)
        async with _connected(bound):
            yield bound


@asynccontextmanager
async def _connected(bound: BoundScorer) -> AsyncIterator[None]:
    """A scorer between `open` and `close`, where it has them; the guard sees to it that closing changes nothing."""
    scorer: object = bound.scorer
    if not isinstance(scorer, Connection):
        yield
        return
    await scorer.open()
    try:
        yield
    finally:
        await scorer.close()
