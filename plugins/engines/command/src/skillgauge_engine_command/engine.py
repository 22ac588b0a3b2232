"""Starts a program for every session and takes what it writes as the answer."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import version
from pathlib import Path

from skillgauge.api import (
    Blame,
    Command,
    Emit,
    EventKind,
    Execution,
    Failure,
    FailureClass,
    Finished,
    Identity,
    LaunchError,
    ModelRoute,
    Problem,
    RunRequest,
    Severity,
    Trajectory,
    TrajectoryEvent,
    Usage,
    Workspace,
    host_environment,
)

from .answers import NoAnswer, answer_in
from .options import COMPLETED, FAILED, SKILL_FILE, CommandOptions, placeholders
from .records import SkillCalls, chosen, records_in, usage_in

NAME = "command"
OUTPUT_BYTES = 5 * 1024 * 1024
"""Bytes kept of stdout and of stderr unless the suite sets another limit."""
_KEPT_CHARACTERS = 64 * 1024
_EXCERPT = 300
_EXCERPT_BYTES = 4 * _EXCERPT
_SIGNALLED = 128
"""Added to the number of a signal it gives the exit code that shells tell, by which `exit_codes` names signals."""


class CommandEngine:
    """Drives an agent that is a program.

    Args:
        options: how it is started and read.
    """

    def __init__(self, options: CommandOptions) -> None:
        self._options = options
        self._lacks_model = False

    async def check(self) -> tuple[Problem, ...]:
        """Check that program, model and variables are there."""
        problems = []
        program = self._options.argv[0]
        # One with a placeholder, or below the workspace, is not there yet.
        is_later = placeholders(program) or (os.sep in program and not Path(program).is_absolute())
        if not is_later and shutil.which(program, path=host_environment().get("PATH")) is None:
            hint = f"Install it, or name another: --set engines.{NAME}.argv='[...]'."
            problems.append(Problem("engine.program", f"program {program!r} is not there", hint=hint))
        if is_later and os.access(program, os.X_OK):
            message = f"program {program!r} is looked for in the workspace of each session, not in this folder"
            hint = f"If you mean the one here, write {str(Path(program).absolute())!r}."
            problems.append(Problem("engine.program", message, hint=hint, severity=Severity.WARNING))
        if self._lacks_model:
            message = f"the command line of engine {NAME!r} names a model, and none is given"
            problems.append(Problem("engine.no-model", message, hint="Name it with --model."))
        for name in self._options.pass_env:
            if name not in host_environment():
                message = f"variable {name}, which engine {NAME!r} is to pass on, is not set"
                problems.append(Problem("engine.env", message, severity=Severity.WARNING))
        return tuple(problems)

    def identity(self, model: str | None) -> Identity:
        """Return the command that is started; incomplete, since the program's own version is not known."""
        model_id = model or self._options.model
        self._lacks_model = self._lacks_model or (model_id is None and self._options.uses("model"))
        return Identity(
            name=NAME,
            version=version(f"skillgauge-engine-{NAME}"),
            settings={**self._options.said, "model": model_id},
            model=model_id,
            complete=False,
        )

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """None: the program reaches its model by itself, with the key that it is passed."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Start the program and wait for its end."""
        try:
            values = await self._values(request, workspace)
            command = Command(
                argv=(
                    *(word.format_map(values) for word in self._options.argv),
                    *self._skill_words(request, workspace),
                ),
                env=self._environment(),
                readable=outside_program(self._options.argv[0]),
                stdin=self._options.stdin.format_map(values).encode(),
                timeout_s=request.limits.timeout_s,
                output_bytes=request.limits.output_bytes or OUTPUT_BYTES,
            )
            finished = await (await workspace.start(command)).wait()
        except LaunchError as error:
            failure = Failure.of_agent(FailureClass.LAUNCH, str(error))
            return Execution(failure=failure, trajectory=Trajectory(), sandbox=workspace.tier)
        return self._execution(finished, request, workspace, emit)

    def _skill_words(self, request: RunRequest, workspace: Workspace) -> tuple[str, ...]:
        files = [str(workspace.root / skill.path / "SKILL.md") for skill in request.skills]
        return tuple(word.format(**{SKILL_FILE: file}) for file in files for word in self._options.skill_argv)

    async def _values(self, request: RunRequest, workspace: Workspace) -> dict[str, str]:
        values = {
            "prompt": request.prompt,
            "model": request.model or self._options.model or "",
            "workspace": str(workspace.root),
            "skill_folder": self._options.skill_folder or "",
            "max_turns": "" if request.limits.max_turns is None else str(request.limits.max_turns),
        }
        if self._options.uses("prompt_file"):
            # In the home, where no check sees it, and by a process, because only one sees the home in every sandbox.
            values["prompt_file"] = str(workspace.home / "prompt.txt")
            argv = ("sh", "-c", 'cat > "$1"', "sh", values["prompt_file"])
            finished = await (await workspace.start(Command(argv=argv, stdin=request.prompt.encode()))).wait()
            if finished.exit_code != 0:
                raise LaunchError(f"the prompt cannot be written: {_text(finished.stderr)[:_EXCERPT]}")
        return values

    def _environment(self) -> dict[str, str]:
        environ = host_environment()
        passed = {name: environ[name] for name in self._options.pass_env if name in environ}
        return {name: str(value) for name, value in self._options.env.items()} | passed

    def _execution(self, finished: Finished, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        stdout, text = _text(finished.stdout), None
        failure = self._failure(finished, request)
        if failure is None:
            try:
                text = answer_in(stdout, self._options.answer_key, self._options.answer_where)
            except NoAnswer as why:
                failure = Failure.of_agent(FailureClass.PROTOCOL, f"{why}{_last_words(finished)}")
        events = () if text is None else (TrajectoryEvent(kind=EventKind.MESSAGE, text=text),)
        for event in events:
            emit(event)
        return Execution(
            text=text,
            exit_code=finished.exit_code,
            stdout=_shortened(stdout) or None,
            stderr=_shortened(_text(finished.stderr)) or None,
            truncated=bool(finished.stdout_dropped or finished.stderr_dropped),
            trajectory=self._with_skills(
                Trajectory(events=events), stdout, request, is_whole=not finished.stdout_dropped
            ),
            usage=None if finished.stdout_dropped else self._usage(stdout),
            duration_s=finished.duration_s,
            failure=failure,
            sandbox=workspace.tier,
            notes=("processes that it left behind were ended",) if finished.left_behind else (),
        )

    def _usage(self, stdout: str) -> Usage | None:
        """Return the usage of a session, where the options say how that is told."""
        keys = self._options.usage_keys
        return usage_in(chosen(records_in(stdout), self._options.usage_where), keys) if keys else None

    def _with_skills(self, trajectory: Trajectory, stdout: str, request: RunRequest, *, is_whole: bool) -> Trajectory:
        """Add the skills that were loaded; that none was is known only if the whole output can be looked through."""
        if not self._options.skill_tool:
            return trajectory
        installed = tuple(skill.ref.name for skill in request.skills)
        fired, refused = SkillCalls(records_in(stdout), self._options.skill_tool, installed).read()
        skills = fired or (() if is_whole else None)
        return trajectory.model_copy(update={"skills_fired": skills, "skills_refused": refused})

    def _failure(self, finished: Finished, request: RunRequest) -> Failure | None:
        """Return the failure that an ending means, `None` if the session came to its end.

        An ending that the options do not explain blames no skill: agents also end like that when a key expires, a
        model server is down or there is no network. A program that knows better says so by an exit code.
        """
        detail = _last_words(finished)
        if finished.sandbox_failure:
            return Failure.of_agent(FailureClass.KILLED, f"{finished.sandbox_failure}{detail}")
        if finished.timed_out:
            message = f"not done within {request.limits.timeout_s:g} s{detail}"
            return Failure(failure_class=FailureClass.TIMEOUT, blame=Blame.INFRASTRUCTURE, message=message)
        if finished.exit_code is None:
            code, unexplained = _SIGNALLED + (finished.signal or 0), FailureClass.KILLED
            message = f"ended by signal {finished.signal}{detail}"
        else:
            code, unexplained = finished.exit_code, FailureClass.CRASH
            message = f"exit code {code}{detail}"
        meaning = self._options.exit_codes.get(str(code), unexplained if code else COMPLETED)
        if meaning == COMPLETED:
            return None
        if meaning == FAILED:
            return Failure(failure_class=FailureClass.REJECTED, blame=Blame.TARGET, message=message)
        return Failure.of_agent(FailureClass(str(meaning)), message)


def _last_words(finished: Finished) -> str:
    """Return the end of stderr, or of stdout where stderr is empty, to be added to a message."""
    text = _one_line(finished.stderr) or _one_line(finished.stdout)
    return f": {text[-_EXCERPT:]}" if text else ""


def _one_line(output: bytes) -> str:
    return " ".join(_text(output[-_EXCERPT_BYTES:]).split())


def outside_program(program: str) -> tuple[str, ...]:
    """The file of a program that is named by its absolute path, for a sandbox that shows no more than it must.

    Nothing but what can be executed is shown, and no folder around it.
    """
    path = Path(program)
    if placeholders(program) or not path.is_absolute() or not path.is_file() or not os.access(path, os.X_OK):
        return ()
    return tuple(dict.fromkeys((program, str(path.resolve()))))


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def _shortened(text: str) -> str:
    """A text without its middle if it is long."""
    left_out = len(text) - _KEPT_CHARACTERS
    if left_out <= 0:
        return text
    half = _KEPT_CHARACTERS // 2
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"
