"""Conversations: the tests that share a `conversationId`, put together to one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import Case, Check, FrozenDict, JsonValue, VerdictRule
from skillgauge_assertions import Reading

from .assertions import EACH
from .vars_and_tests import Test


@dataclass(frozen=True)
class Turn:
    """A test with one combination of its variables, as if it were asked alone."""

    test: Test
    case: Case


def conversations(tests: Iterable[Test]) -> frozenset[str]:
    """Return the names of the conversations that have more than one turn."""
    sizes: Counter[str] = Counter()
    for test in tests:
        sizes[test.conversation] += test.size
    return frozenset(name for name, size in sizes.items() if name and size > 1)


def joined(reading: Reading, identity: str, turns: Sequence[Turn]) -> Case:
    """Return the case of a conversation; what it cannot say is noted.

    Args:
        reading: takes problems.
        identity: the id of the case.
        turns: in the order in which they are asked.
    """
    cases = [turn.case for turn in turns]
    for turn in turns:
        if turn.case.user is not None:
            hint = "Take `conversationId` out of its metadata."
            reading.refuse(turn.test.node, "a test with a simulated user is a conversation of its own", hint)
    files = {file.path: file for case in cases for file in case.grader_files}
    return cases[0].model_copy(
        update={
            "id": identity,
            "turns": tuple(case.prompt or "" for case in cases[1:]),
            "checks": tuple(_checks(turns)),
            "grader_files": tuple(files.values()),
            "rule": _rule(reading, turns),
            "extras": FrozenDict({"assert": _asserted(cases), "turns": tuple(_kept(case) for case in cases)}),
        }
    )


def _checks(turns: Sequence[Turn]) -> Iterator[Check]:
    for number, turn in enumerate(turns):
        for check in turn.case.checks:
            yield check.model_copy(update={"id": named(check.id, number), "turn": number})


def _rule(reading: Reading, turns: Sequence[Turn]) -> VerdictRule:
    """Return the rule of the only turn that asserts something; of several turns all have to hold."""
    ruled = [turn for turn in turns if any(not check.beside for check in turn.case.checks)]
    if len(ruled) == 1:
        return ruled[0].case.rule
    for turn in ruled:
        if turn.case.rule != EACH:
            hint = "Take it out: all assertions of all turns have to hold."
            message = "a threshold of one turn of a conversation cannot be said"
            reading.refuse(turn.test.threshold or turn.test.node, message, hint)
    return EACH


def named(check: str, turn: int) -> str:
    """Return the id of a check of a turn within its conversation."""
    return f"turn {turn + 1}: {check}"


def _asserted(cases: Sequence[Case]) -> JsonValue:
    written: dict[str, JsonValue] = {}
    for number, case in enumerate(cases):
        own = case.extras["assert"]
        assert isinstance(own, Mapping)
        written |= {named(check, number): assertion for check, assertion in own.items()}
    return FrozenDict(written)


def _kept(case: Case) -> JsonValue:
    """Return the parts of a test that no case of several turns has a place for, for writing back."""
    return FrozenDict({"description": case.id, **{key: case.extras[key] for key in ("vars",) if key in case.extras}})
