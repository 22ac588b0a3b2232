"""One judge is asked until it has answered or there is no hope for that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from skillgauge.api import LONGEST_PAUSE_S, Judge, JudgeReply, JudgeRequest, Usage
from skillgauge_judge_answers import Unreadable

from .options import RubricOptions
from .question import Question
from .reading import Answer

Sleep = Callable[[float], Awaitable[object]]

_QUESTIONS = 2
_RETRIES = 2
_BACKOFF_S = 1.0
_ANSWER_TOKENS = 4096
_TOKENS_A_STATEMENT = 256
"""Both far more than an answer has, since models that think before they answer count that, too."""
_TOLD = 2_000


@dataclass(frozen=True)
class Ballot:
    """The answer of one judge, or the reason why there is none."""

    judge: str
    """Its name."""
    answer: Answer | None
    failure: str
    """Why there is no answer; else empty."""
    text: str | None
    """Its last reply as it came, but for the marker."""
    model: str | None
    """The model that answered."""
    usage: Usage | None
    calls: int
    fresh: int
    """Replies that a model made for this question."""
    cached: int
    """Replies that were remembered."""

    def document(self) -> dict[str, str | int | None]:
        """For the evidence of a score."""
        if not self.calls:  # they were made for another check
            return {"model": self.model}
        cached = {"cached": self.cached} if self.cached else {}
        return {"reply": self.text, "model": self.model, "calls": self.calls, **cached}


async def ask(judge: Judge, question: Question, options: RubricOptions, sleep: Sleep = asyncio.sleep) -> Ballot:
    """Put a question to a judge; an answer that cannot be read is asked for once more."""
    return await _Asking(judge, question, options, sleep).ballot()


class _Asking:
    def __init__(self, judge: Judge, question: Question, options: RubricOptions, sleep: Sleep) -> None:
        self._judge = judge
        self._question = question
        self._options = options
        self._sleep = sleep
        self._calls = 0
        self._replies: list[JudgeReply] = []
        """Those that have a text."""

    async def ballot(self) -> Ballot:
        question, user, why = self._question, self._question.user, ""
        for _ in range(_QUESTIONS):
            reply = await self._reply(user)
            if reply.text is None:
                return self._ballot(None, self._unanswered(reply))
            try:
                return self._ballot(question.shape.read(reply.text, question.marker, question.exhibits), "")
            except Unreadable as unreadable:
                why = str(unreadable)
                user = question.again(why)
        return self._ballot(None, f"the judge's answer cannot be read, also when it was asked again: {why}")

    async def _reply(self, user: str) -> JudgeReply:
        """Ask, and again if that may help, after the pause that was asked for."""
        request = JudgeRequest(
            system=self._question.system,
            user=user,
            model=self._options.model,
            temperature=self._options.temperature,
            max_output_tokens=_ANSWER_TOKENS + _TOKENS_A_STATEMENT * self._question.shape.size,
        )
        for attempt in range(_RETRIES + 1):
            self._calls += 1
            reply = await self._judge.ask(request)
            if reply.text is not None:
                self._replies.append(reply)
                break
            pause_s = _BACKOFF_S * 2**attempt if reply.retry_after_s is None else reply.retry_after_s
            if not reply.retryable or attempt == _RETRIES or pause_s > LONGEST_PAUSE_S:
                break
            await self._sleep(pause_s)
        return reply

    def _unanswered(self, reply: JudgeReply) -> str:
        message = reply.error or "it gave neither an answer nor an error"
        if reply.retry_after_s is not None and reply.retry_after_s > LONGEST_PAUSE_S:
            message = f"{message} (it asks for a pause of {reply.retry_after_s:g} s)"
        calls = "" if self._calls == 1 else f" after {self._calls} calls"
        return f"the judge failed{calls}: {message}"[:_TOLD]

    def _ballot(self, answer: Answer | None, failure: str) -> Ballot:
        last = self._replies[-1] if self._replies else None
        return Ballot(
            judge=self._judge.identity(self._options.model).name,
            answer=answer,
            failure=failure,
            text=last.text.replace(self._question.marker, "<marker>") if last and last.text else None,
            model=last.model if last else None,
            usage=Usage.total([reply.usage for reply in self._replies if not reply.cached]),
            calls=self._calls,
            fresh=sum(not reply.cached for reply in self._replies),
            cached=sum(reply.cached for reply in self._replies),
        )
