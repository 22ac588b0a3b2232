"""Gates in words: what each asked, what came out, and all of a run in a few lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from skillgauge_documents.phrases import signed_points

from ..report.wording import labels
from ..types.decided import GateAnswer
from ..types.gate import Gate, GateFigure
from ..types.result import Figure
from .gates import GateResult

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
    more = f"; and {len(sentences) - _JOINED} more" if len(sentences) > _JOINED else ""
    return "; ".join(sentences[:_JOINED]) + more


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
        if answer is GateAnswer.MET:
            limit = "at least" if figure.higher_is_better else "at most"
            compared = f"{_label(figure)} {limit} {shown(gate.threshold, figure)}"
        else:
            compared = _beyond(gate, figure, is_open=answer is GateAnswer.INCONCLUSIVE)
        yield f"{compared}: {_values(same_gate)}"


def _values(results: Sequence[GateResult]) -> str:
    """The groups of a gate with their values, those that are farthest from meeting it first if not all are named."""
    named = sorted(results, key=_merit)[:NAMED] if len(results) > NAMED else results
    names = labels([result.group for result in named], NAME)
    values = [f"{name} {value_of(result)}" for name, result in zip(names, named, strict=True)]
    more = f" and {len(results) - NAMED} more" if len(results) > NAMED else ""
    return ", ".join(values) + more


def _merit(result: GateResult) -> float:
    """The place of a group among those of a gate; lower is worse."""
    value = result.figure.value
    if value is None:
        return -math.inf
    return value if result.figure.higher_is_better else -value


def _beyond(gate: Gate, figure: Figure, *, is_open: bool) -> str:
    limit = "below" if figure.higher_is_better else "above"
    compared = f"{_label(figure)} {limit} {shown(gate.threshold, figure)}"
    if not is_open:
        return compared
    subject = "the lift" if figure.name == GateFigure.LIFT else _label(figure)
    return f"errors leave open whether {subject} is {limit} {shown(gate.threshold, figure)}"


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
    if figure.name == GateFigure.LIFT:
        return _in_points(value, threshold)
    digits = 1
    while threshold not in (None, value) and digits < 6 and f"{value:.{digits}%}" == f"{threshold:.{digits}%}":
        digits += 1
    return f"{value:.{digits}%}"


def _in_points(value: float, threshold: float | None) -> str:
    """A difference in points, with as many decimals as tell it from the threshold that it misses."""
    digits = 1
    if threshold is not None and threshold != value:
        while digits < 6 and signed_points(value, digits) == signed_points(threshold, digits):
            digits += 1
    return f"{signed_points(value, digits)} points"
