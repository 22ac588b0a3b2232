"""What the event stream of a session says, once it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from skillgauge.api import Failure, JsonValue, Trajectory, TrajectoryEvent, Usage


@dataclass(frozen=True)
class Ending:
    """How the program ended."""

    exit_code: int | None
    """`None` if a signal ended it."""
    stderr: str = ""
    timed_out: bool = False


@dataclass(frozen=True)
class Account:
    """What a program tells of its session."""

    trajectory: Trajectory
    """Without `raw`, which is kept elsewhere."""
    text: str | None = None
    """The final answer."""
    usage: Usage | None = None
    is_over: bool = False
    """Whether the stream tells the end of the session. Without that it failed, whatever the exit code."""
    failure: Failure | None = None
    """Why it failed, as far as the program tells."""
    notes: tuple[str, ...] = ()


class Transcript(Protocol):
    """Reads the event stream of one session. It does no I/O, and no line can make it raise."""

    @property
    def hopeless(self) -> Failure | None:
        """Why there is no point in waiting any longer, for a program that would wait for ever."""

    def read(self, record: Mapping[str, JsonValue]) -> Iterable[TrajectoryEvent]:
        """Take the object in a line and give the events that it stands for."""

    def account(self, ending: Ending) -> Account:
        """What the stream told, now that it is over."""
