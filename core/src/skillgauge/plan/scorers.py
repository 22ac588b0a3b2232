"""The scorers of a run: each is made once for all checks that mean the same, before anything runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from typing import Any

from pydantic import BaseModel

from ..contract.scorers import Scorer
from ..errors import PluginError, Problem
from ..log import get_logger
from ..plugins.kinds import SCORERS, Resolved, broken
from ..plugins.registry import Registry
from ..run.grading import BoundScorer
from ..types.suite import Check

log = get_logger(__name__)

KEPT = 10_000
"""Distinct checks of one scorer whose objects are kept: some 20 MB if they are small."""
CLOSE_S = 10.0
"""How long a scorer may take to close its connection."""


class Scorers:
    """The scorers of a run: checks are inspected while it is planned; then scorers are opened, used and closed.

    Checks that differ by id and weight only share one object. Objects are made on a thread of their own, one at a time,
    because a plugin may import and load as long as it likes.

    A suite may give each of a million cases options of its own, so not every object is kept: those of the first `KEPT`
    distinct checks of each scorer are made before the run and stay until its end. One for a later check is made when a
    trial needs it and given up after that trial; if it has `open` and `close`, they enclose that one use.

    Args:
        registry: where plugins are found.
        need_judge: whether the user asks for a judge, whatever the checks say.
    """

    def __init__(self, registry: Registry, *, need_judge: bool) -> None:
        self._registry = registry
        self._need_judge = need_judge
        self._distinct: dict[str, tuple[Resolved, BaseModel]] = {}
        self._counts: Counter[str] = Counter()
        self._kept: dict[str, BoundScorer] = {}
        self._labels: dict[str, str] = {}
        self._connections = AsyncExitStack()
        self._making = asyncio.Lock()
        self.judged: set[str] = set()
        """Names in checks that were inspected of scorers that need a judge."""

    @property
    def need_judge(self) -> bool:
        """Whether the user, or any check that was inspected, needs a judge."""
        return self._need_judge or bool(self.judged)

    def inspect(self, check: Check) -> Sequence[Problem]:
        """What is wrong with a check: its scorer is absent, or refuses the options."""
        if check.scorer_digest in self._distinct:
            return ()
        try:
            resolved = self._registry.resolve(SCORERS, check.scorer)
            self.judged |= {check.scorer} if resolved.provider.traits.asks_judge else set()
            options = self._registry.validated_options(resolved, check.options, check.origin)
        except PluginError as error:
            return error.problems
        if self._counts[check.scorer] < KEPT:
            self._counts[check.scorer] += 1
            self._distinct[check.scorer_digest] = resolved, options
        return ()

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
        """Name and version of a check's scorer, without making it: that of its class, if the object is not kept."""
        kept = self._kept.get(check.scorer_digest)
        return kept.label if kept else self._labels.get(check.scorer, check.scorer)

    def _make_kept(self) -> None:
        problems: dict[Problem, None] = {}
        for key, (resolved, options) in self._distinct.items():
            try:
                bound = self._make(resolved, options)
            except PluginError as error:
                problems |= dict.fromkeys(error.problems)
            else:
                self._kept[key] = bound
                self._labels[resolved.asked] = f"{bound.name} {getattr(type(bound.scorer), 'version', '')}"
        if problems:
            raise PluginError(problems)

    def _make(self, resolved: Resolved, options: BaseModel) -> BoundScorer:
        scorer: Scorer = self._registry.make(SCORERS, resolved, options)
        if not isinstance(getattr(scorer, "version", None), str):
            raise PluginError(broken(resolved, "has a version that is no text"))
        return BoundScorer(resolved.name, scorer)

    @asynccontextmanager
    async def _for_one_use(self, check: Check) -> AsyncIterator[BoundScorer]:
        resolved = self._registry.resolve(SCORERS, check.scorer)
        options = self._registry.validated_options(resolved, check.options, check.origin)
        async with self._making:
            bound = await asyncio.to_thread(self._make, resolved, options)
        async with _connected(bound):
            yield bound


@asynccontextmanager
async def _connected(bound: BoundScorer) -> AsyncIterator[None]:
    """A scorer between `open` and `close`, where it has them; one that fails to close changes nothing any more."""
    scorer: Any = bound.scorer
    if not hasattr(scorer, "open"):
        yield
        return
    try:
        await scorer.open()
    except Exception as error:
        told = f"scorer {bound.name!r} could not be opened: {type(error).__name__}: {error}"
        raise PluginError(Problem("plugin.broken", told)) from error
    try:
        yield
    finally:
        try:
            async with asyncio.timeout(CLOSE_S):
                await scorer.close()
        except Exception:
            log.warning("scorer.unclosed", plugin=bound.name, exc_info=True)
