"""Feed a run round by round, and stop as soon as its comparisons are decided.

What runs next depends on nothing but the results so far, and is settled only while no trial is under way. So a run that
is resumed or replayed asks for the same trials again, whatever the concurrency and whoever executes them.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import ceil

from ...stats import PROSPECT, RARE, Discordant, chance_at_any_time, chance_to_decide, holm
from ...types.arms import GroupKey
from ...types.plan import Plan, SuitePlan
from ...types.results.trials import TrialResult, Verdict
from ...types.trial import SuiteHead, Trial

_CASES_AT_ONCE = 2
_BATCHES_OF_ROUND = 8
"""The results are looked at again after so many cases of a suite, or an eighth of them if those are more: more cases at
once would be quicker, and cost sessions that were not needed."""
_ROUNDS_BEFORE_GIVING_UP = 2
_PAIRS_BEFORE_REST = 2
_ROUNDS_OF_REST = 3
"""A case that rests takes part in every so many rounds, since it may have changed."""

_PASSED = {Verdict.PASS: True, Verdict.FAIL: False}
Arms = tuple[GroupKey, GroupKey]
"""The candidate and the baseline of a comparison."""


@dataclass
class _Lane:
    """The results of one comparison."""

    arms: Arms
    pairs: int = 0
    """Repeats of a case that both arms have."""
    discordant: Discordant = field(default_factory=Discordant)
    _half: dict[tuple[int, int], bool] = field(default_factory=dict)
    """Whether a repeat passed of which the other arm has no result yet, by case and repeat."""
    _seen: dict[int, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    """How often each case passed and failed, in pairs."""

    def add(self, result: TrialResult) -> None:
        passed, place = _PASSED.get(result.verdict), (result.case_index, result.repeat)
        self._seen[result.case_index]  # it takes part, whatever has come of it
        if passed is None:
            return
        if place not in self._half:
            self._half[place] = passed
            return
        other = self._half.pop(place)
        ours, theirs = (passed, other) if result.group == self.arms[0] else (other, passed)
        self.pairs += 1
        self.discordant += Discordant(won=ours and not theirs, lost=theirs and not ours)
        self._seen[result.case_index].update((ours, theirs))

    @property
    def cases(self) -> int:
        return len(self._seen)

    def is_settled(self, case: int) -> bool:
        """Tell whether all repeats of a case have ended alike, whichever arm they are in."""
        seen = self._seen[case]
        return len(seen) == 1 and seen.total() >= 2 * _PAIRS_BEFORE_REST


class Rounds:
    """Chooses the trials of a run by the results so far.

    Args:
        plan: with suites that run until they are decided.
        done: results of earlier commands of the run.
    """

    def __init__(self, plan: Plan, done: Iterable[TrialResult] = ()) -> None:
        self._plan = plan
        self._heads = plan.head.suites_by_id
        self._lanes: dict[Arms, _Lane] = {}
        self._done: set[str] = set()
        self._under_way: set[str] = set()
        self._settled = asyncio.Event()
        self._open: set[Arms] = set()
        self._given_up: set[Arms] = set()
        for result in done:
            self.add(result)

    def add(self, result: TrialResult) -> None:
        """Take a result into account."""
        self._done.add(result.trial_id)
        self._under_way.discard(result.trial_id)
        head = self._heads[result.suite_id]
        for comparison in head.compared if head.until_decided else ():
            if result.arm in (comparison.candidate, comparison.baseline):
                arms = result.group.in_arm(comparison.candidate), result.group.in_arm(comparison.baseline)
                self._lanes.setdefault(arms, _Lane(arms)).add(result)
        if not self._under_way:
            self._settled.set()

    async def batches(self) -> AsyncGenerator[Sequence[Trial], None]:
        """Trials that may run side by side, again and again; those before have ended when the next are asked for."""
        for number, (repeat, of_suites) in enumerate(self._plan.rounds()):
            if number and not self._goes_on(repeat):
                return
            sizes = [self._size(head, number) for head in map(self._head_of, self._plan.suites)]
            while any(batch := [list(islice(*each)) for each in zip(of_suites, sizes, strict=True)]):
                yield self._begun(trial for cases in batch for case in cases for trial in self._wanted(case, number))
                await self._all_ended()
                self._open = self._undecided() - self._given_up
            self._given_up = {arms for arms in self._undecided() if self._is_hopeless(arms, repeat)}
            self._open -= self._given_up

    def _head_of(self, suite: SuitePlan) -> SuiteHead:
        return self._heads[suite.suite.id]

    def _size(self, head: SuiteHead, number: int) -> int | None:
        """The number of cases that run before the results are looked at; `None` for all."""
        if number == 0 or not head.until_decided:
            return None
        return max(_CASES_AT_ONCE, ceil(head.case_count / _BATCHES_OF_ROUND))

    def _goes_on(self, repeat: int) -> bool:
        return bool(self._open) or any(head.runs >= repeat for head in self._heads.values() if not head.until_decided)

    def _begun(self, trials: Iterable[Trial]) -> list[Trial]:
        batch = list(trials)
        self._under_way.update(trial.trial_id for trial in batch if trial.trial_id not in self._done)
        return batch

    async def _all_ended(self) -> None:
        while self._under_way:
            self._settled.clear()
            await self._settled.wait()

    def _wanted(self, case: Iterable[Trial], number: int) -> Iterator[Trial]:
        """Those trials of a case that may still tell something."""
        for trial in case:
            is_certain = number == 0 or trial.trial_id in self._done or not self._heads[trial.suite_id].until_decided
            if is_certain or self._tells(trial):
                yield trial

    def _tells(self, trial: Trial) -> bool:
        lanes = [self._lanes[arms] for arms in self._open if trial.group in arms]
        if trial.repeat % _ROUNDS_OF_REST == 0:
            return bool(lanes)
        return any(not lane.is_settled(trial.case_index) for lane in lanes)

    def _undecided(self) -> set[Arms]:
        """The comparisons whose difference chance may explain, all of them together allowed for."""
        lanes = [lane for lane in self._lanes.values() if lane.pairs]
        chances = holm([chance_at_any_time(lane.discordant) for lane in lanes])
        return {lane.arms for lane, chance in zip(lanes, chances, strict=True) if chance > RARE}

    def _is_hopeless(self, arms: Arms, repeat: int) -> bool:
        """Tell whether the rounds that are left would hardly decide a comparison."""
        if repeat < _ROUNDS_BEFORE_GIVING_UP:
            return False
        lane = self._lanes[arms]
        left = max(self._heads[arms[0].suite_id].runs - repeat, 0) * lane.cases  # other suites may have more rounds
        level = RARE / len(self._undecided())
        return chance_to_decide(lane.discordant, lane.pairs, left, level) < PROSPECT
