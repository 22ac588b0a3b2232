"""The effort of sessions, and the effort of one arm as a multiple of another's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..stats import LogRatio, mean_of
from ..types.comparison import Ratios, Spent
from ..types.results.trials import TrialResult, Verdict
from ..types.usage import Usage

_NO_USAGE = Usage()
"""Usage of which nothing is known."""


def spent_of(repeats: Iterable[TrialResult]) -> Spent:
    """Average the effort of those repeats of a case that passed, since a quick failure is no saving."""
    passed = [result.execution for result in repeats if result.verdict is Verdict.PASS]
    usages = [execution.usage or _NO_USAGE for execution in passed]
    return Spent(
        turns=mean_of([execution.trajectory.turns if execution.trajectory else None for execution in passed]),
        tokens=mean_of([_tokens(usage) for usage in usages]),
        duration_s=mean_of([execution.duration_s for execution in passed]),
        cost_usd=mean_of([usage.cost_usd for usage in usages]),
    )


def _tokens(usage: Usage) -> int | None:
    """All tokens of an execution; `None` if nothing is known of input, output or their sum."""
    if usage.total_tokens is None and (usage.input_tokens is None or usage.output_tokens is None):
        return None
    return usage.all_tokens


@dataclass
class EffortTally:
    """Adds up the ratios of the cases of one comparison."""

    _ratios: dict[str, LogRatio] = field(default_factory=lambda: defaultdict(LogRatio))

    def add(self, candidate: Spent, baseline: Spent) -> None:
        """Take one more case."""
        for (name, ours), (_, theirs) in zip(candidate, baseline, strict=True):
            self._ratios[name].add(ours, theirs)

    @property
    def ratios(self) -> Ratios:
        """The mean ratios of the cases so far."""
        return Ratios(**{name: ratio.mean for name, ratio in self._ratios.items()})
