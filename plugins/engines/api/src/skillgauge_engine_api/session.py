"""One session: question and answer in turn, until the model answers without calling a tool."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from skillgauge.api import (
    Emit,
    EventKind,
    Execution,
    Failure,
    FailureClass,
    RunRequest,
    Trajectory,
    TrajectoryEvent,
    Usage,
    Workspace,
    freeze,
)
from skillgauge_model_client.options import Prices
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import priced

from .dialect import Answer, Dialect, Document, Question, ToolCall, ToolResult
from .options import ApiOptions
from .skills import Skill, system_prompt
from .tools import Toolbox

_KINDS = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "total_tokens",
    "cost_usd",
)
_WITHOUT_TOOLS = (
    "a model that calls no tools is asked with --set engines.api.tools=false, with the skills in its prompt"
)
_NO_TOOLS = ("not support tool", "not support function", "support tool use", "tool choice requires")
"""Words by which servers refuse tools, each after its own fashion."""

Ask = Callable[[Question], Awaitable[Answer]]
"""Asks the model once. Raises `Unanswered`."""


@dataclass(frozen=True)
class Talk:
    """With whom a session is held."""

    model: str
    dialect: Dialect
    ask: Ask


class Session:
    """An agent at work, and what can be told of it at any time.

    Args:
        talk: with whom.
        options: what the agent may do.
        skills: what it is offered.
        request: what is asked of it.
        workspace: where it works.
        emit: told of every event.
        said: what was said before, in a session that goes on.
    """

    def __init__(
        self,
        talk: Talk,
        options: ApiOptions,
        skills: Sequence[Skill],
        request: RunRequest,
        workspace: Workspace,
        emit: Emit,
        said: Sequence[Document] = (),
    ) -> None:
        self.messages = [*said, talk.dialect.prompt(request.prompt)]
        """All that was said so far."""
        self._talk = talk
        self._options = options
        self._skills = tuple(skills)
        self._request = request
        self._workspace = workspace
        self._emit = emit
        self._tools = Toolbox(workspace, skills, options.command_timeout_s)
        self._events: list[TrajectoryEvent] = []
        self._answers: list[Answer] = []
        self._asked: float | None = None
        """When the model was asked, as long as it has not answered."""
        self._turns = (request.limits.max_turns or options.max_turns) if options.tools else 1

    async def hold(self) -> Execution:
        """Go on until the end, whichever it is."""
        started = time.monotonic()
        limit = self._request.limits.timeout_s
        failure = None
        bound = asyncio.timeout(limit)
        try:
            async with bound:
                failure = await self._converse()
        except TimeoutError:
            if not bound.expired():
                raise
            failure = self._ran_out(time.monotonic() - started)
        except Unanswered as unanswered:
            # A request's own time limit is the service's failure and not the agent's.
            kind = FailureClass.NETWORK if unanswered.kind is FailureClass.TIMEOUT else unanswered.kind
            wait_s = unanswered.reply.retry_after_s
            hint = f"; {_WITHOUT_TOOLS}" if self._options.tools and takes_no_tools(unanswered.told) else ""
            failure = Failure.of_agent(kind, f"{unanswered.told}{hint}", retry_after_s=wait_s)
        return self._told(failure, time.monotonic() - started)

    async def _converse(self) -> Failure | None:
        while len(self._answers) < self._turns:
            self._asked = time.monotonic()
            answer = await self._talk.ask(self._question(self.messages))
            took_s, self._asked = time.monotonic() - self._asked, None
            self._note(answer, took_s)
            self.messages.append(answer.message)
            if not answer.calls or not self._options.tools:
                return self._ending(answer)
            results = [await self._use(call) for call in answer.calls]
            self.messages += self._talk.dialect.results(results)
        return Failure.of_agent(FailureClass.MAX_TURNS, f"not done after {self._turns} answers of the model")

    def _ran_out(self, duration_s: float) -> Failure:
        """Time that the service used up by not answering, more than half of it, was not the agent's."""
        waited_s = 0.0 if self._asked is None else time.monotonic() - self._asked
        if waited_s * 2 > duration_s:
            message = f"no answer from the model's service for {waited_s:.1f} s, until the time of the session was up"
            return Failure.of_agent(FailureClass.NETWORK, message)
        return Failure.of_agent(FailureClass.TIMEOUT, f"not done within {self._request.limits.timeout_s:g} s")

    def _question(self, messages: Sequence[Document]) -> Question:
        return Question(
            model=self._talk.model,
            system=system_prompt(self._skills, with_tools=self._options.tools),
            messages=messages,
            tools=self._tools.specs if self._options.tools else (),
            max_output_tokens=self._options.max_output_tokens,
            temperature=self._options.temperature,
        )

    def _note(self, answer: Answer, took_s: float) -> None:
        self._answers.append(answer)
        if usage := self._used():
            self._emit(usage)
        if answer.thoughts:
            self._tell(TrajectoryEvent(kind=EventKind.REASONING, text=answer.thoughts))
        if answer.text:
            self._tell(TrajectoryEvent(kind=EventKind.MESSAGE, text=answer.text, duration_s=took_s))

    async def _use(self, call: ToolCall) -> ToolResult:
        number = call.id or f"call-{len(self._events)}"
        try:
            arguments = freeze(call.arguments)
        except ValueError:  # half a surrogate pair, or nested beyond reason
            call = ToolCall(call.id, call.name, None)
            arguments = None
        self._tell(TrajectoryEvent(kind=EventKind.TOOL_CALL, name=call.name, call_id=number, data=arguments))
        result = await self._tools.use(call)
        kind = EventKind.TOOL_RESULT
        self._tell(TrajectoryEvent(kind=kind, call_id=number, text=result.text, is_error=result.is_error))
        return result

    def _used(self) -> Usage | None:
        return summed([answer.usage for answer in self._answers], self._options.prices)

    def _tell(self, event: TrajectoryEvent) -> None:
        self._events.append(event)
        self._emit(event)

    def _ending(self, answer: Answer) -> Failure | None:
        """An answer without a word is one after some work, but none to a question."""
        if answer.text or (len(self._answers) > 1 and not answer.is_cut):
            return None
        limit = self._options.max_output_tokens
        why = f"it reached {limit} tokens before its first word" if answer.is_cut else "no text in it"
        return Failure.of_agent(FailureClass.PROTOCOL, f"the answer is empty: {why}")

    def _told(self, failure: Failure | None, duration_s: float) -> Execution:
        last = self._answers[-1] if self._answers else None
        is_done = failure is None and last is not None
        notes = [f"the answer was cut at {self._options.max_output_tokens} tokens"] if last and last.is_cut else []
        return Execution(
            text=last.text if last and is_done else None,
            truncated=bool(last and last.is_cut),
            trajectory=Trajectory(
                events=tuple(self._events),
                skills_offered=tuple(skill.name for skill in self._skills),
                # Without tools the skills are part of the question, and nobody can say whether the model used them.
                skills_fired=tuple(self._tools.fired) if self._options.tools else None,
                skills_refused=(),  # they are this program's own to load, and nothing is asked before
                model_calls=len(self._answers),
                turns=len(self._answers),
                session_id=self._request.trial_id,
                model=last.model if last else None,
            ),
            usage=self._used(),
            duration_s=duration_s,
            failure=failure,
            sandbox=self._workspace.tier,
            notes=tuple(notes),
        )


def takes_no_tools(refusal: str) -> bool:
    """Tell whether a service refuses to hand tools to its model, as far as its words say so."""
    words = refusal.lower()
    return any(sign in words for sign in _NO_TOOLS)


def summed(usages: Sequence[Usage | None], prices: Prices | None) -> Usage | None:
    """Tokens of all answers, by kind, and their price; a kind that one of them does not tell is unknown."""
    reported = [usage for usage in usages if usage is not None]
    if not reported or len(reported) < len(usages):
        return None
    totals: dict[str, object] = {}
    for kind in _KINDS:
        counts: list[float | None] = [getattr(usage, kind) for usage in reported]
        counts_known = [count for count in counts if count is not None]
        totals[kind] = sum(counts_known) if len(counts_known) == len(counts) else None
    if totals["cost_usd"] is not None:
        totals["cost_basis"] = reported[0].cost_basis
    return priced(Usage.model_validate(totals), prices)
