"""What the folder of a run holds.

head.json        the plan, written once
run.json         where the run stands, and its summary
notes.json       what people say of it, if they say anything
owner.json       who works on it
000001.jsonl     claims, cases, spending and results: a file for each time that something was kept, never changed again
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from pydantic import BaseModel

from skillgauge.api import CaseHead, Frozen, GivenUp, ResultOrder, TrialResult, UnderWay, Unfinished, Verdict
from skillgauge.api.report import GroupKey, Progress, RunInfo, Summary, abridged, case_order

from .shelf import Shelf

PARTS_AT_HAND = 16
LINES = 1_000_000
"""More than a part has, so that part and line make one number."""


class RunFile(Frozen):
    """`run.json`."""

    plan_id: str
    signer: str = ""
    run: RunInfo
    summary: Summary | None = None
    given_up: bool = False
    """Whether nobody is to resume it, unfinished as it may be."""


@dataclass(frozen=True)
class Place:
    """Where a result lies, and what it is sorted by."""

    part: int
    line: int
    ordinal: int
    in_cases: tuple[str | int, ...]
    group: GroupKey
    verdict: Verdict


@dataclass
class Contents:
    """Reads the parts of a run; of the results it remembers only where they lie, so that they may be many."""

    shelf: Shelf
    run_id: str
    claims: Counter[str] = field(default_factory=Counter)
    known_cases: dict[tuple[str, int], CaseHead] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    spent: dict[tuple[int, int], Unfinished] = field(default_factory=dict)
    """By ordinal and claim."""
    sessions: dict[str, UnderWay] = field(default_factory=dict)
    parts: int = 0
    """Number of the last one."""

    def __post_init__(self) -> None:
        self._lines = lru_cache(PARTS_AT_HAND)(self._read)

    def refresh(self) -> None:
        """Read the parts that are not known yet."""
        names = (name.removesuffix(".jsonl") for name in self.shelf.names(self.run_id) if name.endswith(".jsonl"))
        for number in sorted(int(name) for name in names if name.isdigit()):
            if number > self.parts:
                self.take(number, self._read(number))

    def take(self, number: int, lines: Iterable[bytes]) -> None:
        """Remember what a part holds."""
        for at, text in enumerate(lines):
            match json.loads(text):
                case {"result": told}:
                    one = TrialResult.model_validate(told)
                    self.places[one.trial_id] = Place(number, at, one.ordinal, case_order(one), one.group, one.verdict)
                case {"case": told}:
                    case = CaseHead.model_validate(told)
                    self.known_cases[case.suite_id, case.index] = case
                case {"claim": [*trials]}:
                    self.claims.update(trials)
                case {"session": told}:
                    session = UnderWay.model_validate(told)
                    self.sessions[session.trial_id] = session
                case {"spent": told}:
                    unfinished = Unfinished.model_validate(told)
                    self.spent[unfinished.ordinal, unfinished.claim] = unfinished
        self.parts = number

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """Committed results, of all groups or of one."""
        found = [place for place in self.places.values() if group in (None, place.group)]
        found.sort(key=lambda place: place.ordinal)
        if order is ResultOrder.CASE:
            found.sort(key=lambda place: place.in_cases)
        for place in found:
            yield TrialResult.model_validate(json.loads(self._lines(place.part)[place.line])["result"])

    def progress(self) -> Progress:
        """Count the results: the parts that were written since are read, and no part twice."""
        self.refresh()
        counts: dict[GroupKey, dict[Verdict, int]] = {}
        for place in self.places.values():
            by_verdict = counts.setdefault(place.group, {})
            by_verdict[place.verdict] = by_verdict.get(place.verdict, 0) + 1
        sessions = [one for one in self.sessions.values() if one.trial_id not in self.places]
        spent = [self.spent.get((one.ordinal, self.claims[one.trial_id])) for one in sessions]
        under_way = map(UnderWay.after, sessions, spent)
        return Progress(counts, tuple(sorted(under_way, key=lambda one: one.ordinal)))

    def results_since(self, after: int) -> Iterator[tuple[int, TrialResult]]:
        """Results as they were committed, without what agents did step by step."""
        self.refresh()
        cursors = {place.part * LINES + place.line: place for place in self.places.values()}
        for cursor in sorted(cursor for cursor in cursors if cursor > after):
            place = cursors[cursor]
            result = json.loads(self._lines(place.part)[place.line])["result"]
            yield cursor, abridged(TrialResult.model_validate(result))

    def cases(self) -> Iterator[CaseHead]:
        """What is known of the cases, by suite and place."""
        return iter([case for _, case in sorted(self.known_cases.items())])

    def unfinished(self) -> Iterator[Unfinished]:
        """What was used for trials without a result, by place in the plan and claim."""
        return iter([spent for _, spent in sorted(self.spent.items()) if spent.trial_id not in self.places])

    def cut_off(self, trials: Iterable[str]) -> dict[str, tuple[GivenUp, ...]]:
        """Attempts of earlier claims that used something, by trial."""
        wanted = set(trials)
        found: dict[str, tuple[GivenUp, ...]] = {}
        for spent in self.unfinished():
            if spent.trial_id in wanted:
                found[spent.trial_id] = (*found.get(spent.trial_id, ()), *spent.attempts)
        return found

    def _read(self, number: int) -> list[bytes]:
        item = self.shelf.get(part_name(self.run_id, number))
        return item.content.splitlines() if item else []


def part_name(run_id: str, number: int) -> str:
    """Where a part lies."""
    return f"{run_id}/{number:06}.jsonl"


def line(kind: str, value: BaseModel | Iterable[str]) -> bytes:
    """Write a line."""
    text = value.model_dump_json() if isinstance(value, BaseModel) else json.dumps(list(value))
    return f'{{"{kind}":{text}}}'.encode()
