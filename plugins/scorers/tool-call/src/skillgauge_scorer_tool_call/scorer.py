"""The tool calls of an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import regex

from skillgauge.api import EventKind, JsonValue, Score, ScoreContext, TrajectoryEvent, thaw
from skillgauge_patterns import compiled

from .options import ToolCallOptions

_SHOWN = 200
_PATTERN_S = 1.0
"""Seconds for one pattern."""


class ToolCallScorer:
    """Passes if one call of a tool is as described, or if none is where none may be.

    An agent whose calls are unknown is ungraded.
    """

    version = "1"

    def __init__(self, options: ToolCallOptions) -> None:
        self._options = options
        self._words = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in options.words]
        self._tool = compiled(options.tool_pattern, regex.IGNORECASE) if options.tool_pattern else None
        self._patterns = {name: compiled(pattern) for name, pattern in options.arguments.items()}

    async def score(self, context: ScoreContext) -> Score:
        """Look at each call."""
        trajectory = context.execution.trajectory
        if trajectory is None:
            return Score.ungraded("There is no record of what an agent did, so nobody knows what it called")
        calls = [event for event in trajectory.events if event.kind is EventKind.TOOL_CALL]
        try:
            match = next((call for call in calls if self._matches(call)), None)
        except TimeoutError:
            return Score.ungraded(f"A pattern was given up after {_PATTERN_S:g} s on an argument; make it simpler")
        if (match is not None) is self._options.called:
            return Score.passed(_told(match) if match else "No such call")
        if match is not None:
            return Score.failed(f"There was to be no such call: {_told(match)}")
        names = ", ".join(dict.fromkeys(call.name or "?" for call in calls)) or "none"
        return Score.failed(f"No call {self._described()}; tools that were called: {names}")

    def _matches(self, call: TrajectoryEvent) -> bool:
        if self._options.tool is not None and call.name != self._options.tool:
            return False
        if self._tool and not self._tool.search(call.name or "", timeout=_PATTERN_S):
            return False
        arguments = _arguments(call)
        return all(word.search(arguments) for word in self._words) and all(
            pattern.search(_argument(call.data, name), timeout=_PATTERN_S) for name, pattern in self._patterns.items()
        )

    def _described(self) -> str:
        name = self._options.tool or self._options.tool_pattern
        tool = f"of {name!r}" if name else "of a tool"
        patterns = [f"{key} like {pattern!r}" for key, pattern in self._options.arguments.items()]
        expected = " and ".join([*map(repr, self._options.words), *patterns])
        return f"{tool} with {expected}" if expected else tool


def _argument(data: JsonValue, name: str) -> str:
    """The text of one argument; empty if the call has none of that name."""
    return "\n".join(_texts(thaw(data.get(name)))) if isinstance(data, Mapping) else ""


def _arguments(call: TrajectoryEvent) -> str:
    """Texts as they are, so that a quotation mark in them is one; anything else as JSON."""
    return "\n".join([call.text, *_texts(thaw(call.data))])


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (str(key), *_texts(item))]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [] if value is None else [json.dumps(value)]


def _told(call: TrajectoryEvent) -> str:
    arguments = " ".join(_arguments(call).split())
    shown = arguments if len(arguments) <= _SHOWN else f"{arguments[:_SHOWN]}…"
    return f"{call.name or 'a tool'}: {shown}"
