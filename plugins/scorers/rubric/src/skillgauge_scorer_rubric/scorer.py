"""A model's judgement as a score."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from skillgauge.api import Judge, Score, ScoreContext, ScoreStatus

from .asking import Ballot, Sleep, ask, total
from .material import NotThere, material_of
from .options import RubricOptions
from .panel import decide
from .question import Mark, Question, question_of, secret_mark
from .shapes import shape_of
from .telling import Telling


class RubricScorer:
    """Passes what a judge, or most of a panel, finds good.

    Whatever keeps them from a verdict leaves the check ungraded.
    """

    version = "3"

    def __init__(self, options: RubricOptions, *, sleep: Sleep = asyncio.sleep, mark: Mark = secret_mark) -> None:
        self._options = options
        self._shape = shape_of(options)
        self._sleep = sleep
        self._mark = mark

    async def score(self, context: ScoreContext) -> Score:
        """Ask the judges."""
        options = self._options
        if context.judge is None:
            return Score.ungraded("no judge is configured: --judge NAME")
        try:
            material = await material_of(context, with_trajectory=options.trajectory, with_files=options.files)
        except NotThere as gone:
            return Score.ungraded(str(gone))
        reference, style = options.reference, context.answer.style
        question = question_of(self._shape, context.case, material, reference, options.max_chars, self._mark, style)
        # A check that names a model is for one judge: the others of a panel do not serve it.
        judges: Sequence[Judge] = context.panel if options.model is None else ()
        asked = (ask(judge, question, options, self._sleep) for judge in judges or (context.judge,))
        return self._score(question, await asyncio.gather(*asked))

    def _score(self, question: Question, ballots: Sequence[Ballot]) -> Score:
        answers = [ballot.answer for ballot in ballots if ballot.answer is not None]
        decision = decide(answers, len(ballots), self._shape.passes_at)
        telling = Telling(self._shape, decision, ballots)
        usage = total([ballot.usage for ballot in ballots if ballot.fresh])
        evidence = telling.evidence(question.left_out)
        if not decision.is_decided:
            return Score(status=ScoreStatus.UNGRADED, reason=telling.why_undecided(), evidence=evidence, usage=usage)
        return Score(
            status=ScoreStatus.PASSED if decision.passes else ScoreStatus.FAILED,
            value=decision.value,
            reason=telling.reason(),
            evidence=evidence,
            usage=usage,
        )
