"""The checks before a run: the program, and whether one process of it may answer many calls."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
from importlib.metadata import version
from pathlib import Path

from skillgauge.api import Identity, Problem, Session, Target, Workspace, host_environment

from .one_shot import OneShotSession, Program
from .worker import TimeLimit, Unproven, WorkerSession, proven_worker

PROVING_S = 10.0
"""How long a worker may take to prove itself, where the skill's configuration sets no time limit."""
_NEXT = "Let it answer each line while stdin is open, or take `worker` out of its adapter.config.json."
_log = logging.getLogger(__name__)


def command_line(target: Target) -> tuple[str, ...]:
    """The words of a target's command: `command` and `args` of its configuration, else its entrypoint.

    Raises:
        ValueError: a quotation is not closed, or there is no command.
    """
    command = target.config.get("command")
    words = shlex.split(str(command)) if command else shlex.split(target.entrypoint or "")
    arguments = target.config.get("args")
    if command and isinstance(arguments, tuple):
        words.extend(str(argument) for argument in arguments)
    if not words:
        raise ValueError("the entrypoint is empty")
    return tuple(words)


class SubprocessAdapter:
    """Calls skills as processes."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing but the target can be missing."""
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Check that there is a command, its program exists, and `worker` is true or false."""
        problems = []
        if not isinstance(target.config.get("worker", False), bool):
            message = f"skill {target.id!r}: worker must be true or false, not {target.config['worker']!r}"
            problems.append(Problem("adapter.config", message, origin=target.origin_of("config")))
        try:
            program = command_line(target)[0]
        except ValueError as error:
            message, hint = f"entrypoint {target.entrypoint!r}: {error}", "Write it as a shell command line."
        else:
            if _is_there(program, Path(target.root or ".")):
                return tuple(problems)
            message = f"program {program!r} of skill {target.id!r} is not there"
            hint = "Install it, or name another in `entrypoint`."
        problems.append(Problem("adapter.entrypoint", message, origin=target.origin_of("entrypoint"), hint=hint))
        return tuple(problems)

    def identity(self, target: Target) -> Identity:
        """The adapter's version and the command; incomplete, since the program's own version is not known."""
        return Identity(
            name="subprocess",
            version=version("skillgauge-adapter-subprocess"),
            settings={"command": command_line(target)},
            complete=False,
        )

    async def open(self, target: Target, workspace: Workspace) -> Session:
        """Nothing is started before the first call, except a worker, which has to prove itself.

        Here and not in a call, because what it takes to find out that a program is no worker is no trial's time.
        """
        program = Program(command_line(target), target.root, workspace)
        if target.config.get("worker") is not True:
            return OneShotSession(program)
        try:
            worker = await proven_worker(program, TimeLimit(target.limits.timeout_s or PROVING_S))
        except Unproven as why:
            failure = why.failure
            message = f"skill {target.id!r} runs as one process per task, because it does not work as a worker"
            # What the process wrote may hold a secret; results are cleaned of it, logs are not.
            _log.warning("%s (%s); the notes of its first result say more. %s", message, failure.failure_class, _NEXT)
            return OneShotSession(program, notice=f"{message}: {failure.message}")
        return WorkerSession(program, worker)


def _is_there(program: str, root: Path) -> bool:
    if os.sep in program:
        return (root / program).exists()
    return shutil.which(program, path=host_environment().get("PATH")) is not None
