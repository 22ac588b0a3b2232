"""An agent that has no model: what it does follows from prompt, skills and script, and from nothing else."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from skillgauge.api import (
    Command,
    Emit,
    EventKind,
    Execution,
    Failure,
    FailureClass,
    FileSpec,
    FiredSkill,
    Identity,
    JsonObject,
    LaunchError,
    ModelRoute,
    PluginError,
    Problem,
    RunRequest,
    Severity,
    SuiteError,
    Trajectory,
    TrajectoryEvent,
    Usage,
    Workspace,
    digest,
    read_document,
)
from skillgauge_validation import validate

from .options import SKILL_FOLDER, MockOptions, Reply, Script

NAME = "mock"
NOTE = "a script was played, no model was asked"
"""Stands in every result, so that no report passes for one of a real agent."""
_NO_SCRIPT = "the prompt was repeated for want of a script, no model was asked"
"""The same, where nothing was played."""
_CHARACTERS_PER_TOKEN = 4
_OUTPUT_BYTES = 64 * 1024


@cache
def _version() -> str:
    """Looked up once: in an environment with many distributions each look costs as much as a session."""
    return version(f"skillgauge-engine-{NAME}")


def make(options: MockOptions) -> MockEngine:
    """An engine with the replies of the options and of the script that they name.

    Raises:
        PluginError: the script cannot be read, with all that is wrong with it.
    """
    replies = options.replies
    if options.script is not None:
        try:
            document = read_document(Path(options.script))
            replies += validate(Script, document.value, document).replies
        except SuiteError as error:
            raise PluginError(error.problems) from error
    return MockEngine(replies, options.otherwise)


class MockEngine:
    """Does what the first reply that fits a prompt says; without one it repeats the prompt.

    Args:
        replies: in the order in which they are tried.
        otherwise: tried after those; they make no script, since nobody wrote them for these prompts.
    """

    def __init__(self, replies: tuple[Reply, ...] = (), otherwise: tuple[Reply, ...] = ()) -> None:
        self._replies = replies
        self._all = (*replies, *otherwise)

    async def check(self) -> tuple[Problem, ...]:
        """Nothing can be missing; without a script it warns, since whoever takes it for an agent learns nothing."""
        if self._replies:
            return ()
        message = f"engine {NAME!r} has no script, so it repeats each prompt and does nothing that a check could find"
        hint = (
            f"Say what it does: --set engines.{NAME}.script=FILE; `skillgauge plugins info engines {NAME}` shows how."
        )
        return (Problem("engine.no-script", message, hint=hint, severity=Severity.WARNING),)

    def identity(self, model: str | None) -> Identity:
        """Complete: nothing else decides."""
        replies = digest([reply.model_dump(mode="json") for reply in self._all])
        return Identity(
            name=NAME,
            version=_version(),
            settings={"model": model, "replies": replies},
            model=model,
        )

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """It asks no model."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Do what the script says about the prompt."""
        offered = offered_skills(await workspace.snapshot())
        fitting = (reply for reply in self._all if reply.fits(request.prompt, offered))
        execution = await _Session(request, workspace, emit, offered).play(next(fitting, Reply()))
        return execution if self._replies else execution.model_copy(update={"notes": (_NO_SCRIPT,)})


def offered_skills(paths: Iterable[str]) -> tuple[str, ...]:
    """Names of the skills among the files of a workspace, sorted."""
    pattern = re.compile(rf"{re.escape(SKILL_FOLDER)}/([^/]+)/SKILL\.md")
    return tuple(sorted(found[1] for path in paths if (found := pattern.fullmatch(path))))


class _Session:
    """One session, and what is told of it."""

    def __init__(self, request: RunRequest, workspace: Workspace, emit: Emit, offered: tuple[str, ...]) -> None:
        self._request = request
        self._workspace = workspace
        self._emit = emit
        self._offered = offered
        self._started = time.monotonic()
        self._events: list[TrajectoryEvent] = []
        self._fired: list[FiredSkill] = []
        self._calls = 0

    async def play(self, reply: Reply) -> Execution:
        """Do all of a reply, in the order in which it is documented."""
        for name in self._offered if reply.fires is None else reply.fires:
            if reply.fires is not None or name.casefold() in self._request.prompt.casefold():
                self._load(name)
        for path, text in reply.files.items():
            await self._write(path, str(text))
        failure = await self._run(reply.run) if reply.run is not None else None
        if failure is None and reply.fail is not None:
            failure = Failure.of_agent(reply.fail, f"the script says {reply.fail}")
        return self._told(reply, failure)

    def _load(self, name: str) -> None:
        present = name in self._offered
        if present:
            self._fired.append(FiredSkill(name=name, how="invoked"))
        self._call("skill", {"skill": name}, "" if present else f"there is no skill {name!r}", is_error=not present)

    async def _write(self, path: str, text: str) -> None:
        try:
            await self._workspace.put([FileSpec(path=path, text=text)])
        except (ValueError, OSError) as error:
            self._call("write", {"path": path}, str(error), is_error=True)
        else:
            self._call("write", {"path": path}, "")

    async def _run(self, line: str) -> Failure | None:
        limit = self._request.limits.timeout_s
        remaining = None if limit is None else max(0.001, limit - (time.monotonic() - self._started))
        command = Command(argv=("sh", "-c", line), timeout_s=remaining, output_bytes=_OUTPUT_BYTES)
        try:
            finished = await (await self._workspace.start(command)).wait()
        except LaunchError as error:
            return Failure.of_agent(FailureClass.LAUNCH, str(error))
        output = (finished.stdout + finished.stderr).decode("utf-8", "replace")
        self._call("bash", {"command": line}, output, is_error=finished.exit_code != 0)
        return Failure.of_agent(FailureClass.TIMEOUT, f"not done within {limit:g} s") if finished.timed_out else None

    def _call(self, tool: str, arguments: JsonObject, answer: str, *, is_error: bool = False) -> None:
        self._calls += 1
        number = f"call-{self._calls}"
        self._tell(TrajectoryEvent(kind=EventKind.TOOL_CALL, name=tool, call_id=number, data=arguments))
        self._tell(TrajectoryEvent(kind=EventKind.TOOL_RESULT, call_id=number, text=answer, is_error=is_error))

    def _tell(self, event: TrajectoryEvent) -> None:
        self._events.append(event)
        self._emit(event)

    def _told(self, reply: Reply, failure: Failure | None) -> Execution:
        for name, told in reply.notices.items():
            self._tell(TrajectoryEvent(kind=EventKind.NOTICE, name=name, data=told))
        text = self._answer(reply) if failure is None else None
        if text is not None:
            self._tell(TrajectoryEvent(kind=EventKind.MESSAGE, text=text))
        return Execution(
            text=text,
            trajectory=Trajectory(
                events=tuple(self._events),
                skills_offered=self._offered,
                skills_fired=tuple(self._fired),
                blocked=reply.blocks,
                model_calls=self._calls + 1,
                turns=self._calls + 1 if reply.turns is None else reply.turns,
                session_id=self._request.continues or (self._request.trial_id if self._request.is_followed else None),
                model=self._request.model or NAME,
                engine_version=_version(),
            ),
            usage=self._usage(reply, text or ""),
            duration_s=time.monotonic() - self._started if reply.duration_s is None else reply.duration_s,
            failure=failure,
            sandbox=self._workspace.tier,
            notes=(NOTE,),
        )

    def _usage(self, reply: Reply, text: str) -> Usage:
        if reply.tokens is not None:
            return Usage(total_tokens=reply.tokens, cost_usd=0.0, cost_basis="free")
        counted = {"input_tokens": _tokens(self._request.prompt), "output_tokens": _tokens(text)}
        return Usage(**counted, cost_usd=0.0, cost_basis="free")

    def _answer(self, reply: Reply) -> str:
        if reply.text is not None:
            return reply.text
        return f"[mock {'with' if self._offered else 'without'}-skill response] {self._request.prompt}"


def _tokens(text: str) -> int:
    """An estimate, so that what reckons with tokens has something to reckon with."""
    return 1 + len(text) // _CHARACTERS_PER_TOKEN
