"""The skills of a run side by side, and the cases to look at first, as a page shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from skillgauge.api.report import (
    UNKNOWN,
    Catalogue,
    GroupKey,
    RunView,
    SkillCells,
    SkillFinding,
    SkillRow,
    cells_of,
    labels,
)
from skillgauge_run_views.tested import TestedCase, worst

CASES = 30
"""Cases that did not pass which are listed before the skills, one of each skill before a second one of any."""

_TONES = {
    SkillFinding.HURTS: "bad",
    SkillFinding.INVALID: "bad",
    SkillFinding.FAILS: "bad",
    SkillFinding.UNDECIDED: "unclear",
    SkillFinding.HELPS: "good",
    SkillFinding.PASSES: "good",
}


@dataclass(frozen=True)
class Bar:
    """A lift with its interval, drawn from -100 to +100 points over a width of 100."""

    left: str
    width: str
    point: str


@dataclass(frozen=True)
class Cell:
    """A cell of a skill."""

    head: str
    text: str
    value: str | None = None
    """The text that the column is sorted by; empty if it is unknown, `None` if it is `text`."""
    is_number: bool = False
    is_verdict: bool = False
    bar: Bar | None = None


@dataclass(frozen=True)
class Line:
    """A skill."""

    cells: tuple[Cell, ...]
    link: str
    """To what the page has of it; empty if there is nothing."""
    verdict: str
    tone: str


@dataclass(frozen=True)
class WorstCase:
    """A case that did not pass."""

    title: str
    of: str
    passed: str
    reason: str
    link: str


@dataclass(frozen=True)
class Skills:
    """All skills of a run."""

    lines: tuple[Line, ...]

    @property
    def columns(self) -> tuple[Cell, ...]:
        """The columns; every line has the same."""
        return self.lines[0].cells

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdicts that a reader can choose from, the worst first."""
        return tuple(dict.fromkeys(line.verdict for line in self.lines))


def skills_of(skills: Catalogue, link: Callable[[GroupKey], str]) -> Skills:
    """Return the skills of a run as they are shown; reads no trial.

    Args:
        skills: its skills, the worst first.
        link: makes the address of a skill.
    """
    every = [tuple(_cells(row)) for row in skills.rows]
    kept = [at for at, column in enumerate(zip(*every, strict=True)) if any(cell.text != UNKNOWN for cell in column)]
    return Skills(
        tuple(
            Line(
                cells=tuple(cells[at] for at in kept),
                link=link(row.group),
                verdict=cells_of(row).verdict,
                tone=_TONES.get(row.finding, "plain"),
            )
            for row, cells in zip(skills.rows, every, strict=True)
        )
    )


def worst_cases(view: RunView, link: Callable[[str, int], str]) -> tuple[WorstCase, ...]:
    """Return the cases to look at first; the results of the run are read.

    Args:
        view: the run.
        link: makes the address of a case, of its suite and its place there.
    """
    cases = worst(view, CASES)
    names = labels([case.group for case in cases])
    return tuple(_case(case, name, link) for case, name in zip(cases, names, strict=True))


def _cells(row: SkillRow) -> Iterator[Cell]:
    """Yield the cells of a skill."""
    texts, evidence = cells_of(row), row.evidence
    yield Cell("Skill", texts.name)
    yield Cell("Verdict", texts.verdict, is_verdict=True)
    yield _number("Lift (points)", texts.lift, evidence.estimate if evidence else None)
    yield _interval(row, texts)
    yield _number("With", texts.passed, row.passed)
    yield _number("Without", texts.passed_without, row.passed_without)
    yield _number("Fires as it should", texts.fires, _firing(row))
    yield _number("Cost", texts.cost, row.cost[0].ratio if row.cost else None)
    yield _number("Flaky", texts.flaky, row.flaky)
    yield _number("Change", texts.change, row.change.own if row.change else None)


def _number(head: str, text: str, value: float | None) -> Cell:
    return Cell(head, text, "" if value is None else f"{value:g}", is_number=True)


def _firing(row: SkillRow) -> float | None:
    """The figure of its queries, else the share of the sessions with it in which it fired."""
    if row.asked is not None:
        return row.asked.value
    fired = row.pair.fired if row.pair else None
    return fired.fired / fired.sessions if fired and fired.sessions else None


def _interval(row: SkillRow, texts: SkillCells) -> Cell:
    evidence = row.evidence
    if evidence is None:
        return Cell("Interval, these cases", UNKNOWN, "")
    lower, point, upper = (
        50 + 50 * min(1.0, max(-1.0, share))
        for share in (evidence.interval_here.lower, evidence.estimate, evidence.interval_here.upper)
    )
    bar = Bar(f"{2 + lower:.1f}", f"{max(upper - lower, 0.5):.1f}", f"{1 + point:.1f}")
    return Cell("Interval, these cases", texts.interval, f"{evidence.interval_here.lower:g}", bar=bar)


def _case(case: TestedCase, name: str, link: Callable[[str, int], str]) -> WorstCase:
    first = case.results[0]
    return WorstCase(
        title=case.title,
        of=name,
        passed=f"{case.passed_text}{' (flaky)' if case.is_flaky else ''}",
        reason="; ".join(case.reasons),
        link=link(first.suite_id, first.case_index),
    )
