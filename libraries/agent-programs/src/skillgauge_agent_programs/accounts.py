"""The content of a session's event stream, once it is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from skillgauge.api import EventKind, Failure, JsonValue, Trajectory, TrajectoryEvent, Usage


@dataclass(frozen=True)
class Ending:
    """The end of the program."""

    exit_code: int | None
    """`None` if a signal ended it."""
    stderr: str = ""
    timed_out: bool = False


@dataclass(frozen=True)
class Account:
    """A program's account of its session."""

    trajectory: Trajectory
    """Without `raw`, which is kept elsewhere."""
    text: str | None = None
    """The final answer."""
    usage: Usage | None = None
    is_over: bool = False
    """Whether the stream tells the end of the session. Without that it failed, whatever the exit code."""
    failure: Failure | None = None
    """Why it failed, as far as the program tells."""
    awaits_model: bool = False
    """Whether it was the model's turn when the stream ended, so that nothing of the agent's was under way."""
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if the agent neither said nor did anything."""
        has_text = any(event.text.strip() for event in self.trajectory.events if event.kind is EventKind.MESSAGE)
        called = any(event.kind is EventKind.TOOL_CALL for event in self.trajectory.events)
        return not (has_text or called or (self.text or "").strip())


def is_models_turn(events: Iterable[TrajectoryEvent], asking: Collection[str] = ()) -> bool:
    """Tell whether every call of a tool has its result, so that only the model can go on.

    Args:
        events: of the session so far.
        asking: tools that ask a model themselves, such as those for sub-agents.
    """
    running: set[str | None] = set()
    for event in events:
        if event.kind is EventKind.TOOL_CALL and event.name not in asking:
            running.add(event.call_id)
        elif event.kind is EventKind.TOOL_RESULT:
            running.discard(event.call_id)
    return not running


class Transcript(Protocol):
    """Reads the event stream of one session. It does no I/O, and no line can make it raise."""

    @property
    def hopeless(self) -> Failure | None:
        """The reason why there is no point in waiting any longer, for a program that would wait for ever."""

    def read(self, record: Mapping[str, JsonValue]) -> Iterable[TrajectoryEvent]:
        """Take the object in a line and give the events that it stands for."""

    def account(self, ending: Ending) -> Account:
        """Return the account of the whole stream, now that it is over."""
