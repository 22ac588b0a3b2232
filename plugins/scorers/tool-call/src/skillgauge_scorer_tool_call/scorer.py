"""The tool calls of an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import regex

from skillgauge.api import EventKind, JsonValue, Score, ScoreContext, TrajectoryEvent, thaw
from skillgauge_patterns import compiled, from_javascript

from .options import CallOptions, Syntax, ToolCallOptions

_SHOWN = 200
_PATTERN_S = 1.0
"""Seconds for one pattern."""


class ToolCallScorer:
    """Passes if as many calls of a tool as wanted are as described; by default one, or none where none may be.

    An agent whose calls are unknown is ungraded.
    """

    version = "1"

    def __init__(self, options: ToolCallOptions) -> None:
        self._options = options
        self._calls = _Calls(options)
        self._later = _Calls(options.before) if options.before is not None else None

    async def score(self, context: ScoreContext) -> Score:
        """Look at each call."""
        trajectory = context.execution.trajectory
        if trajectory is None:
            return Score.ungraded("There is no record of what an agent did, so nobody knows what it called")
        calls = [event for event in trajectory.events if event.kind is EventKind.TOOL_CALL]
        try:
            matches = self._calls.among(calls)
            later = self._later.among(calls) if self._later is not None else []
        except TimeoutError:
            return Score.ungraded(f"A pattern was given up after {_PATTERN_S:g} s on an argument; make it simpler")
        low, high = self._options.bounds
        if len(matches) < low or (high is not None and len(matches) > high):
            return self._miscounted(matches, calls)
        if self._later is not None and not _comes_before(matches[0], later, calls):
            return Score.failed(f"No call {self._later.described} comes after the first {self._calls.described}")
        return Score.passed(_told(matches[0]) if matches else "No such call")

    def _miscounted(self, matches: Sequence[TrajectoryEvent], calls: Sequence[TrajectoryEvent]) -> Score:
        low, high = self._options.bounds
        if not matches:
            names = ", ".join(dict.fromkeys(call.name or "?" for call in calls)) or "none"
            return Score.failed(f"No call {self._calls.described}; tools that were called: {names}")
        if high == 0:
            return Score.failed(f"There was to be no such call: {_told(matches[0])}")
        bounds = f"at least {low}" if len(matches) < low else f"at most {high}"
        return Score.failed(f"{len(matches)} calls {self._calls.described}, where {bounds} were expected")


def _comes_before(call: TrajectoryEvent, later: Sequence[TrajectoryEvent], calls: Sequence[TrajectoryEvent]) -> bool:
    """Tell whether the first of some later calls comes after a call; none does not."""
    return bool(later) and calls.index(later[0]) > calls.index(call)


class _Calls:
    """The calls that are as options describe them."""

    def __init__(self, options: CallOptions) -> None:
        self._options = options
        self._words = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in options.words]
        rewritten = from_javascript if options.syntax is Syntax.JAVASCRIPT else str
        self._tool = compiled(rewritten(options.tool_pattern), regex.IGNORECASE) if options.tool_pattern else None
        self._input = compiled(rewritten(options.input_pattern)) if options.input_pattern else None
        self._patterns = {name: compiled(rewritten(pattern)) for name, pattern in options.arguments.items()}

    def among(self, calls: Sequence[TrajectoryEvent]) -> list[TrajectoryEvent]:
        """Return those of some calls.

        Raises:
            TimeoutError: a pattern takes too long.
        """
        return [call for call in calls if self._matches(call)]

    def _matches(self, call: TrajectoryEvent) -> bool:
        if self._options.tool is not None and call.name != self._options.tool:
            return False
        if self._tool and not self._tool.search(call.name or "", timeout=_PATTERN_S):
            return False
        if self._input and not self._input.search(_input(call), timeout=_PATTERN_S):
            return False
        arguments = _arguments(call)
        return all(word.search(arguments) for word in self._words) and all(
            pattern.search(_argument(call.data, name), timeout=_PATTERN_S) for name, pattern in self._patterns.items()
        )

    @property
    def described(self) -> str:
        """The calls in words."""
        name = self._options.tool or self._options.tool_pattern
        tool = f"of {name!r}" if name else "of a tool"
        patterns = [f"{key} like {pattern!r}" for key, pattern in self._options.arguments.items()]
        patterns += [f"arguments like {self._options.input_pattern!r}"] if self._options.input_pattern else []
        expected = " and ".join([*map(repr, self._options.words), *patterns])
        return f"{tool} with {expected}" if expected else tool


def _input(call: TrajectoryEvent) -> str:
    """Return all arguments of a call as compact JSON, in the order in which they were told."""
    return json.dumps(thaw(call.data), ensure_ascii=False, separators=(",", ":"))


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
