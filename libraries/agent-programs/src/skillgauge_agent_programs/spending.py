"""The usage of a session: while it is under way, and beyond the program's own report.

A sandbox with a relay has two attributes for this: `relayed`, the `Usage` of all answers so far, and `broken_off`, the
number of answers that did not come to their end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from skillgauge.api import Emit, Execution, TrajectoryEvent, Usage, Workspace

INTERVAL_S = 0.1
"""How often a session's usage is looked for."""
_SHARE = 10
"""Reading what a program has left in its home takes at most one part in so many of the time."""
_SETTLED_S = 2.0
"""How long after its last event a program may still write down what that event used."""


def relayed(workspace: Workspace, before: Usage | None = None) -> Usage | None:
    """The usage that the relay of a workspace has seen so far, or since it had seen `before`; `None` without a relay.

    It is that of all turns of a conversation, which share their workspace.
    """
    seen = getattr(workspace, "relayed", None)
    return seen.without(before) if isinstance(seen, Usage) else None


class SpendingWatch:
    """Emits the usage of a session while it is under way, so that it counts if the session is cut off.

    Without a relay it reads what the program has reported or written down. A session that is cancelled is looked at
    once more.

    Args:
        workspace: where the session runs.
        emit: takes events, and usage.
        read: the usage that the program itself has reported so far; called in a thread.
    """

    def __init__(self, workspace: Workspace, emit: Emit, read: Callable[[], Usage | None]) -> None:
        self._workspace = workspace
        self._emit = emit
        self._read = read
        self.before = relayed(workspace)
        """What the relay had seen when the session, or its turn, began."""
        self._heard = time.monotonic()
        self._next_read = 0.0
        self._emitted: Usage | None = None
        self._watching: asyncio.Task[None] | None = None

    def emit(self, event: TrajectoryEvent | Usage) -> None:
        """Pass an event on."""
        self._heard = time.monotonic()
        self._emit(event)

    async def __aenter__(self) -> Self:
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, type_: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        if type_ is not None and issubclass(type_, asyncio.CancelledError):
            self._tell(relayed(self._workspace, self.before))
            self._tell(await asyncio.to_thread(self._read))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_S)
            usage = relayed(self._workspace, self.before)
            began = time.monotonic()
            if usage is None and began >= self._next_read and began - self._heard <= _SETTLED_S:
                usage = await asyncio.to_thread(self._read)
                self._next_read = time.monotonic() + _SHARE * (time.monotonic() - began)
            self._tell(usage)

    def _tell(self, usage: Usage | None) -> None:
        if usage is not None and (self._emitted is None or usage.all_tokens > self._emitted.all_tokens):
            self._emitted = usage
            self._emit(usage)


def with_relayed(execution: Execution, workspace: Workspace, before: Usage | None = None) -> Execution:
    """The execution with all tokens that went through the workspace's relay since it had seen `before`.

    The relay may have seen more than the program reports: requests of the agent's shell with the same key, and answers
    that broke off and were asked for again. Their price is unknown, so the cost grows in proportion: a budget must not
    be passed by because nothing names the dollars. Where both count the same, thinking that the program does not tell
    apart is what the relay saw of it.
    """
    measured, reported = relayed(workspace, before), execution.usage
    if measured is None:
        return execution
    if reported is None:
        return execution.model_copy(update={"usage": measured})
    if measured.all_tokens <= reported.all_tokens:
        if reported.reasoning_tokens is None and measured.all_tokens == reported.all_tokens:
            reported = reported.model_copy(update={"reasoning_tokens": measured.reasoning_tokens})
        return execution.model_copy(update={"usage": reported})
    changes: dict[str, object] = {"total_tokens": measured.all_tokens}
    if reported.cost_usd is not None and reported.all_tokens:
        changes["cost_usd"] = reported.cost_usd * measured.all_tokens / reported.all_tokens
        changes["cost_basis"] = f"{reported.cost_basis or 'reported'}, in proportion to all tokens"
    note = _note(measured.all_tokens - reported.all_tokens, getattr(workspace, "broken_off", 0))
    return execution.model_copy(
        update={"usage": reported.model_copy(update=changes), "notes": (*execution.notes, note)}
    )


def _note(tokens: int, broken_off: int) -> str:
    beside = f"{tokens} tokens beside those that the program tells went through the relay"
    if not broken_off:
        return f"{beside}: somebody else inside asked"
    answers = "an answer" if broken_off == 1 else f"{broken_off} answers"
    return f"{beside}: {answers} of the model broke off, and more may have been used than was counted"
