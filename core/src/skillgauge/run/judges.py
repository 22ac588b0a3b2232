"""A judge that is asked within its limits: no secret leaves, nothing is asked twice, its service is not overrun."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from weakref import WeakValueDictionary

from skillgauge_documents.frozen import digest_text

from ..contract.judges import Judge, JudgeReply, JudgeRequest
from ..errors import Problem
from ..types.trial import Failure, FailureClass, Identity
from .budget import current_meter
from .services import NotTried, Services

REMEMBERED = 4096
"""Answers that a run remembers of each judge; the oldest are forgotten, so that memory does not grow with trials."""


class GuardedJudge:
    """A judge as scorers see it: told no secret, not asked the same twice, and asked as its service bears it.

    What was answered is remembered for this run and no longer: the next run may meet another model of the same name.

    Args:
        judge: who answers.
        clean: takes secrets out of a request.
        services: what the services of the run bear.
    """

    def __init__(self, judge: Judge, clean: Callable[[JudgeRequest], JudgeRequest], services: Services) -> None:
        self._judge = judge
        self._clean = clean
        self._services = services
        self._replies: dict[str, JudgeReply] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def check(self) -> tuple[Problem, ...]:
        """See `Judge.check`."""
        return await self._judge.check()

    def identity(self, model: str | None) -> Identity:
        """See `Judge.identity`."""
        return self._judge.identity(model)

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """See `Judge.ask`; who asks what is being asked already waits for that answer. A failure is not remembered."""
        request = self._clean(request)
        key = digest_text(request.model_dump_json())
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:
            known = self._replies.get(key)
            if known is not None:
                return known
            reply = await self._ask(request)
            if reply.text is not None:
                if len(self._replies) >= REMEMBERED:
                    del self._replies[next(iter(self._replies))]
                self._replies[key] = reply.model_copy(update={"usage": None, "cached": True})
            return reply

    async def _ask(self, request: JudgeRequest) -> JudgeReply:
        identity = self._judge.identity(request.model)
        service = self._services.of(identity)
        try:
            async with service.place(f"judge {identity.name!r}") as place:
                reply = await self._metered(request)
                place.leave(_failure(reply))
        except NotTried as not_tried:
            failure = not_tried.failure
            reason = f"{failure.failure_class}: {failure.message}"
            return JudgeReply(text=None, error=reason, failure_class=failure.failure_class)
        return reply

    async def _metered(self, request: JudgeRequest) -> JudgeReply:
        """Ask, and let the meter of the trial know of the call while it is under way."""
        meter = current_meter()
        answered = meter.judge_asked() if meter else None
        reply = await self._judge.ask(request)
        if answered:
            answered(reply.usage)
        return reply


def _failure(reply: JudgeReply) -> Failure | None:
    """Make a failure of an answer that did not come; a pause without a reason counts as an overloaded service."""
    if reply.text is not None:
        return None
    kind = FailureClass.INTERNAL if reply.retry_after_s is None else FailureClass.RATE_LIMITED
    return Failure.of_agent(reply.failure_class or kind, reply.error or "", retry_after_s=reply.retry_after_s)
