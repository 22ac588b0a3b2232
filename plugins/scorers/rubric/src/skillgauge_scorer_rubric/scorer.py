"""A model's judgement as a score."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence

from skillgauge.api import Json, Judge, JudgeReply, JudgeRequest, Score, ScoreContext, ScoreStatus, Usage

from .answer import Answer, Unreadable, answer_of
from .options import RubricOptions
from .question import Question, question_of

PASSES_AT = 0.5
_QUESTIONS = 2
_RETRIES = 2
_BACKOFF_S = 1.0
_LONGEST_PAUSE_S = 30.0
_ANSWER_TOKENS = 4096
"""Far more than an answer has, since models that think before they answer count that, too."""
_MARKER_BYTES = 16


class RubricScorer:
    """Passes an output to which a judge gives at least 5 of 10; the value is a tenth of its number.

    Whatever keeps the judge from giving one leaves the check ungraded.
    """

    version = "1"

    def __init__(
        self,
        options: RubricOptions,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], str] = lambda: secrets.token_hex(_MARKER_BYTES),
    ) -> None:
        self._options = options
        self._sleep = sleep
        self._draw = draw

    async def score(self, context: ScoreContext) -> Score:
        """Ask the judge."""
        if context.judge is None:
            return Score.ungraded("no judge is configured: --judge NAME")
        options = self._options
        question = question_of(
            context.case, context.execution, options.criteria, options.reference, options.max_chars, self._draw
        )
        return await _Asking(context.judge, question, options, self._sleep).score()


class _Asking:
    """One question, until there is an answer or no hope for one."""

    def __init__(
        self, judge: Judge, question: Question, options: RubricOptions, sleep: Callable[[float], Awaitable[object]]
    ) -> None:
        self._judge = judge
        self._question = question
        self._options = options
        self._sleep = sleep
        self._calls = 0
        self._replies: list[JudgeReply] = []
        """Those that have a text."""

    async def score(self) -> Score:
        user, why = self._question.user, ""
        for _ in range(_QUESTIONS):
            reply = await self._ask(user)
            if reply.text is None:
                return self._unanswered(reply)
            try:
                return self._graded(answer_of(reply.text))
            except Unreadable as unreadable:
                why = str(unreadable)
                user = self._question.again(why)
        told = f"the judge's answer cannot be read, also when it was asked again: {why}"
        return Score.ungraded(told, evidence=self._evidence())

    async def _ask(self, user: str) -> JudgeReply:
        """Ask, and again if that may help, after the pause that was asked for."""
        request = JudgeRequest(
            system=self._question.system,
            user=user,
            model=self._options.model,
            temperature=self._options.temperature,
            max_output_tokens=_ANSWER_TOKENS,
        )
        for attempt in range(_RETRIES + 1):
            self._calls += 1
            reply = await self._judge.ask(request)
            if reply.text is not None:
                self._replies.append(reply)
                break
            pause_s = _BACKOFF_S * 2**attempt if reply.retry_after_s is None else reply.retry_after_s
            if not reply.retryable or attempt == _RETRIES or pause_s > _LONGEST_PAUSE_S:
                break
            await self._sleep(pause_s)
        return reply

    def _graded(self, answer: Answer) -> Score:
        value = answer.score / 10
        status = ScoreStatus.PASSED if value >= PASSES_AT else ScoreStatus.FAILED
        told = f"{answer.score:g} of 10"
        reason = f"{told}: {answer.reason}" if answer.reason else f"the judge gave {told}"
        return Score(status=status, value=value, reason=reason, evidence=self._evidence())

    def _unanswered(self, reply: JudgeReply) -> Score:
        told = reply.error or "it gave neither an answer nor an error"
        if reply.retry_after_s is not None and reply.retry_after_s > _LONGEST_PAUSE_S:
            told = f"{told} (it asks for a pause of {reply.retry_after_s:g} s)"
        calls = "" if self._calls == 1 else f" after {self._calls} calls"
        return Score.ungraded(f"the judge failed{calls}: {told}"[:2000], evidence=self._evidence())

    def _evidence(self) -> Json:
        last = self._replies[-1] if self._replies else None
        usage = _sum([reply.usage for reply in self._replies])
        return {
            "reply": last.text if last else None,
            "model": last.model if last else None,
            "usage": usage.model_dump(exclude_none=True) if usage else None,
            "calls": self._calls,
            **({"characters_left_out": self._question.left_out} if self._question.left_out else {}),
        }


def _sum(usages: Sequence[Usage | None]) -> Usage | None:
    """Usage of all answers; what one of them does not tell is unknown."""
    told = [usage.model_dump(exclude={"cost_basis"}) for usage in usages if usage is not None]
    if not told or len(told) < len(usages):
        return None
    sums = {}
    for name in told[0]:
        values = [one[name] for one in told]
        sums[name] = None if None in values else sum(values)
    return Usage(**sums, cost_basis=usages[0].cost_basis if usages[0] else None)
