"""A model's judgement as a score."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from skillgauge.api import EMPTY, FrozenDict, Json, Judge, Score, ScoreContext, ScoreStatus, Usage

from .asking import Ballot, Sleep, ask
from .material import NotThere, material_of
from .options import RubricOptions
from .panel import decide
from .question import Mark, Question, prompt_digest, question_of, secret_mark
from .shapes import Claims, Shape, shape_of
from .telling import Telling
from .together import Round, round_of


class RubricScorer:
    """Passes what a judge, or most of a panel, finds good.

    Claims of several checks of a trial are asked in one question, with the first of them. Whatever keeps the judges
    from a verdict leaves the check ungraded.
    """

    version = "5"

    def __init__(self, options: RubricOptions, *, sleep: Sleep = asyncio.sleep, mark: Mark = secret_mark) -> None:
        self._options = options
        self._shape = shape_of(options)
        self._asked = {"prompt": prompt_digest(self._shape), "rubric": options.digest}
        """What a comparison of the judge with people holds for, beside the judge itself."""
        self._sleep = sleep
        self._mark = mark

    async def score(self, context: ScoreContext) -> Score:
        """Ask the judges, or find what they have answered together with another check."""
        if context.judge is None:
            return Score.ungraded("no judge is configured: --judge NAME")
        try:
            if self._options.claims is None:
                return self._score(*await self._ask(context, self._shape))
            return await self._score_of_round(context, round_of(context, self._options))
        except NotThere as gone:
            return Score.ungraded(str(gone))

    async def _score_of_round(self, context: ScoreContext, round_: Round) -> Score:
        if round_.key not in context.shared:
            context.shared[round_.key] = await self._ask(context, Claims(round_.claims))
        question, ballots = context.shared[round_.key]
        asked_with: dict[str, Json] = {} if round_.first == context.check.id else {"asked_with": round_.first}
        return self._score(question, round_.share(ballots, context.check.id), asked_with)

    async def _ask(self, context: ScoreContext, shape: Shape) -> tuple[Question, Sequence[Ballot]]:
        options = self._options
        material = await material_of(context, with_trajectory=options.trajectory, with_files=options.files)
        reference, style = options.reference, context.answer.style
        case = context.case
        if context.check.turn is not None:
            case = case.model_copy(update={"turns": case.turns[: context.check.turn]})
        question = question_of(shape, case, material, reference, options.max_chars, self._mark, style)
        # A check that names a model is for one judge: the others of a panel do not serve it.
        judges: Sequence[Judge | None] = (context.panel if options.model is None else ()) or (context.judge,)
        questions = (ask(judge, question, options, self._sleep) for judge in judges if judge is not None)
        return question, await asyncio.gather(*questions)

    def _score(self, question: Question, ballots: Sequence[Ballot], more: Mapping[str, Json] = EMPTY) -> Score:
        answers = [ballot.answer for ballot in ballots if ballot.answer is not None]
        decision = decide(answers, len(ballots), self._shape.passes_at)
        telling = Telling(self._shape, decision, ballots, question.exhibits.signs)
        usage = Usage.total([ballot.usage for ballot in ballots if ballot.fresh])
        evidence = FrozenDict({**telling.evidence(question.left_out), **self._asked, **more})
        if not decision.is_decided:
            return Score(status=ScoreStatus.UNGRADED, reason=telling.why_undecided(), evidence=evidence, usage=usage)
        return Score(
            status=ScoreStatus.PASSED if decision.passes else ScoreStatus.FAILED,
            value=decision.value,
            reason=telling.reason(),
            evidence=evidence,
            usage=usage,
        )
