"""The scorers of a run: each is made once for all checks that mean the same, before anything runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from pydantic import BaseModel

from ..contract.scorers import Scorer
from ..errors import PluginError, Problem
from ..plugins.calls import Connection
from ..plugins.collecting import collected
from ..plugins.kinds import SCORERS, Resolved
from ..plugins.registry import Registry
from ..types.suite import Check

KEPT = 10_000
"""Distinct checks of one scorer whose objects are kept during the run: some 20 MB if they are small."""

_connects = cache(lambda kind: issubclass(kind, Connection))
"""Whether scorers of a class have `open` and `close`; asked of each scorer anew it takes as long as some checks."""


@dataclass(frozen=True)
class BoundScorer:
    """A scorer, made for checks with the same options."""

    name: str
    """The scorer's own name, aliases resolved."""
    scorer: Scorer


class Scorers:
    """The scorers of a run: their checks inspected when it is planned; opened, used and closed when it runs.

    Checks that differ by id and weight only share one object. Objects are made on a thread of their own, one at a time,
    because a plugin may import and load as long as it likes.

    A suite may give each of a million cases options of its own, so not every object is kept: the first `KEPT` of each
    scorer are made before the run and stay until its end. One for another check is made when a trial needs it and given
    up after that trial; if it has `open` and `close`, they enclose that one use.

    Args:
        registry: the run's plugins.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.resolve = cache(partial(registry.resolve, SCORERS))
        """The plugin of a name in checks."""
        self._wanted: dict[str, tuple[Check, Resolved, BaseModel]] = {}
        """Checks whose scorers are kept, by their `scorer_digest`, until these are made."""
        self._kept: dict[str, BoundScorer] = {}
        self._labels: dict[str, str] = {}
        self._connections = AsyncExitStack()
        self._making = asyncio.Lock()
        self.judged: set[str] = set()
        """Names in checks that were inspected of scorers that need a judge."""

    def inspect(self, checks: Iterable[Check]) -> list[Problem]:
        """Return the faults of checks: scorers absent, options refused."""
        problems: list[Problem] = []
        counts: Counter[str] = Counter()
        for check in checks:
            with collected(problems, check.origin):
                resolved, options = self._validated(check)
                if resolved.provider.traits.asks_judge:
                    self.judged.add(check.scorer)
                counts[check.scorer] += 1
                if counts[check.scorer] <= KEPT:
                    self._wanted[check.scorer_digest] = check, resolved, options
        return problems

    async def open(self) -> None:
        """Make the scorers that are kept, and let each open what it needs for the run.

        Raises:
            PluginError: with all that cannot be made, or with the first that cannot be opened.
        """
        await asyncio.to_thread(self._make_kept)
        for bound in self._kept.values():
            if _connects(bound.scorer.__class__):
                await self._connections.enter_async_context(_connected(bound.scorer))

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

    def _validated(self, check: Check) -> tuple[Resolved, BaseModel]:
        resolved = self.resolve(check.scorer)
        return resolved, self._registry.validated_options(resolved, check.options, check.origin)

    def _make(self, resolved: Resolved, options: BaseModel) -> BoundScorer:
        return BoundScorer(resolved.name, self._registry.make(SCORERS, resolved, options))

    def _make_kept(self) -> None:
        problems: list[Problem] = []
        for key, (check, resolved, options) in self._wanted.items():
            with collected(problems):
                self._kept[key] = bound = self._make(resolved, options)
                self._labels[check.scorer] = f"{bound.name} {getattr(bound.scorer.__class__, 'version', '')}"
        self._wanted.clear()
        PluginError.raise_for(dict.fromkeys(problems))

    @asynccontextmanager
    async def _for_one_use(self, check: Check) -> AsyncIterator[BoundScorer]:
        async with self._making:
            bound = await asyncio.to_thread(lambda: self._make(*self._validated(check)))
        async with _connected(bound.scorer) if _connects(bound.scorer.__class__) else nullcontext():
            yield bound


@asynccontextmanager
async def _connected(scorer: Any) -> AsyncIterator[None]:
    """A scorer between `open` and `close`; the guard sees to it that closing changes nothing."""
    await scorer.open()
    try:
        yield
    finally:
        await scorer.close()
