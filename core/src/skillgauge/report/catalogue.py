"""The skills of a run side by side: a row for each, those that hurt first, and all of them in one line.

Made of the summary alone, so that it costs the same however many results there are. Every surface shows these rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from skillgauge_documents.characters import plain
from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import counted

from ..stats import Evidence, Finding, MeanRatio
from ..types.arms import GroupKey
from ..types.comparison import PairSummary
from ..types.decided import Direction, GroupChange
from ..types.result import Figure, GroupSummary, RunView
from .answer import compared
from .wording import headline, labels, rated_figures

FEW = 8
"""Rows up to which a run without comparisons is told group by group alone."""


class SkillFinding(StrEnum):
    """The finding on a skill in a catalogue, in the order in which rows stand. Closed, and the strings are frozen."""

    HURTS = "hurts"
    INVALID = "proves nothing"
    """Too many errors."""
    FAILS = "fails"
    """It was not compared, and a case failed or could not be graded."""
    UNDECIDED = "cannot be told"
    NO_DIFFERENCE = "no difference"
    HELPS = "helps"
    PASSES = "passes"
    """It was not compared, and every case passed."""
    FIGURES = "figures only"
    """It was not compared, and figures of its format take the place of a pass rate, as for trigger queries."""
    SKIPPED = "skipped"
    """Every case was skipped, so that nothing was asked of it."""


_ORDER = tuple(SkillFinding)
_COUNTED = {
    SkillFinding.HELPS: ("helps", "help"),
    SkillFinding.HURTS: ("hurts", "hurt"),
    SkillFinding.NO_DIFFERENCE: ("makes no meaningful difference", "make no meaningful difference"),
    SkillFinding.UNDECIDED: ("cannot be told", "cannot be told"),
    SkillFinding.INVALID: ("proves nothing", "prove nothing"),
    SkillFinding.PASSES: ("passes every case", "pass every case"),
    SkillFinding.FAILS: ("does not pass every case", "do not pass every case"),
    SkillFinding.SKIPPED: ("was skipped", "were skipped"),
}
"""Each finding for one skill and for several, in the order of the sentence."""
_FINDINGS = {
    Finding.HELPS: SkillFinding.HELPS,
    Finding.HURTS: SkillFinding.HURTS,
    Finding.NO_DIFFERENCE: SkillFinding.NO_DIFFERENCE,
    Finding.UNDECIDED: SkillFinding.UNDECIDED,
}


@immutable
class SkillRow:
    """A skill in a catalogue."""

    name: str
    """As `plain` text."""
    group: GroupKey
    """Its group under test."""
    finding: SkillFinding
    pair: PairSummary | None
    """Its comparison; `None` if it was not compared."""
    passed: float | None
    """Mean pass share with the skill; `None` where figures take its place."""
    passed_without: float | None
    asked: Figure | None
    """The figure on queries that should make it fire, or not; `None` without such a suite."""
    flaky: int | None
    """Cases that passed sometimes; `None` if none was run twice."""
    change: GroupChange | None
    """Its change since the run that this one was compared with."""

    @property
    def evidence(self) -> Evidence | None:
        """The lift and what it proves."""
        return self.pair.evidence if self.pair else None

    @property
    def subject(self) -> str:
        """The plural of what its suite asks where figures take the place of a pass rate."""
        return plain(self.asked.subject, _NAME) if self.asked and self.asked.subject else "figures of their own"

    @property
    def cost(self) -> tuple[MeanRatio, str] | None:
        """The cost beside the arm without it, and of which kind; `None` if that is unknown."""
        ratios = self.pair.ratios if self.pair else None
        if ratios is None:
            return None
        known = ((ratios.cost_usd, "cost"), (ratios.tokens, "tokens"), (ratios.duration_s, "time"))
        return next(((ratio, name) for ratio, name in known if ratio), None)

    @property
    def rank(self) -> tuple[int, bool, float, str]:
        """The worst comes first: by finding, those that got worse before others, then by lift or rate."""
        worse = self.change is not None and self.change.direction is Direction.WORSE
        measure = self.evidence.estimate if self.evidence else self.passed
        return _ORDER.index(self.finding), not worse, measure if measure is not None else 2.0, self.name


@immutable
class Catalogue:
    """The skills of a run."""

    rows: tuple[SkillRow, ...]
    """The worst first."""

    @property
    def has_comparisons(self) -> bool:
        """True if any skill was compared."""
        return any(row.pair for row in self.rows)

    @property
    def headline(self) -> str:
        """All of them in one line: `34 skills: 20 help, 1 hurts, 9 cannot be told, 4 have trigger queries only`."""
        noun = "skill" if self.has_comparisons else "target"
        subjects = len({row.group.subject for row in self.rows})
        total = counted(subjects, noun)
        if subjects < len(self.rows):
            total += f" in {len(self.rows)} comparisons"
        return f"{total}: {', '.join(self._counts())}"

    def _counts(self) -> Iterator[str]:
        numbers = Counter(row.finding for row in self.rows)
        for finding, (one, many) in _COUNTED.items():
            if number := numbers[finding]:
                yield f"{number} {one if number == 1 else many}"
        apart = Counter(row.subject for row in self.rows if row.finding is SkillFinding.FIGURES)
        for subject, number in apart.items():
            yield f"{number} {'has' if number == 1 else 'have'} {subject} only"

    def of(self, finding: SkillFinding) -> tuple[SkillRow, ...]:
        """Return the rows with a finding."""
        return tuple(row for row in self.rows if row.finding is finding)


def catalogue(view: RunView) -> Catalogue | None:
    """Return the skills of a run side by side; `None` if there is one only, or a few that were not compared."""
    groups = _groups_under_test(view)
    if len({group.key.subject for group in groups}) < 2:
        return None
    rows = tuple(sorted(_rows(view, groups), key=lambda row: row.rank))
    if not any(row.pair for row in rows) and len(rows) <= FEW:
        return None
    return Catalogue(rows)


def _groups_under_test(view: RunView) -> list[GroupSummary]:
    suites = view.head.suites_by_id
    return [
        group
        for group in view.summary.groups
        if group.suite_id not in suites or not suites[group.suite_id].is_baseline(group.arm)
    ]


def _rows(view: RunView, groups: Sequence[GroupSummary]) -> Iterator[SkillRow]:
    """Yield a row for each comparison, and one for each other group that belongs to none."""
    facts = _facts(view)
    pairs: dict[GroupKey, list[PairSummary]] = {}
    for pair in view.summary.pairs:
        pairs.setdefault(pair.candidate, []).append(pair)
    main = [group for group in groups if group.key in pairs or not rated_figures(group)]
    queries = _queries(groups, main)
    apart = queries.merged | {group.key for group in main}
    shown = [*main, *(group for group in groups if group.key not in apart)]
    for name, group in zip(_names(shown), shown, strict=True):
        asked = queries.of_row.get(group.key)
        of_group: Sequence[PairSummary | None] = pairs.get(group.key) or [None]
        yield from (facts.row(name, group, comparison, asked) for comparison in of_group)


def _facts(view: RunView) -> _Facts:
    by_key = {group.key: group for group in view.summary.groups}
    changes = view.decided.changes.groups if view.decided and view.decided.changes else ()
    return _Facts(by_key, {id(pair) for pair in compared(view)}, {change.group: change for change in changes})


@immutable
class _Queries:
    """The suites whose figures stand beside a comparison of the same skill."""

    of_row: Mapping[GroupKey, Figure]
    """The figure for each row that has one."""
    merged: frozenset[GroupKey]
    """Their groups, which have no row of their own."""


def _queries(groups: Iterable[GroupSummary], main: Sequence[GroupSummary]) -> _Queries:
    """Find the groups with figures of their own whose target, engine and model have exactly one row."""
    rows: dict[tuple[str, str, str | None], list[GroupKey]] = {}
    for group in main:
        rows.setdefault(_lane(group), []).append(group.key)
    of_row: dict[GroupKey, Figure] = {}
    merged = set()
    for group in groups:
        of_lane = rows.get(_lane(group), [])
        if not rated_figures(group) or group.key in of_lane or len(of_lane) != 1 or of_lane[0] in of_row:
            continue
        of_row[of_lane[0]] = headline(group)
        merged.add(group.key)
    return _Queries(of_row, frozenset(merged))


def _lane(group: GroupSummary) -> tuple[str, str, str | None]:
    return group.key.subject, group.runner, group.model


def _names(groups: Sequence[GroupSummary]) -> tuple[str, ...]:
    """The names of rows: the skill, with what tells it from others of the same name."""
    subjects = Counter(group.key.subject for group in groups)
    return tuple(
        plain(group.key.subject, _NAME) if subjects[group.key.subject] == 1 else name
        for group, name in zip(groups, labels(groups, _NAME), strict=True)
    )


_NAME = 60


@immutable
class _Facts:
    """The facts that rows are made of."""

    by_key: Mapping[GroupKey, GroupSummary]
    proving: set[int]
    """The identities of the comparisons that prove anything."""
    changes: Mapping[GroupKey, GroupChange]

    def row(self, name: str, group: GroupSummary, pair: PairSummary | None, asked: Figure | None) -> SkillRow:
        """Return the row of a group, or of one of its comparisons."""
        own = rated_figures(group)
        baseline = self.by_key.get(pair.baseline) if pair else None
        return SkillRow(
            name=name,
            group=group.key,
            finding=self._finding(group, pair),
            pair=pair,
            passed=None if own else group.pass_rate.rate,
            passed_without=baseline.pass_rate.rate if baseline else None,
            asked=own[0] if own else asked,
            flaky=group.reliability.flaky if group.reliability else None,
            change=self.changes.get(group.key),
        )

    def _finding(self, group: GroupSummary, pair: PairSummary | None) -> SkillFinding:
        if group.counts.are_skipped:
            return SkillFinding.SKIPPED
        if pair is not None:
            if id(pair) not in self.proving or pair.evidence is None:
                return SkillFinding.INVALID
            return SkillFinding.UNDECIDED if pair.is_same else _FINDINGS[pair.evidence.finding]
        if rated_figures(group):
            return SkillFinding.FIGURES
        is_whole = group.counts.passed + group.counts.skipped == group.counts.total
        return SkillFinding.PASSES if is_whole else SkillFinding.FAILS
