"""Messages that are written, with values of earlier answers in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import regex

from skillgauge.api import Case, EventKind, Execution, FrozenDict, Score, ScoreContext, ScoreStatus
from skillgauge_patterns import PatternError, compiled

from .options import Capture, ScriptOptions

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_VALUE = "value"
_SEARCH_S = 1.0
OVER = Score.passed("the user has said everything")


class ScriptError(ValueError):
    """A message that cannot be made."""


class ScriptedUser:
    """Says written messages in their order; passes when there is none left, which ends the conversation.

    A value that an answer should have and has not leaves it ungraded, which is an error of the trial.
    """

    version = "1"

    def __init__(self, options: ScriptOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Say the next message."""
        at = said_so_far(context.case, context.execution)
        if at >= len(self._options.messages):
            return OVER
        return written_score(self._options.messages[at].says, self._options.captures, context.execution)


def said_so_far(case: Case, execution: Execution) -> int:
    """Return how many messages the user has said after the written turns of a case."""
    events = execution.trajectory.events if execution.trajectory else ()
    return sum(event.kind is EventKind.USER for event in events) - len(case.turns)


def written_score(text: str, captures: Sequence[Capture], execution: Execution) -> Score:
    """Return the score by which a written message is said."""
    try:
        says = filled(text, captures, execution)
    except ScriptError as error:
        return Score.ungraded(str(error))
    evidence = FrozenDict({"says": says, "is_written": True})
    return Score(status=ScoreStatus.FAILED, value=0.0, reason="the user goes on", evidence=evidence)


def filled(text: str, captures: Sequence[Capture], execution: Execution) -> str:
    """Return a message with the values of earlier answers in it.

    Raises:
        ScriptError: an answer has no such value, or nothing is called so.
    """
    by_name = {capture.variable: capture for capture in captures}

    def value(place: re.Match[str]) -> str:
        if place[1] not in by_name:
            raise ScriptError(f"no answer gives a value for {place[1]!r}")
        return captured(by_name[place[1]], execution)

    return _VARIABLE.sub(value, text)


def captured(capture: Capture, execution: Execution) -> str:
    """Return the value that an answer has.

    Raises:
        ScriptError: there is none.
    """
    answers = execution.answers or (execution.text,)
    answer = answers[capture.turn] if capture.turn < len(answers) else None
    what = f"the value of {capture.variable!r} in answer {capture.turn + 1}"
    try:
        pattern = compiled(capture.pattern)
        match = pattern.search(answer or "", timeout=_SEARCH_S)
    except PatternError as error:
        raise ScriptError(f"{what} cannot be looked for: {error}") from error
    except TimeoutError as error:
        raise ScriptError(f"the search for {what} was given up after {_SEARCH_S:g} s") from error
    value = match[group_of(pattern)] if match is not None else None
    if not value:
        raise ScriptError(f"{what} is not there")
    return str(value)


def group_of(pattern: regex.Pattern[str]) -> str | int:
    """Return the group of a pattern that has the value.

    Raises:
        ScriptError: no group has it, or several may have.
    """
    if _VALUE in pattern.groupindex:
        return _VALUE
    unnamed = sorted(set(range(1, pattern.groups + 1)) - set(pattern.groupindex.values()))
    if len(unnamed) != 1:
        raise ScriptError("a pattern needs a group called `value`, or exactly one group without a name")
    return unnamed[0]
