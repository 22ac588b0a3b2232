"""The adapter for every kind of Python object: what is checked before a run, and how calls begin."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Generic, TypeVar

from skillgauge.api import Identity, Origin, Problem, SuiteError, Target, Workspace
from skillgauge_validation import validate

from .entrypoint import EntrypointError, examine, read_entrypoint
from .pool import Pool
from .session import CallSession
from .settings import CallSettings, interpreter, require_program

S = TypeVar("S", bound=CallSettings)

_OF_FORMATS = frozenset({"type", "timeoutMs", "retries", "pass_env"})
"""Settings that stand beside ours and take effect elsewhere."""
_START = "import sys; sys.path[:1] == [''] and sys.path.pop(0); exec(compile(sys.argv.pop(), '<skillgauge>', 'exec'))"
"""Runs a text without the current directory on the path: modules there must not stand in for the standard library."""


@dataclass(frozen=True)
class Kind(Generic[S]):
    """A kind of object that can be called."""

    name: str
    """The adapter's, as the user types it; the distribution is `skillgauge-adapter-<name>`."""
    default_name: str
    """What the object is called in a file if the entrypoint does not say."""
    settings: type[S]
    program: str
    """Text of a module that runs in the child process and has a function `prepare(found, settings, wait)`. It gets
    the object, the settings and a function that waits for what is awaitable, and returns a function from an input to
    a dict with `result` and, if there are any, `usage` (fields of `Usage`) and `notes`. Both may raise."""


class PythonCalls(Generic[S]):
    """Calls Python objects of a kind in child processes.

    Args:
        kind: which.
    """

    def __init__(self, kind: Kind[S]) -> None:
        self._kind = kind

    async def check(self) -> tuple[Problem, ...]:
        """Nothing but the target can be missing."""
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Check settings, interpreter and object without importing anything of the target."""
        root = Path(target.root or ".")
        problems = []
        settings = None
        try:
            settings = self._settings(target)
            require_program(interpreter(settings)[0], root)
        except SuiteError as error:
            problems += [_about(target, "config", problem.message, problem.hint) for problem in error.problems]
        except ValueError as error:
            assert settings is not None
            hint = "Name a command that starts Python, for example .venv/bin/python."
            problems.append(_about(target, "config", f"in 'python': {error}", hint))
        try:
            entrypoint = read_entrypoint(target.entrypoint or "", self._kind.default_name)
            examine(entrypoint, root, is_ours=settings is not None and settings.python is None)
        except EntrypointError as error:
            problems.append(_about(target, "entrypoint", str(error), error.hint))
        return tuple(problems)

    def identity(self, target: Target) -> Identity:
        """The adapter's version, the object, the interpreter; incomplete, since what is installed there may change."""
        settings = self._settings(target)
        python = settings.python or "{}.{}.{}".format(*sys.version_info[:3])
        return Identity(
            name=self._kind.name,
            version=version(f"skillgauge-adapter-{self._kind.name}"),
            settings={**settings.model_dump(mode="json"), "entrypoint": target.entrypoint, "python": python},
            complete=False,
        )

    async def open(self, target: Target, workspace: Workspace) -> CallSession:
        """Nothing is started before the first call."""
        settings = self._settings(target)
        entrypoint = read_entrypoint(target.entrypoint or "", self._kind.default_name)
        order = {
            "program": self._kind.program,
            "settings": settings.model_dump(mode="json"),
            "module": entrypoint.module,
            "file": entrypoint.file,
            "name": entrypoint.name,
        }
        argv = (*interpreter(settings), "-X", "utf8", "-c", _START, _child())
        return CallSession(Pool(workspace, argv, target.root, order), workspace.tier)

    def _settings(self, target: Target) -> S:
        own = {key: value for key, value in target.config.items() if key not in _OF_FORMATS}
        return validate(self._kind.settings, own, lambda *_pointer: Origin(target.root or "."))


def _about(target: Target, field: str, message: str, hint: str | None) -> Problem:
    return Problem(f"adapter.{field}", f"skill {target.id!r}: {message}", target.origin_of(field), hint=hint)


@cache
def _child() -> str:
    return Path(__file__).with_name("child.py").read_text("utf-8")
