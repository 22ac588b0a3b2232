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

from ..stats import Evidence, MeanRatio
from ..types.arms import GroupKey
from ..types.comparison import PairSummary
from ..types.decided import Direction, GroupChange
from ..types.results.runs import RunView
from ..types.results.summaries import Figure, GroupSummary
from .answer import compared
from .changes import group_changes
from .wording import headline, labels, of_number, rated_figures

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
    def lift(self) -> float | None:
        """The lift; `None` if nothing was compared."""
        return self.pair.lift if self.pair else None

    @property
    def subject(self) -> str:
        """The plural of what its suite asks where figures take the place of a pass rate."""
        return plain(self.asked.subject, _NAME) if self.asked and self.asked.subject else "figures of their own"

    @property
    def cost(self) -> tuple[MeanRatio, str] | None:
        """The cost beside the arm without it, and of which kind; `None` if that is unknown."""
        if self.pair is None:
            return None
        ratios = self.pair.ratios
        known = ((ratios.cost_usd, "cost"), (ratios.tokens, "tokens"), (ratios.duration_s, "time"))
        return next(((ratio, name) for ratio, name in known if ratio), None)

    @property
    def rank(self) -> tuple[int, bool, float, str]:
        """The worst comes first: by finding, those that got worse before others, then by lift or rate."""
        worse = self.change is not None and self.change.direction is Direction.WORSE
        measures = (measure for measure in (self.lift, self.passed) if measure is not None)
        return _ORDER.index(self.finding), not worse, next(measures, 2.0), self.name


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
        for finding, words in _COUNTED.items():
            if number := numbers[finding]:
                yield f"{number} {of_number(number, *words)}"
        apart = Counter(row.subject for row in self.rows if row.finding is SkillFinding.FIGURES)
        for subject, number in apart.items():
            yield f"{number} {of_number(number, 'has', 'have')} {subject} only"

    def of(self, finding: SkillFinding) -> tuple[SkillRow, ...]:
        """Return the rows with a finding."""
        return tuple(row for row in self.rows if row.finding is finding)


def catalogue(view: RunView) -> Catalogue | None:
    """Return the skills of a run side by side; `None` if there is one only, or a few that were not compared."""
    groups = groups_under_test(view)
    if len({group.key.subject for group in groups}) < 2:
        return None
    skills = Catalogue(tuple(sorted(_rows(view, groups), key=lambda row: row.rank)))
    if not skills.has_comparisons and len(skills.rows) <= FEW:
        return None
    return skills


def groups_under_test(view: RunView) -> tuple[GroupSummary, ...]:
    """Return the groups that a run is about: all but those that others are only compared with."""
    suites = view.head.suites_by_id
    return tuple(
        group
        for group in view.summary.groups
        if group.suite_id not in suites or not suites[group.suite_id].is_baseline(group.arm)
    )


def _rows(view: RunView, groups: Sequence[GroupSummary]) -> Iterator[SkillRow]:
    """Yield a row for each comparison, and one for each other group that belongs to none."""
    facts, pairs = _facts(view), _by_candidate(view.summary.pairs)
    main = [group for group in groups if group.key in pairs or not rated_figures(group)]
    queries = _queries(groups, main)
    apart = {group.key for group in (*main, *queries.values())}
    shown = [*main, *(group for group in groups if group.key not in apart)]
    for name, group in zip(_names(shown), shown, strict=True):
        of_group: Sequence[PairSummary | None] = pairs.get(group.key) or [None]
        yield from (facts.row(name, group, comparison, queries.get(group.key)) for comparison in of_group)


def _by_candidate(pairs: Iterable[PairSummary]) -> dict[GroupKey, list[PairSummary]]:
    by_candidate: dict[GroupKey, list[PairSummary]] = {}
    for pair in pairs:
        by_candidate.setdefault(pair.candidate, []).append(pair)
    return by_candidate


def _facts(view: RunView) -> _Facts:
    by_key = {group.key: group for group in view.summary.groups}
    changes = {change.group: change for change in group_changes(view)}
    return _Facts(by_key, {id(pair) for pair in compared(view)}, changes)


def _queries(groups: Iterable[GroupSummary], main: Sequence[GroupSummary]) -> dict[GroupKey, GroupSummary]:
    """Find the groups with figures of their own whose target, engine and model have exactly one row.

    Returns:
        each of them by the group of that row, beside which its figure stands; it has no row of its own.
    """
    rows: dict[tuple[str, str, str | None], list[GroupKey]] = {}
    for group in main:
        rows.setdefault(_lane(group), []).append(group.key)
    queries: dict[GroupKey, GroupSummary] = {}
    for group in groups:
        of_lane = rows.get(_lane(group), [])
        if len(of_lane) == 1 and group.key not in of_lane and rated_figures(group):
            queries.setdefault(of_lane[0], group)
    return queries


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

    def row(self, name: str, group: GroupSummary, pair: PairSummary | None, queries: GroupSummary | None) -> SkillRow:
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
            asked=next(iter(own), headline(queries) if queries else None),
            flaky=group.reliability.flaky if group.reliability else None,
            change=self.changes.get(group.key),
        )

    def _finding(self, group: GroupSummary, pair: PairSummary | None) -> SkillFinding:
        if group.counts.are_skipped:
            return SkillFinding.SKIPPED
        if pair is not None:
            if id(pair) not in self.proving or pair.evidence is None:
                return SkillFinding.INVALID
            return SkillFinding.UNDECIDED if pair.is_same else SkillFinding[pair.evidence.finding.name]
        if rated_figures(group):
            return SkillFinding.FIGURES
        is_whole = group.counts.passed + group.counts.skipped == group.counts.total
        return SkillFinding.PASSES if is_whole else SkillFinding.FAILS
