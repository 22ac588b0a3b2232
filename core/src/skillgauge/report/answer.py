"""The answer to the question that a run was made for, in words: does the skill help, by how much, how sure is that.

The words are those of docs/statistics.md; every report and the terminal take them from here.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from skillgauge_documents.phrases import chance_text, counted, percent, points, signed_points

from ..stats import Evidence, Finding, GradedEvidence, Interval, MeanRatio
from ..types.comparison import DroppedCounts, PairSummary, Ratios
from ..types.results.runs import RunView
from .stopping import PlannedSessions
from .wording import interval_text, labels, prefixed

_FINDINGS = {
    Finding.HELPS: " helps",
    Finding.HURTS: " hurts",
    Finding.NO_DIFFERENCE: " makes no meaningful difference",
}
_SAME = ", compared with itself, differs by noise alone"
"""In place of a finding, where both arms are made alike."""
_NAMES = {"turns": "turns", "tokens": "tokens", "duration_s": "time", "cost_usd": "cost"}
"""Of the fields of `Ratios`."""


def compared(view: RunView) -> tuple[PairSummary, ...]:
    """The comparisons of a run that can prove anything: not those with many errors, nor of chosen cases."""
    if view.head.is_chosen:
        return ()
    valid = {validity.suite_id for validity in view.summary.validity if validity.valid}
    return tuple(pair for pair in view.summary.pairs if _is_valid(pair, valid))


def _is_valid(pair: PairSummary, valid_suites: Container[str]) -> bool:
    if pair.is_valid is None:
        return pair.candidate.suite_id in valid_suites
    return pair.is_valid


def sentences(view: RunView) -> Iterator[str]:
    """One for each comparison that proves anything: finding, lift with interval, cases, errors, and what it took."""
    candidates = [pair.candidate for pair in view.summary.pairs]
    names = dict(zip(candidates, labels(candidates), strict=True))  # told apart from those that prove nothing, too
    sessions = PlannedSessions.of(view)
    for pair in compared(view):
        yield f"{names[pair.candidate]}{_answer(pair, sessions.stop_text(pair))}"


def _answer(pair: PairSummary, stop: str) -> str:
    """Say what a comparison shows and why it was not run any further, after the name of the candidate arm."""
    against = f"against {pair.baseline.arm}"
    evidence = pair.evidence
    if evidence is None:
        return f" cannot be compared {against}: no case has a result in both arms{_dropped(pair.dropped)}"
    lift = f"{points(evidence.estimate)} {against} ({_basis(pair, evidence)})"
    texts = [f"{_SAME if pair.is_same else _heading(evidence)}: {lift}"]
    if evidence.finding is Finding.UNDECIDED and not pair.is_same:
        texts.append(shortfall_text(evidence))
    return "; ".join(filter(None, (*texts, stop, *_beside(pair))))


def _heading(evidence: Evidence) -> str:
    """The finding, and of which cases it holds."""
    if evidence.finding is Finding.UNDECIDED:
        return ": not enough data" if _has_room(evidence) else ": no room for a difference"
    scope = "" if evidence.is_general else " on these cases"
    return f"{_FINDINGS[evidence.finding]}{scope}"


def _has_room(evidence: Evidence) -> bool:
    return evidence.always + evidence.never < evidence.n


def _basis(pair: PairSummary, evidence: Evidence) -> str:
    """The cases behind a lift, and what is known of these cases and of new ones."""
    cases = f"n = {_cases(evidence)}{_dropped(pair.dropped)}"
    here = f"these cases: {interval_here_text(evidence)}, {chance_here_text(evidence)}"
    parts = [cases, f"{here}{_demand(evidence)}"]
    if evidence.interval and evidence.chance_new is not None:
        parts.append(f"new cases: {interval_new_text(evidence)}, {chance_text(evidence.chance_new)}")
    if pair.lift_bounds:
        parts.append(f"over all cases, errors counted either way: {span_text(pair.lift_bounds)}")
    return "; ".join(parts)


def _cases(evidence: Evidence) -> str:
    cases = counted(evidence.n, "case")
    if evidence.clusters:
        cases += f" in {counted(evidence.clusters, 'cluster')}"
    return cases


def interval_here_text(evidence: Evidence) -> str:
    """The bounds of a lift for these cases, with their confidence."""
    return _interval_text(evidence.interval_here)


def chance_here_text(evidence: Evidence) -> str:
    """The chance of the lift of these cases if the arms are alike, and whether it holds at every look."""
    return f"{chance_text(evidence.chance)}{' at any look' if evidence.discordant else ''}"


def interval_new_text(evidence: Evidence) -> str:
    """The bounds of a lift for new cases, with their confidence, or why there are none."""
    if evidence.interval is None:
        return "too few cases for one on new cases"
    return _interval_text(evidence.interval)


def _interval_text(interval: Interval) -> str:
    bounds = f"{signed_points(interval.lower)} to {signed_points(interval.upper)}"
    return f"{confidence_text(interval.level)} interval {bounds}"


def span_text(bounds: tuple[float, float]) -> str:
    """The bounds of a difference in points."""
    return f"{signed_points(bounds[0])} to {signed_points(bounds[1])} points"


def shortfall_text(evidence: Evidence) -> str:
    """Say why a comparison shows nothing: its cases leave no room, or its runs are too few."""
    if not _has_room(evidence):
        return _no_room_text(evidence)
    texts = [] if evidence.discordant else [detectable_text(evidence.detectable)]
    if evidence.always:
        texts.append(f"{evidence.always} of {counted(evidence.n, 'case')} always passed in both arms")
    if evidence.never:
        texts.append(f"{evidence.never} of {counted(evidence.n, 'case')} never passed in either arm")
    return "; ".join(texts)


def _no_room_text(evidence: Evidence) -> str:
    if not evidence.never:
        return "every case always passes in both arms; harder ones could show one"
    if not evidence.always:
        return "no case ever passes in either arm: they are too hard, or broken"
    return f"in both arms {evidence.always} always pass and {evidence.never} never; cases in between could show one"


def detectable_text(detectable: float | None) -> str:
    """Say what a suite could have shown at all."""
    if detectable is None:
        return "no outcome of so few runs is beyond chance"
    return f"a lift of {detectable * 100:.0f} points is found four times out of five, at worst"


def confidence_text(level: float) -> str:
    """A confidence level in percent, with as many digits as tell it from certainty."""
    for digits in range(5):
        text = f"{level:.{digits}%}"
        if round(level, digits + 2) < 1.0 and abs(round(level, digits + 2) - level) < (1.0 - level) / 10:
            return text
    return f"{level:.5%}"


def _demand(evidence: Evidence) -> str:
    """Say how much a later look at growing results demands, and one of several comparisons."""
    occasions = []
    if evidence.look > 1:
        occasions.append(f"at look {evidence.look}")
    if evidence.comparisons > 1:
        occasions.append(f"of {evidence.comparisons} comparisons")
    return f", {' '.join(occasions)} at most {evidence.level:.2g} decides" if occasions else ""


def _dropped(dropped: DroppedCounts) -> str:
    """Cases that are not compared, and why."""
    reasons = (f"{count} for {name.replace('_', ' ')}" for name, count in dropped if count)
    return prefixed(", dropped: ", ", ".join(reasons))


def _beside(pair: PairSummary) -> Iterator[str]:
    """Yield what else a comparison shows: partial credit, skills that did not fire, and what it took."""
    if pair.graded:
        yield _graded_text(pair.graded)
    if pair.fired and pair.fired.fired < pair.fired.sessions:
        yield f"a skill fired in {pair.fired.fired} of {counted(pair.fired.sessions, 'session')}{_split_text(pair)}"
    if pair.noise and pair.noise.rate:
        bounds = f"{pair.noise.level:.0%} interval {interval_text(pair.noise)}"
        yield f"two sessions of the same case and arm disagree in {percent(pair.noise.rate)} ({bounds})"
    yield from _took(pair)


def _split_text(pair: PairSummary) -> str:
    """Say what the two parts of an arm show whose skills fired in some sessions only."""
    if pair.by_firing is None:
        return ""
    parts = (pair.by_firing.fired, pair.by_firing.silent)
    fired, silent = (", ".join([points(part.lift), *_multiples(part.ratios)]) for part in parts)
    return f" (where it did: {fired}; where not: {silent}; not randomised)"


def _multiples(ratios: Ratios) -> Iterator[str]:
    """Yield the tokens and the cost of sessions beside the baseline arm's, where they are known."""
    for name, ratio in (("tokens", ratios.tokens), ("cost_usd", ratios.cost_usd)):
        if ratio:
            yield f"{ratio.ratio:.2f} times the {_NAMES[name]}"


def _graded_text(graded: GradedEvidence) -> str:
    text = f"partial credit {points(graded.estimate)}"
    if graded.interval is None or graded.chance_new is None:
        return text
    return f"{text} (new cases: {_interval_text(graded.interval)}, {chance_text(graded.chance_new)})"


def _took(pair: PairSummary) -> Iterator[str]:
    """Yield what the candidate arm took where both arms passed, since a quick failure is no saving.

    Ratios that may be noise around 1 are left out.
    """
    ratios: dict[str, MeanRatio] = {name: ratio for name, ratio in pair.ratios if ratio and ratio.is_beyond_noise}
    if not ratios:
        return
    texts = {name: f"{_ratio_text(ratio)} the {_NAMES[name]}" for name, ratio in ratios.items()}
    counts = {name: counted(ratio.n, "case") for name, ratio in ratios.items()}
    if len(set(counts.values())) == 1:
        yield f"where both passed ({next(iter(counts.values()))}): {', '.join(texts.values())}"
    else:
        yield f"where both passed: {', '.join(f'{text} in {counts[name]}' for name, text in texts.items())}"


def _ratio_text(ratio: MeanRatio) -> str:
    """The ratio with its bounds, unless the same multiple was seen in every case."""
    mean, lower, upper = (f"{value or 0.0:.2f}" for value in (ratio.ratio, ratio.lower, ratio.upper))
    bounds = "" if lower == mean == upper else f" ({lower} to {upper})"
    return f"{mean}{bounds} times"
