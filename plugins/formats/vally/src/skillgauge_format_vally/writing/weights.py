"""From weights of checks to weights of types of graders."""

from __future__ import annotations

from collections.abc import Sequence

Weighted = Sequence[tuple[str, float]]
"""Type and weight of each grader of a stimulus; the type of a constraint is empty."""


def type_weights(stimuli: Sequence[Weighted]) -> dict[str, float] | None:
    """Return weights by which each grader has its own again; empty if all are 1, `None` if there are none.

    Args:
        stimuli: the graders of each.
    """
    if all(weight == 1 for graders in stimuli for _, weight in graders):
        return {}
    weights: dict[str, float] = {}
    for graders in stimuli:
        by_type: dict[str, list[float]] = {}
        for kind, weight in graders:
            by_type.setdefault(kind, []).append(weight)
        for kind, of_type in by_type.items():
            total = sum(of_type)
            if not _is_alike(of_type, of_type[0]) or not _is_alike([total], weights.setdefault(kind, total)):
                return None
    return weights if weights.pop("", 1.0) == 1 else None


def _is_alike(weights: Sequence[float], expected: float) -> bool:
    return all(abs(weight - expected) <= 1e-9 for weight in weights)
