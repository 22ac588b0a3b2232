"""The cells of a catalogue in words, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import UNKNOWN, listed, percent, points, signed_points

from ..stats import Evidence
from ..types.decided import Direction, GroupChange
from .catalogue import Catalogue, SkillFinding, SkillRow

HEADS = (
    "Skill",
    "Verdict",
    "Lift (points)",
    "Interval, these cases",
    "With",
    "Without",
    "Fires as it should",
    "Cost",
    "Flaky",
    "Change",
)
"""The columns of a catalogue; of `SkillCells`, in its order."""
BAR = 21
"""Characters of a bar, which goes from -100 to +100 points."""


BAR_HEAD = "-100      0      +100"
"""The head of the column with bars."""


@immutable
class SkillCells:
    """The cells of one skill."""

    name: str
    verdict: str
    lift: str
    interval: str
    passed: str
    passed_without: str
    fires: str
    cost: str
    flaky: str
    change: str
    bar: str
    """The lift with its interval, drawn in characters."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The cells in the order of `HEADS`."""
        first = (self.name, self.verdict, self.lift, self.interval, self.passed, self.passed_without)
        return (*first, self.fires, self.cost, self.flaky, self.change)


def cells_of(row: SkillRow) -> SkillCells:
    """Return the cells of a skill."""
    lift, interval, bar = _lift_cells(row.evidence)
    cost = row.cost
    return SkillCells(
        name=row.name,
        verdict=row.subject if row.finding is SkillFinding.FIGURES else row.finding.value,
        lift=lift,
        interval=interval,
        passed=percent(row.passed),
        passed_without=percent(row.passed_without),
        fires=_fires(row),
        cost=f"{cost[0].ratio:.2f} x {cost[1]}" if cost else UNKNOWN,
        flaky=UNKNOWN if row.flaky is None else str(row.flaky),
        change=_change(row.change),
        bar=bar,
    )


def _lift_cells(evidence: Evidence | None) -> tuple[str, str, str]:
    """The lift, its interval, and the bar of both."""
    if evidence is None:
        return UNKNOWN, UNKNOWN, ""
    lower, upper = evidence.interval_here.lower, evidence.interval_here.upper
    interval = f"{signed_points(lower)} to {signed_points(upper)}"
    return signed_points(evidence.estimate), interval, lift_bar(lower, evidence.estimate, upper)


def _fires(row: SkillRow) -> str:
    """Say how far it fires as it should: by the figure of its queries, else in how many sessions with it it fired."""
    if row.asked is not None:
        return percent(row.asked.value)
    if row.pair and row.pair.fired:
        return f"{row.pair.fired.fired} of {row.pair.fired.sessions}"
    return UNKNOWN


_CHANGES = {
    Direction.WORSE: "worse",
    Direction.BETTER: "better",
    Direction.UNDECIDED: "unsure",
    Direction.SAME: "same",
    Direction.NEW: "new",
    Direction.APART: "not compared",
}


def _change(change: GroupChange | None) -> str:
    """The direction in which a skill changed, and the points by which its pass rate did."""
    if change is None:
        return UNKNOWN
    word = _CHANGES[change.direction]
    return f"{word} {signed_points(change.own)}" if change.own else word


def lift_bar(lower: float, estimate: float, upper: float) -> str:
    """Draw a lift with its interval between -100 and +100 points: `          |  ---o---`."""
    cells = [" "] * BAR
    for place in range(_place(lower), _place(upper) + 1):
        cells[place] = "-"
    cells[BAR // 2] = "|"
    cells[_place(estimate)] = "o"
    return "".join(cells)


def _place(share: float) -> int:
    return round((min(1.0, max(-1.0, share)) + 1.0) / 2 * (BAR - 1))


_NAMED = 5
_NOTHING = frozenset({UNKNOWN, ""})
"""The cells that say nothing."""


def summary_lines(skills: Catalogue) -> tuple[str, ...]:
    """Return all skills in one line, then the names of those that hurt and of those that got worse."""
    return (skills.headline, *_named(skills))


def _named(skills: Catalogue) -> Iterator[str]:
    hurting = [f"{row.name} ({points(row.lift)})" for row in skills.of(SkillFinding.HURTS)]
    if hurting:
        yield f"hurts: {_joined(hurting)}"
    changes = ((row.name, row.change) for row in skills.rows if row.change)
    worse = [f"{name} ({points(change.own)})" for name, change in changes if change.direction is Direction.WORSE]
    if worse:
        yield f"worse than before: {_joined(worse)}"


def _joined(names: Sequence[str]) -> str:
    return listed(names, _NAMED)


def table_of(skills: Catalogue, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the heads and rows of a catalogue, with bars, without the columns in which no row has anything.

    Args:
        skills: the catalogue.
        most: rows at most; those of the worst skills.
    """
    cells = [cells_of(row) for row in skills.rows[:most]]
    columns = list(zip(HEADS, *(one.texts for one in cells), strict=True))
    columns.insert(3, (BAR_HEAD, *(one.bar for one in cells)))
    heads, *rows = zip(*(column for column in columns if not _NOTHING.issuperset(column[1:])), strict=True)
    return heads, rows
