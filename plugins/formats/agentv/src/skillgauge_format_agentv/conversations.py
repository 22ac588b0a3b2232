"""Conversations: the turns of a test, each with assertions of its own, and how they count together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skillgauge.api import Check, FileSpec, FrozenDict, JsonValue, VerdictMode, VerdictRule
from skillgauge_assertions import Node

from .graders import Around, reference
from .grading import Graded, Grading, Weighed
from .keys import TURN
from .reading import AgentvReading

MODE = "conversation"
_KEYS = ("turns", "mode", "aggregation", "on_turn_failure", "window_size")
_DIGITS, _WRITTEN_DIGITS = 9, 12
"""Of a threshold that is computed, so that it is the same after it was written, which takes a few more."""
_WHOLE = "looks at the last answer here, and at all that was said in agentv"


@dataclass(frozen=True)
class _Unit:
    """A turn, or the conversation as a whole: each counts the same."""

    turn: int | None
    weighed: tuple[Weighed, ...]
    files: Mapping[str, FileSpec]
    written: Mapping[str, JsonValue]

    @property
    def counting(self) -> list[Weighed]:
        return [one for one in self.weighed if one.weight]

    @property
    def total(self) -> float:
        return sum(one.weight for one in self.weighed) or 1.0


def is_conversation(node: Node) -> bool:
    """Tell whether a test has turns, or says something of them."""
    return any(node.has(key) for key in _KEYS)


def turns_of(reading: AgentvReading, node: Node) -> list[Node]:
    """Return the turns of a test; none after telling what is wrong with them."""
    if node.at("mode").value != MODE:
        hint = f"Write `mode: {MODE}`, or `input` for what is asked once."
        place = next(node.at(key) for key in _KEYS if node.has(key))
        reading.refuse(place, f"turns belong to mode {MODE!r}", hint)
        return []
    turns = list(node.at("turns").items())
    if not turns:
        reading.refuse(node.at("mode"), "a conversation needs a list `turns`", code="suite.missing-key")
    are_read = [reading.only(turn, TURN, "a turn") for turn in turns]
    return turns if all(are_read) else []


def graded_turns(node: Node, turns: Sequence[Node], around: Around, whole: list[Node], texts: Sequence[str]) -> Graded:
    """Return the checks of a conversation.

    Args:
        node: the test.
        turns: its turns.
        around: what is known to all graders of the test.
        whole: assertions about the whole conversation.
        texts: what the user says in each turn.
    """
    units = [_unit(turn, number, around, texts[number]) for number, turn in enumerate(turns)]
    empty = sum(not unit.counting for unit in units)
    if whole:
        around.reading.keep(whole[0], "an assertion about a whole conversation", _WHOLE)
        units.append(_read(whole, None, around))
    rule = _rule(node, around, units, empty)
    stops = _limits(around.reading, node, len(turns), rule)
    written: dict[str, JsonValue] = {}
    files: dict[str, FileSpec] = {}
    for unit in units:
        files |= unit.files
        written |= {named(label, unit.turn): assertion for label, assertion in unit.written.items()}
    return Graded(tuple(_checks(units, rule, stops=stops)), rule, tuple(files.values()), FrozenDict(written))


def named(label: str, turn: int | None) -> str:
    """Return the id of a check within its conversation."""
    return label if turn is None else f"turn {turn + 1}: {label}"


def _unit(turn: Node, number: int, around: Around, text: str) -> _Unit:
    reading = around.reading
    wanted = turn.at("expected_output").value
    listed = reading.first(turn, "assert", "assertions")
    if listed.value is not None and not isinstance(listed.value, tuple):
        reading.refuse(listed, "assertions are a list", code="suite.wrong-type")
    asserted = list(listed.items())
    if not asserted and wanted is not None and reference(wanted):
        asserted = [Node(FrozenDict({"type": "llm-rubric"}), turn.at("expected_output").origin)]
    return _read(asserted, number, replace(around, prompt=text, reference=wanted))


def _read(asserted: list[Node], turn: int | None, around: Around) -> _Unit:
    grading = Grading(around)
    weighed = grading.weighed(asserted)
    texts = 1 if turn is None else sum(isinstance(one.node.value, str) for one in weighed)
    shared = []
    for one in weighed:
        if one.required:
            hint = "Take it out; with `aggregation: min` every turn has to pass."
            around.reading.refuse(one.node.at("required"), "what is required decides no conversation", hint)
        # The texts of a turn are one assertion there, whose parts they are.
        shared.append(replace(one, weight=one.weight / texts) if isinstance(one.node.value, str) else one)
    return _Unit(turn, tuple(shared), grading.files, grading.written)


def _checks(units: Sequence[_Unit], rule: VerdictRule, *, stops: bool) -> Iterator[Check]:
    """Yield the checks of all units, which weigh the same together where their mean decides."""
    for unit in units:
        total = unit.total if rule.mode is VerdictMode.MEAN else 1.0
        for one in unit.weighed:
            yield Check(
                id=named(one.label, unit.turn),
                scorer=one.part.scorer,
                options=one.part.options,
                weight=one.weight / total if one.weight else 1.0,
                beside=one.weight == 0,
                turn=unit.turn,
                required=stops and unit.turn is not None and one.weight > 0,
                origin=one.node.origin,
            )


def _rule(node: Node, around: Around, units: Sequence[_Unit], empty: int) -> VerdictRule:
    """Return the rule: of the mean, where turns without assertions count as passed, or of all."""
    way = node.at("aggregation")
    if way.value in (None, "mean"):
        return VerdictRule(mode=VerdictMode.MEAN, threshold=threshold_without(around.threshold, len(units), empty))
    if way.value != "min":
        hint = "Write mean or min."
        around.reading.refuse(way, f"aggregation {way.value!r} is not supported", hint)
    elif not all(_has_to_hold(unit, around.threshold) for unit in units):
        hint = "Write `threshold: 1`, so that every assertion has to hold."
        message = "a turn would pass though one of its assertions does not hold, which cannot be said with min"
        around.reading.refuse(way, message, hint)
    return VerdictRule(mode=VerdictMode.ALL)


def threshold_without(threshold: float, units: int, empty: int) -> float:
    """Return the mean of the units that are graded at which that of all, with the empty ones at 1, is a threshold."""
    if not empty or units == empty:
        return threshold
    return max(0.0, round((threshold * units - empty) / (units - empty), _DIGITS))


def threshold_with(threshold: float, units: int, empty: int) -> float:
    """Return the threshold for all units, given that for those that are graded."""
    return round((threshold * (units - empty) + empty) / units, _WRITTEN_DIGITS) if empty else threshold


def _has_to_hold(unit: _Unit, threshold: float) -> bool:
    """Tell whether a unit fails as soon as one of its assertions does."""
    counting = unit.counting
    if len(counting) == 1:
        return counting[0].part.is_binary or counting[0].part.options.get("threshold") == threshold
    return all(one.part.is_binary and 1 - one.weight / unit.total < threshold for one in counting)


def _limits(reading: AgentvReading, node: Node, turns: int, rule: VerdictRule) -> bool:
    """Tell whether the first turn that fails ends the conversation; refuse what would change a verdict."""
    failure, window = node.at("on_turn_failure"), node.at("window_size")
    stops = failure.value == "stop" and rule.mode is VerdictMode.ALL
    if not stops and failure.value not in (None, "continue"):
        hint = "Write continue, or `aggregation: min`: a mean may be reached although a turn has failed."
        reading.refuse(failure, f"on_turn_failure {failure.value!r} is not supported", hint)
    if isinstance(window.value, int) and window.value >= turns:
        reading.keep(window, "`window_size`", "an agent knows the whole session, which is no longer")
    elif window.value is not None:
        reading.refuse(window, "an agent cannot be made to forget a part of its session", "Take it out.")
    return stops
