"""Engines and models beside each other: the lifts and the pass rates of each two of them, case by case."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from ..stats import Repeats, Spread, TwiceRun, chance_of_difference, lift_difference_chance
from ..types.comparison import CasePair, CaseSummary, EnginePair, GroupKey


@dataclass(frozen=True, slots=True)
class _Arms:
    """A case in both arms of a comparison with one engine."""

    group: GroupKey
    """The candidate arm."""
    candidate: Repeats
    baseline: Repeats

    @property
    def lift(self) -> float:
        return self.candidate.share - self.baseline.share


Compared = tuple[CasePair, CaseSummary | None, CaseSummary | None]
"""A comparison of two arms on one case, with what each of them made of it."""


@dataclass
class _Differences:
    """The cases of two engines."""

    cases: Counter[TwiceRun] = field(default_factory=Counter)
    """The first engine stands for the second run."""
    lift: Spread = field(default_factory=Spread)
    passed: Spread = field(default_factory=Spread)

    def add(self, first: _Arms, second: _Arms) -> None:
        case = TwiceRun(
            before=second.candidate,
            after=first.candidate,
            control_before=second.baseline,
            control_after=first.baseline,
        )
        self.cases[case] += 1
        self.lift.add(first.lift - second.lift)
        self.passed.add(first.candidate.share - second.candidate.share)


class EngineTally:
    """Adds up the cases of every two engines that made the same comparison."""

    def __init__(self) -> None:
        self._differences: dict[tuple[GroupKey, GroupKey, str], _Differences] = defaultdict(_Differences)

    def add(self, of_case: Iterable[Compared]) -> None:
        """Take all comparisons of one case."""
        engines: dict[tuple[str | None, str, str], list[_Arms]] = defaultdict(list)
        for pair, ours, theirs in of_case:
            candidate, baseline = _repeats(ours), _repeats(theirs)
            if candidate and baseline:
                comparison = (pair.candidate.target_id, pair.candidate.arm, pair.baseline.arm)
                engines[comparison].append(_Arms(pair.candidate, candidate, baseline))
        for (_, _, baseline_arm), arms in engines.items():
            for first, second in combinations(arms, 2):
                self._differences[first.group, second.group, baseline_arm].add(first, second)

    @property
    def pairs(self) -> Iterator[EnginePair]:
        """Every two engines, with their differences."""
        for (first, second, baseline), differences in self._differences.items():
            cases = list(differences.cases.elements())
            yield EnginePair(
                first=first,
                second=second,
                baseline=baseline,
                n=len(cases),
                lift=differences.lift.mean,
                lift_chance=lift_difference_chance(cases),
                passed=differences.passed.mean,
                passed_chance=chance_of_difference(Counter((case.after, case.before) for case in cases)),
            )


def _repeats(case: CaseSummary | None) -> Repeats | None:
    """The graded repeats of a case; `None` if there is none."""
    if case is None or case.counts.pass_share is None:
        return None
    return Repeats(case.counts.passed, case.counts.passed + case.counts.failed)
