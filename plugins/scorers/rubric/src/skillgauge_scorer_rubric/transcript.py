"""The actions of an agent, as passages with headlines that nothing in them can forge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from skillgauge.api import EventKind, Trajectory, TrajectoryEvent, text_of

_NAME = 200


@dataclass(frozen=True)
class Passage:
    """Something that was said or written, under a headline of the recorder."""

    headline: str
    """One line."""
    body: str = ""
    """Of any length, by anybody."""


def passages_of(trajectory: Trajectory) -> Iterator[Passage]:
    """Skills, blocked calls and every event in order; what the engine cannot tell is said to be unknown."""
    if trajectory.skills_fired is None:
        yield Passage("skills that the agent loaded: unknown")
    else:
        fired = (f"{one_line(skill.name)} ({one_line(skill.how)})" for skill in trajectory.skills_fired)
        yield Passage(f"skills that the agent loaded: {', '.join(fired) or 'none'}")
    if trajectory.blocked is None:
        yield Passage("calls that were stopped: unknown")
    for block in trajectory.blocked or ():
        hook = f", {one_line(block.event)}" if block.event else ""
        yield Passage(f"a call of {one_line(block.tool)} was stopped by {one_line(block.by)}{hook}")
    called: dict[str, int] = {}
    for number, event in enumerate(trajectory.events, 1):
        if event.kind is EventKind.TOOL_CALL and event.call_id:
            called[event.call_id] = number
        yield Passage(f"[{number}] {_headline(event, called.get(event.call_id or ''))}", _body(event))


def _headline(event: TrajectoryEvent, call: int | None) -> str:
    name = one_line(event.name or "a tool")
    match event.kind:
        case EventKind.MESSAGE:
            return "the agent says:"
        case EventKind.REASONING:
            return "the agent thinks:"
        case EventKind.TOOL_CALL:
            return f"the agent calls {name}:"
        case EventKind.TOOL_RESULT:
            source = f"[{call}]" if call else name
            return f"result of {source}{', an error' if event.is_error else ''}:"
        case EventKind.NOTICE:
            return "notice:"
        case EventKind.USER:
            return "the user says:"
        case _:
            assert_never(event.kind)


def _body(event: TrajectoryEvent) -> str:
    """The arguments of a call; else the text, which a result gives beside its data."""
    prefers_data = event.kind is EventKind.TOOL_CALL or not event.text
    return text_of(event.data) if prefers_data and event.data is not None else event.text


def one_line(text: str) -> str:
    """A name that cannot end its line."""
    text = " ".join(text.split())
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
