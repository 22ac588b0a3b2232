"""The numbers of the format that every reporter can print; those of results.json are made of its records."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api.report import Figure, GroupKey, PairSummary, SuiteSummary


def figures(summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    """Return the change that the skill made, for each candidate arm."""
    return {pair.candidate: tuple(_of_pair(pair)) for pair in summary.pairs}


def _of_pair(pair: PairSummary) -> list[Figure]:
    outcomes = pair.outcomes
    return [
        Figure(name="flip_to_pass", label="Turned to pass", value=outcomes.flip_to_pass, n=pair.n),
        Figure(
            name="flip_to_fail", label="Turned to fail", value=outcomes.flip_to_fail, higher_is_better=False, n=pair.n
        ),
    ]
