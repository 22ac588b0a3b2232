"""The answer to the question that a run was made for, in words: does the skill help, by how much, how sure is that.

The words are those of docs/statistics.md; every report and the terminal take them from here.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge_documents.phrases import chance_text, counted, points

from ..stats import Evidence, Finding, MeanRatio
from ..types.comparison import DroppedCounts, PairSummary
from ..types.result import RunView
from .wording import labels

_FINDINGS = {
    Finding.HELPS: " helps",
    Finding.HURTS: " hurts",
    Finding.NO_DIFFERENCE: " makes no meaningful difference",
    Finding.UNDECIDED: ": not enough data",
}
_NAMES = {"turns": "turns", "tokens": "tokens", "duration_s": "time", "cost_usd": "cost"}
"""Of the fields of `Ratios`."""


def compared(view: RunView) -> tuple[PairSummary, ...]:
    """The comparisons of a run that can prove anything: not of invalid suites, nor of cases chosen by their results."""
    if view.head.is_chosen:
        return ()
    valid = {validity.suite_id for validity in view.summary.validity if validity.valid}
    return tuple(pair for pair in view.summary.pairs if pair.candidate.suite_id in valid)


def sentences(view: RunView) -> Iterator[str]:
    """One for each comparison that proves anything: finding, lift with interval, cases, errors, and what it took."""
    pairs = compared(view)
    for label, pair in zip(labels([pair.candidate for pair in pairs]), pairs, strict=True):
        yield f"{label}{_answer(pair)}"


def _answer(pair: PairSummary) -> str:
    """Say what a comparison shows, after the name of the candidate arm."""
    against = f"against {pair.baseline.arm}"
    evidence = pair.evidence
    if evidence is None:
        return f" cannot be compared {against}: no case has a result in both arms{_dropped(pair.dropped)}"
    cases = f"{_cases(evidence)}{_dropped(pair.dropped)}"
    basis = f"{_interval(evidence)}{cases}, {chance_text(evidence.chance)}{_look(evidence)}"
    lift = f"{points(evidence.estimate)} {against} ({basis})"
    if evidence.finding not in (Finding.HELPS, Finding.HURTS):
        return f"{_FINDINGS[evidence.finding]}: {lift}; {detectable_text(evidence.detectable)}{_took(pair)}"
    scope = "" if evidence.is_general else " on these cases"
    return f"{_FINDINGS[evidence.finding]}{scope}: {lift}{_took(pair)}"


def _cases(evidence: Evidence) -> str:
    cases = f"n = {counted(evidence.n, 'case')}"
    if evidence.clusters:
        cases += f" in {counted(evidence.clusters, 'cluster')}"
    return cases


def lift_interval_text(evidence: Evidence) -> str:
    """The bounds of a lift for new cases, or why there are none."""
    if evidence.interval is None:
        return "too few cases for one on new cases"
    return f"{evidence.interval.lower * 100:+.1f} to {evidence.interval.upper * 100:+.1f}"


def detectable_text(detectable: float | None) -> str:
    """Say what a suite could have shown at all."""
    if detectable is None:
        return "no outcome of so few runs is beyond chance"
    return f"it could only have shown {detectable * 100:.0f} points or more"


def _interval(evidence: Evidence) -> str:
    if evidence.interval is None:
        return ""
    return f"{confidence_text(evidence.interval.level)} interval {lift_interval_text(evidence)}, "


def confidence_text(level: float) -> str:
    """A confidence level in percent, with as many digits as tell it from certainty."""
    for digits in range(5):
        text = f"{level:.{digits}%}"
        if round(level, digits + 2) < 1.0 and abs(round(level, digits + 2) - level) < (1.0 - level) / 10:
            return text
    return f"{level:.5%}"


def _look(evidence: Evidence) -> str:
    """Say how much a later look at growing results demands."""
    if evidence.look == 1:
        return ""
    return f", at look {evidence.look} at most {evidence.level:.2g} decides"


def _dropped(dropped: DroppedCounts) -> str:
    """Cases that are not compared, and why."""
    reasons = [f"{count} for {name.replace('_', ' ')}" for name, count in dropped if count]
    if not reasons:
        return ""
    return f", dropped: {', '.join(reasons)}"


def _took(pair: PairSummary) -> str:
    """Tell what the candidate arm took, where both arms passed: a quick failure is no saving."""
    ratios: dict[str, MeanRatio] = {name: ratio for name, ratio in pair.ratios if ratio}
    if not ratios:
        return ""
    texts = {name: f"{ratio.ratio:.2f} times the {_NAMES[name]}" for name, ratio in ratios.items()}
    counts = {name: counted(ratio.n, "case") for name, ratio in ratios.items()}
    if len(set(counts.values())) == 1:
        return f"; where both passed ({next(iter(counts.values()))}): {', '.join(texts.values())}"
    return f"; where both passed: {', '.join(f'{text} ({counts[name]})' for name, text in texts.items())}"
