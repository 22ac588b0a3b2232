"""Turns of a conversation: those that are written, and those that are known only when the agent has answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import regex

from skillgauge.api import Case, Check, JsonValue, SimulatedUser, thaw
from skillgauge_patterns import PatternError, compiled

from ..files import CaptureFile, CaseFile, EvalFile, TurnFile
from ..patterns import from_go, to_go
from ..reading import Reading
from .users import SIMULATED, model_of

SCRIPTED = "scripted-user"
_KEYS = frozenset({"messages", "captures", "instructions", "model"})
"""Options of a user that a case file has keys for."""
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_AT = ("input", "turns")
_SKIP = "A later message may need what an earlier answer says: capture it there, with a pattern."


@dataclass
class Turns:
    """The turns of a case on their way."""

    suite: EvalFile
    file: CaseFile
    reading: Reading
    """Of the case."""
    captures: list[dict[str, JsonValue]] = field(default_factory=list)

    def read(self) -> tuple[tuple[str, ...], SimulatedUser | None]:
        """Return the messages that are sent as they stand, and who says those that come after them."""
        turns = self.file.input.turns
        for number, turn in enumerate(turns):
            self._note(number, turn)
        at = next((number for number, turn in enumerate(turns) if self._is_made(turn)), len(turns))
        written = tuple(turn.content or "" for turn in turns[:at])
        later = turns[at:]
        if at == 0 or not later:
            return written, None
        messages: list[JsonValue] = [
            {"respond": turn.respond} if turn.respond else {"says": turn.content} for turn in later
        ]
        options: dict[str, JsonValue] = {"messages": tuple(messages)}
        options |= {"captures": tuple(self.captures)} if self.captures else {}
        scorer = SCRIPTED
        if any(turn.respond for turn in later):
            scorer = SIMULATED
            simulator = self.file.user_simulator
            options |= {"instructions": simulator.scenario if simulator else ""}
            options |= model_of(self.suite, self.file)
        check = Check(id=scorer, scorer=scorer, options=options, origin=self.reading.document.origin(*_AT, at))
        return written, SimulatedUser(check=check, turns=len(later))

    def _is_made(self, turn: TurnFile) -> bool:
        return bool(turn.respond) or (bool(self.captures) and _PLACE.search(turn.content or "") is not None)

    def _note(self, number: int, turn: TurnFile) -> None:
        """Refuse what a turn cannot be, and note the values that its answer gives."""
        self._note_message(number, turn)
        if len(self.file.input.turns) == 1:
            if turn.capture:
                self.reading.tell("capture of the only turn has no effect", *_AT, number, "capture")
            return
        names = self._names
        for name in _PLACE.findall(turn.content or ""):
            if name not in names:
                message = f"no answer before this turn gives a value for {name!r}"
                self.reading.refuse(message, *_AT, number, hint=_SKIP)
        for at, capture in enumerate(turn.capture):
            self._note_capture(capture, number, at)

    def _note_message(self, number: int, turn: TurnFile) -> None:
        place = (*_AT, number)
        if turn.timeout_seconds:
            hint = "Write it as constraints.timeout_seconds, which bounds the whole session."
            self.reading.refuse("timeout_seconds of a turn cannot be expressed", *place, "timeout_seconds", hint=hint)
        if bool(turn.respond) is bool((turn.content or "").strip()):
            what = "there is no message" if not turn.respond else "a turn has content or respond, and not both"
            self.reading.refuse(what, *place, hint="Write it: content: ...")
        if turn.respond and number == 0:
            hint = "Write what the user asks first: content: ..."
            self.reading.refuse("nothing comes before the first message, so none is made up", *place, hint=hint)
        if turn.respond and self.file.user_simulator is None:
            hint = "Describe the user: user_simulator: {scenario: ...}"
            self.reading.refuse("no user_simulator says who answers", *place, "respond", hint=hint)

    def _note_capture(self, capture: CaptureFile, number: int, at: int) -> None:
        place = (*_AT, number, "capture", at)
        if capture.variable in self._names:
            message = f"two answers give a value for {capture.variable!r}"
            self.reading.refuse(message, *place, "variable", hint="Give one of them another name.")
        elif capture.jsonpath or not capture.pattern:
            hint = "Write a pattern with one group: pattern: 'id=(\\w+)'"
            self.reading.refuse("a value is found by its pattern alone", *place, hint=hint)
        elif (pattern := self._pattern(capture.pattern, *place)) is not None:
            self.captures.append({"turn": number, "variable": capture.variable, "pattern": pattern})
            self._tell_unused(capture.variable, number, at)

    @property
    def _names(self) -> set[str]:
        """Names of the values that answers give so far."""
        return {str(capture["variable"]) for capture in self.captures}

    def _tell_unused(self, name: str, number: int, at: int) -> None:
        later = self.file.input.turns[number + 1 :]
        if not any(name in _PLACE.findall(turn.content or "") for turn in later):
            message = f"no later turn needs the value of {name!r}, so it is not looked for"
            self.reading.tell(message, *_AT, number, "capture", at)

    def _pattern(self, written: str, *place: str | int) -> str | None:
        """Return a pattern as it is searched here; `None` after noting that it has no value."""
        try:
            pattern = from_go(written)
            groups = _groups(compiled(pattern))
        except (ValueError, PatternError) as error:
            self.reading.refuse(str(error), *place, "pattern", hint="Correct the pattern.")
            return None
        if not groups:
            hint = "Call the group of the value `value`: (?P<value>...)"
            self.reading.refuse("the pattern does not say which group is the value", *place, "pattern", hint=hint)
            return None
        return pattern


def _groups(pattern: regex.Pattern[str]) -> bool:
    """Tell whether one group of a pattern is the value."""
    return "value" in pattern.groupindex or pattern.groups - len(pattern.groupindex) == 1


def turns_of(case: Case) -> tuple[list[dict[str, Any]], dict[str, Any]] | None:
    """Return the turns of a case with such a user, and the further keys of its file; `None` of any other case."""
    user = case.user
    if user is None or user.check.scorer not in (SCRIPTED, SIMULATED):
        return None
    options: dict[str, Any] = thaw(user.check.options)
    messages = options.get("messages")
    if not messages or user.turns != len(messages) or options.keys() - _KEYS:
        return None
    texts = [{"role": "user", "content": text} for text in (case.prompt, *case.turns)]
    turns: list[dict[str, Any]] = [*texts, *({"role": "user", **_written(message)} for message in messages)]
    for capture in options.get("captures") or ():
        pattern, number = to_go(capture["pattern"]), capture["turn"]
        if pattern is None or number >= len(turns):
            return None
        turns[number].setdefault("capture", []).append({"variable": capture["variable"], "pattern": pattern})
    return turns, _simulator(options) if user.check.scorer == SIMULATED else {}


def _simulator(options: dict[str, Any]) -> dict[str, Any]:
    model = {"model": options["model"]} if options.get("model") else {}
    return {"user_simulator": {"scenario": options["instructions"], **model}}


def _written(message: Any) -> dict[str, Any]:
    return {"respond": message["respond"]} if message.get("respond") else {"content": message["says"]}


def places_in(texts: Sequence[str]) -> bool:
    """Tell whether a text has places that skill-up would fill."""
    return any(map(_PLACE.search, texts))
