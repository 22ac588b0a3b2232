"""Gates in words: what each asked, what came out, and all of a run in a few lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from skillgauge_documents.phrases import signed_points

from ..report.wording import labels, rest_text
from ..types.decided import GateAnswer
from ..types.gate import Gate, GateFigure
from ..types.results.summaries import Figure
from .gates import GateResult, merit

NAME = 80
"""Characters of each part of a name that are shown."""
NAMED = 5
"""Groups that are named in one sentence."""
_JOINED = 3
"""Sentences of gates that are joined into one."""


def gate_lines(results: Iterable[GateResult], *, with_met: bool) -> tuple[str, ...]:
    """Return a sentence for each answer that gates got: missed before open before met.

    Args:
        results: the gates that count.
        with_met: whether to name gates that are met.
    """
    by_answer: dict[GateAnswer, list[GateResult]] = {}
    for result in results:
        by_answer.setdefault(result.answer, []).append(result)
    wanted = (GateAnswer.MISSED, GateAnswer.INCONCLUSIVE, *([GateAnswer.MET] if with_met else []))
    return tuple(f"gate {answer}: {joined(by_answer[answer])}" for answer in wanted if answer in by_answer)


def joined(results: Sequence[GateResult]) -> str:
    """Return gates with the same answer as one sentence."""
    sentences = tuple(one_threshold(results))
    return "; ".join(sentences[:_JOINED]) + rest_text("; ", sentences, _JOINED)


def one_threshold(results: Iterable[GateResult]) -> Iterator[str]:
    """Yield each gate once, with all groups that have the same answer to it."""
    by_gate: dict[tuple[Gate, GateAnswer], list[GateResult]] = {}
    for result in results:
        if result.told:
            yield result.told
            continue
        by_gate.setdefault((result.gate, result.answer), []).append(result)
    for (gate, answer), same_gate in by_gate.items():
        figure = same_gate[0].figure
        yield f"{_compared(answer, gate.threshold, figure)}: {_values(same_gate)}"


def _values(results: Sequence[GateResult]) -> str:
    """The groups of a gate with their values, those that are farthest from meeting it first if not all are named."""
    named = results
    if len(results) > NAMED:
        named = sorted(results, key=_merit)[:NAMED]
    names = labels([result.group for result in named], NAME)
    values = [f"{name} {value_of(result)}" for name, result in zip(names, named, strict=True)]
    return ", ".join(values) + rest_text(" ", results, NAMED)


def _merit(result: GateResult) -> float:
    """The place of a group among those of a gate; lower is worse."""
    value = result.figure.value
    if value is None:
        return -math.inf
    return merit(value, result.figure)


def _compared(answer: GateAnswer, threshold: float, figure: Figure) -> str:
    """Say on which side of a threshold a figure is, or what leaves it open."""
    within, beyond = _sides(figure)
    limit = shown(threshold, figure)
    if answer is GateAnswer.MET:
        return f"{_label(figure)} {within} {limit}"
    if answer is GateAnswer.MISSED:
        return f"{_label(figure)} {beyond} {limit}"
    subject = "the lift" if figure.name == GateFigure.LIFT else _label(figure)
    reason = "errors leave"
    if figure.value is None and figure.note:
        reason = f"{figure.note}, which leaves"
    return f"{reason} open whether {subject} is {beyond} {limit}"


def _sides(figure: Figure) -> tuple[str, str]:
    """The words before a threshold that is met, and before one that is missed."""
    if figure.higher_is_better:
        return "at least", "below"
    return "at most", "above"


def _label(figure: Figure) -> str:
    """The name of a figure within a sentence."""
    return f"{figure.label[:1].lower()}{figure.label[1:]}" if figure.unit == "ratio" else figure.label


def value_of(result: GateResult) -> str:
    """The value of a gate's figure, or the bounds that leave the gate open."""
    figure, threshold = result.figure, result.gate.threshold
    value = "unknown" if figure.value is None else shown(figure.value, figure, threshold)
    if figure.bounds is None:
        return value
    span = " to ".join(shown(end, figure, threshold) for end in sorted(figure.bounds))
    if result.answer is GateAnswer.INCONCLUSIVE:
        return span
    if figure.name == GateFigure.LIFT:  # of complete pairs, while its bounds are of all cases and may exclude it
        return f"{value} ({span} with errors counted either way)"
    return value


def shown(value: float, figure: Figure, threshold: float | None = None) -> str:
    """A figure with one decimal, or as many as tell it from the threshold that it misses."""
    if figure.unit != "ratio":
        return f"{value:g}"
    text = _in_points if figure.name == GateFigure.LIFT else _in_percent
    digits = 1
    if threshold is not None and threshold != value:
        while digits < 6 and text(value, digits) == text(threshold, digits):
            digits += 1
    return text(value, digits)


def _in_percent(value: float, digits: int) -> str:
    return f"{value:.{digits}%}"


def _in_points(value: float, digits: int) -> str:
    return f"{signed_points(value, digits)} points"
