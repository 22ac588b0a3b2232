"""One question, one session of an agent's program: no tools, an empty workspace, a home of its own."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from pathlib import Path

from skillgauge.api import (
    EventKind,
    Execution,
    FailureClass,
    Identity,
    JudgeReply,
    JudgeRequest,
    Limits,
    Peers,
    PluginError,
    Problem,
    RunRequest,
    SandboxSpec,
    host_environment,
)
from skillgauge_processes import DirectoryWorkspace

from .choice import Askable, chosen
from .options import AgentOptions

_DISTRIBUTION = "skillgauge-judge-agent"
_GRACE_S = 15.0
"""How much longer than its limit a session may take, in which an engine ends it by itself."""


class AgentJudge:
    """Asks the program of an engine, with the key or the login that this program has.

    What is judged is text in the question. The agent has no tool to reach anything with, and nothing is in its folder.

    Args:
        options: what the user sets.
        engines: those of the run.
    """

    def __init__(self, options: AgentOptions, engines: Peers) -> None:
        self._options = options
        self._engines = engines
        self._models: set[str | None] = set()

    async def check(self) -> tuple[Problem, ...]:
        """Return what keeps the engine from working, or why there is not one to ask."""
        problems: dict[Problem, None] = {}
        for model in sorted(self._models or {None}, key=str):
            try:
                problems |= dict.fromkeys(await self._engine_problems(model))
            except PluginError as error:
                problems |= dict.fromkeys(error.problems)
        return tuple(problems)

    async def _engine_problems(self, model: str | None) -> tuple[Problem, ...]:
        choice = chosen(self._options, self._engines, model)
        if isinstance(choice, Problem):
            return (choice,)
        engine = choice.engine()
        engine.identity(self._model(model))  # so that it checks what this model needs
        return await engine.check()

    def identity(self, model: str | None) -> Identity:
        """Return the engine with its version, options and model; incomplete, since what is served may change."""
        self._models.add(model)
        own = version(_DISTRIBUTION)
        choice = chosen(self._options, self._engines, model)
        if isinstance(choice, Problem):
            return Identity(name="agent", version=own, settings={"model": self._model(model)}, complete=False)
        engine_identity = choice.engine().identity(self._model(model))
        return Identity(
            name="agent",
            version=f"{own}+{engine_identity.name}-{engine_identity.version}",
            settings={
                "engine": engine_identity.name,
                "options": engine_identity.settings,
                "model": engine_identity.model,
            },
            service=engine_identity.service,
            complete=False,
        )

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once. A program takes neither a temperature nor a limit of tokens, so both are left to it."""
        choice = chosen(self._options, self._engines, request.model)
        if isinstance(choice, Problem):
            return _unanswered(FailureClass.BAD_REQUEST, f"{choice.message}: {choice.hint}")
        limit_s = self._options.timeout_s + _GRACE_S
        try:
            async with asyncio.timeout(limit_s):
                return await self._answer(request, choice)
        except TimeoutError:
            return _unanswered(FailureClass.TIMEOUT, f"engine {choice.name!r} did not end within {limit_s:g} s")
        except PluginError as error:
            return _unanswered(FailureClass.INTERNAL, error.problems[0].message)

    async def _answer(self, request: JudgeRequest, choice: Askable) -> JudgeReply:
        engine = choice.engine(request.system)
        model = engine.identity(self._model(request.model)).model
        session = RunRequest(
            trial_id="question",
            case_id="question",
            prompt=request.user,
            model=model,
            limits=Limits(timeout_s=self._options.timeout_s),
        )
        spec = SandboxSpec(label="question")
        async with DirectoryWorkspace(spec, host_environment(), tier="local/none") as workspace:
            if inherited := _inherited(choice, workspace.root):
                why = f"the agent would read {inherited!r}; set TMPDIR to a folder that has nothing like it above"
                return _unanswered(FailureClass.SETUP, why)
            execution = await engine.run(session, workspace, lambda _event: None)
        return _reply(execution, model)

    def _model(self, asked: str | None) -> str | None:
        return asked or self._options.model


def _reply(execution: Execution, model: str | None) -> JudgeReply:
    failure, usage = execution.failure, execution.usage
    if failure is not None:
        return JudgeReply(
            text=None,
            usage=usage,
            error=f"{failure.failure_class}: {failure.message}",
            failure_class=failure.failure_class,
            retryable=failure.retryable,
            retry_after_s=failure.retry_after_s,
        )
    events = execution.trajectory.events if execution.trajectory else ()
    if any(event.kind is EventKind.TOOL_CALL for event in events):
        reply = _unanswered(FailureClass.PROTOCOL, "the agent called a tool in place of answering")
        return reply.model_copy(update={"usage": usage})
    return JudgeReply(text=execution.text or "", model=model, usage=usage)


def _unanswered(kind: FailureClass, why: str) -> JudgeReply:
    return JudgeReply(text=None, error=f"{kind}: {why}", failure_class=kind)


def _inherited(choice: Askable, root: Path) -> str | None:
    """Return the files above the workspace that would be read as instructions."""
    places = (folder / name for folder in root.parents for name in choice.traits.inherited)
    return next((str(place) for place in places if place.exists()), None)
