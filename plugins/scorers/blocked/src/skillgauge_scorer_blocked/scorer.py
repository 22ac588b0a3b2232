"""Tool calls that were stopped."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from skillgauge.api import Block, Score, ScoreContext

from .options import BlockedOptions

_SHOWN = 20


class BlockedScorer:
    """Passes if the blocks that the engine tells of are as expected.

    An engine that cannot tell whether a call was stopped leaves the check ungraded: that it reports no block proves
    nothing then.
    """

    version = "1"

    def __init__(self, options: BlockedOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Look for a block that fits."""
        trajectory = context.execution.trajectory
        if trajectory is None:
            return Score.ungraded("There is no record of what an agent did, so nobody knows what was stopped")
        if trajectory.blocked is None:
            return Score.ungraded("The engine does not tell whether a tool call was stopped")
        fitting = [block for block in trajectory.blocked if self._fits(block)]
        evidence = {"blocked": tuple(block.model_dump(mode="json") for block in trajectory.blocked[:_SHOWN])}
        if bool(fitting) is self._options.expect:
            return Score.passed(_told(fitting), evidence=evidence)
        if fitting:
            return Score.failed(f"{_told(fitting)}, and no call was to be stopped", evidence=evidence)
        stopped = _told(trajectory.blocked, with_events=self._options.event is not None)
        others = f"; stopped were {stopped}" if trajectory.blocked else ""
        return Score.failed(f"No call of a tool {self._wanted()} was stopped{others}", evidence=evidence)

    def _fits(self, block: Block) -> bool:
        options = self._options
        return (
            fnmatchcase(block.tool, options.tool)
            and options.by in (None, block.by)
            and options.event in (None, block.event)
        )

    def _wanted(self) -> str:
        options = self._options
        by = f" by a {options.by}" if options.by else ""
        event = f" at {options.event}" if options.event else ""
        return f"{options.tool!r}{by}{event}"


def _told(blocks: Sequence[Block], *, with_events: bool = False) -> str:
    names = dict.fromkeys(f"{block.tool} (by {block.by}{_event(block) if with_events else ''})" for block in blocks)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(list(names)[:_SHOWN]) + more


def _event(block: Block) -> str:
    return f" at {block.event}" if block.event else " at an event that the engine does not name"
