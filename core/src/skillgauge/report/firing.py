"""The sessions of an arm in which a skill fired, and those in which none did, each beside the other arm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..stats import PairedDifference
from ..types.comparison import CaseSessions, CaseSummary, FiredCounts, FiringPart, FiringSplit
from ..types.results.trials import TrialResult, Verdict
from .effort import EffortTally, spent_of


def sessions_by_firing(graded: Iterable[TrialResult]) -> tuple[CaseSessions | None, CaseSessions | None]:
    """Split the graded repeats of a case into those in which a skill fired and those in which none did.

    Sessions that do not tell are in neither; a part without a session is `None`.
    """
    fired: list[TrialResult] = []
    silent: list[TrialResult] = []
    for result in graded:
        trajectory = result.execution.trajectory
        if trajectory is not None and trajectory.skills_fired is not None:
            (fired if trajectory.skills_fired else silent).append(result)
    return _sessions(fired), _sessions(silent)


def _sessions(repeats: Sequence[TrialResult]) -> CaseSessions | None:
    if not repeats:
        return None
    passed = sum(result.verdict is Verdict.PASS for result in repeats)
    return CaseSessions(passed=passed, sessions=len(repeats), spent=spent_of(repeats))


@dataclass
class _PartTally:
    """Adds up one part of the sessions of a comparison."""

    sessions: int = 0
    difference: PairedDifference = field(default_factory=PairedDifference)
    effort: EffortTally = field(default_factory=EffortTally)

    def add(self, ours: CaseSessions | None, theirs: CaseSummary) -> None:
        if ours is None:
            return
        self.sessions += ours.sessions
        if theirs.counts.pass_share is not None:
            self.difference.add(ours.pass_share, theirs.counts.pass_share)
        self.effort.add(ours.spent, theirs.spent)

    @property
    def part(self) -> FiringPart | None:
        """The part; `None` without a case that can be compared."""
        lift = self.difference.mean
        if lift is None:
            return None
        return FiringPart(sessions=self.sessions, n=self.difference.n, lift=lift, ratios=self.effort.ratios)


@dataclass
class FiringTally:
    """Adds up the sessions of one comparison by whether a skill fired in them."""

    counts: FiredCounts | None = None
    """All sessions of the candidate arm that tell; `None` without any."""
    _fired: _PartTally = field(default_factory=_PartTally)
    _silent: _PartTally = field(default_factory=_PartTally)

    def add(self, ours: CaseSummary, theirs: CaseSummary) -> None:
        """Take one more case, in the candidate arm and in the baseline arm."""
        if ours.fired:
            self.counts = ours.fired.plus(self.counts)
        self._fired.add(ours.fired_sessions, theirs)
        self._silent.add(ours.silent_sessions, theirs)

    @property
    def split(self) -> FiringSplit | None:
        """Both parts; `None` unless each has a case that can be compared."""
        fired, silent = self._fired.part, self._silent.part
        return FiringSplit(fired=fired, silent=silent) if fired and silent else None
