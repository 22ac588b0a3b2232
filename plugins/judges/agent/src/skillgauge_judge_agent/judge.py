"""One question, one session of an agent's program: no tools, an empty workspace, a home of its own."""

from __future__ import annotations

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
    Problem,
    RunRequest,
    SandboxSpec,
    host_environment,
)
from skillgauge_processes import DirectoryWorkspace

from .choice import Askable, chosen
from .options import AgentOptions

_DISTRIBUTION = "skillgauge-judge-agent"


class AgentJudge:
    """Asks the program of an engine, with the key or the login that this program has.

    What is judged is text in the question. The agent has no tool to reach anything with, and nothing is in its folder.
    """

    def __init__(self, options: AgentOptions) -> None:
        self._options = options
        self._models: set[str | None] = set()

    async def check(self) -> tuple[Problem, ...]:
        """Whether there is one engine to ask, and what keeps that from working."""
        problems: dict[Problem, None] = {}
        for model in sorted(self._models or {None}, key=str):
            found = chosen(self._options, model)
            if isinstance(found, Problem):
                problems[found] = None
                continue
            engine = found.engine()
            engine.identity(self._model(model))  # so that it checks what this model needs
            problems |= dict.fromkeys(await engine.check())
        return tuple(problems)

    def identity(self, model: str | None) -> Identity:
        """The engine with its version, options and model; incomplete, since what is served may change at any time."""
        self._models.add(model)
        own = version(_DISTRIBUTION)
        found = chosen(self._options, model)
        if isinstance(found, Problem):
            return Identity(name="agent", version=own, settings={"model": self._model(model)}, complete=False)
        asked = found.engine().identity(self._model(model))
        return Identity(
            name="agent",
            version=f"{own}+{asked.name}-{asked.version}",
            settings={"engine": asked.name, "options": asked.settings, "model": asked.model},
            service=asked.service,
            complete=False,
        )

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once. A program takes neither a temperature nor a limit of tokens, so both are left to it."""
        found = chosen(self._options, request.model)
        if isinstance(found, Problem):
            return _unanswered(FailureClass.BAD_REQUEST, f"{found.message}: {found.hint}")
        engine = found.engine(request.system)
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
            if inherited := _inherited(found, workspace.root):
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


def _inherited(found: Askable, root: Path) -> str | None:
    """What lies above the workspace and would be read as instructions."""
    places = (folder / name for folder in root.parents for name in found.traits.inherited)
    return next((str(place) for place in places if place.exists()), None)
