"""The questions to put to a person about what a judge has decided."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import CaseHead, TrialResult
from skillgauge.api.report import RunView

from .grading import Judged, answer_digest, statements_of


@dataclass(frozen=True)
class Question:
    """A check to be labelled."""

    judged: Judged
    case: CaseHead | None
    statements: tuple[str, ...]
    result: TrialResult


def without_label(judged: Sequence[Judged], labelled: Mapping[tuple[str, str, str], bool], seed: int) -> list[Judged]:
    """Return the checks still to be labelled, in an order that is random and the same for the same run."""
    unique = {one.key: one for one in reversed(judged)}
    draw = random.Random(seed).random
    places = {key: draw() for key in sorted(unique)}
    return [unique[key] for key in sorted(unique, key=places.__getitem__) if key not in labelled]


def questions(view: RunView, judged: Sequence[Judged]) -> dict[tuple[str, str, str], Question]:
    """The questions about some checks; the results are read once, and only what is asked about is kept."""
    cases = {(case.suite_id, case.id): case for case in view.cases()}
    keys = {one.key: one for one in judged}
    executions = {one.execution_id for one in judged}
    by_key: dict[tuple[str, str, str], Question] = {}
    for result in view.results():
        answer = answer_digest(result.execution) if result.execution_id in executions else ""
        for score in result.scores:
            key = (result.execution_id, score.check_id, answer)
            if key in keys and key not in by_key:
                case = cases.get((result.suite_id, result.case_id))
                by_key[key] = Question(keys[key], case, statements_of(score), result)
    return by_key
