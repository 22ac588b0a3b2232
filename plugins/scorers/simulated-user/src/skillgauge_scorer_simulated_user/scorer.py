"""A model that plays the user, asked as a check of the conversation so far."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from skillgauge.api import FrozenDict, Json, JudgeReply, JudgeRequest, Score, ScoreContext, ScoreStatus, Usage
from skillgauge_judge_answers import Unreadable

from .options import UserOptions
from .question import Question, Reply, instructions_of, prompt_digest, question_of
from .script import OVER, said_so_far, written_score

Sleep = Callable[[float], Awaitable[object]]
_QUESTIONS, _RETRIES, _BACKOFF_S, _LONGEST_PAUSE_S = 2, 2, 1.0, 300.0
_ANSWER_TOKENS = 4096


class SimulatedUser:
    """Passes when the user has nothing more to say; else `says` of the evidence is the next message.

    Whatever keeps the model from an answer leaves it ungraded, which is an error of the trial and no fail of the skill.
    """

    version = "1"

    def __init__(self, options: UserOptions, *, sleep: Sleep = asyncio.sleep) -> None:
        self._options = options
        self._sleep = sleep

    async def score(self, context: ScoreContext) -> Score:
        """Ask the model what the user says next."""
        respond = None
        if self._options.messages:
            at = said_so_far(context.case, context.execution)
            if at >= len(self._options.messages):
                return OVER
            message = self._options.messages[at]
            if message.says is not None:
                return written_score(message.says, self._options.captures, context.execution)
            respond = message.respond
        if context.judge is None:
            return Score.ungraded("no judge is configured that could play the user: --judge NAME")
        return await self._made_up(context, respond)

    async def _made_up(self, context: ScoreContext, respond: str | None) -> Score:
        """Ask the model for a message: one that it has to say, or whatever comes next."""
        options, prompt = self._options, dict(context.case.arm_prompts).get(context.arm.name, context.case.prompt)
        question = question_of(
            instructions_of(options, respond),
            context.case,
            prompt or "",
            context.execution,
            options.max_chars,
            must_reply=respond is not None,
        )
        replies: list[JudgeReply] = []
        user, why = question.user, ""
        for _ in range(_QUESTIONS):
            reply = await self._ask(context, question, user)
            if reply.text is None:
                return self._score(question, replies, None, f"the judge failed: {reply.error or 'no answer'}")
            replies.append(reply)
            try:
                return self._score(question, replies, question.read(reply.text), "")
            except Unreadable as unreadable:
                why = str(unreadable)
                user = question.again(why)
        return self._score(question, replies, None, f"its answer cannot be read, also when it was asked again: {why}")

    async def _ask(self, context: ScoreContext, question: Question, user: str) -> JudgeReply:
        """Ask, and again if that may help, after the pause that was asked for."""
        assert context.judge is not None
        request = JudgeRequest(
            system=question.system,
            user=user,
            model=self._options.model,
            temperature=self._options.temperature,
            max_output_tokens=_ANSWER_TOKENS,
        )
        reply = await context.judge.ask(request)
        for attempt in range(_RETRIES):
            pause_s = _BACKOFF_S * 2**attempt if reply.retry_after_s is None else reply.retry_after_s
            if reply.text is not None or not reply.retryable or pause_s > _LONGEST_PAUSE_S:
                break
            await self._sleep(pause_s)
            reply = await context.judge.ask(request)
        return reply

    def _score(self, question: Question, replies: list[JudgeReply], reply: Reply | None, failure: str) -> Score:
        usage = Usage.total([one.usage for one in replies if not one.cached])
        evidence: dict[str, Json] = {"prompt": prompt_digest(), "model": replies[-1].model if replies else None}
        if signs := question.exhibits.signs:
            evidence["speaks_to_user"] = dict(signs)
        if reply is None:
            status, reason, value = ScoreStatus.UNGRADED, failure, None
        elif reply.says is None:
            status, reason, value = ScoreStatus.PASSED, reply.why or "the user has nothing more to say", 1.0
        else:
            status, reason, value = ScoreStatus.FAILED, "the user goes on", 0.0
            evidence["says"] = reply.says
        return Score(status=status, value=value, reason=reason, evidence=FrozenDict(evidence), usage=usage)
