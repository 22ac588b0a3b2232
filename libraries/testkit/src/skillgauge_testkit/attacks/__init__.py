"""Attempts to get out of a sandbox: what a tier promises, tried.

A sandbox of tier `strict` stops all of them. For a weaker one the same attempts tell what it does not stop, which
belongs into its documentation.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from skillgauge.api import Command, Finished, LaunchError, ModelRoute, Sandbox, SandboxSpec, Workspace

from .grounds import Grounds, grounds

__all__ = ["ATTACKS", "Attack", "Bounds", "attack_sandbox"]

_TIME_LIMIT_S = 60.0
_QUIET_S = 0.4
_DAEMON_S = 3.0
_WAIT_S = 10.0
"""How long something that holds too much is left to be noticed."""


@dataclass(frozen=True)
class Bounds:
    """Limits that the sandbox was given. Attacks go up to three times beyond them and no further."""

    processes: int = 64
    memory_mb: int = 128
    file_mb: int = 8
    disk_mb: int = 16
    tmp_mb: int = 8
    cpu_s: int = 1


@dataclass(frozen=True)
class Attack:
    """One attempt."""

    name: str
    summary: str
    """What it tries, as a phrase that begins with a verb."""
    argv: Callable[[_Scene], Iterable[object]]
    """Function of the attacker and its arguments."""
    got_through: Callable[[_Scene], bool] | None = None
    """How it is seen from outside, where the attacker itself cannot know."""
    needs_root: bool = False
    """Whether the rights of an ordinary user would stop it, with no sandbox at all."""


@dataclass(frozen=True)
class _Scene:
    """One attack in one workspace."""

    grounds: Grounds
    bounds: Bounds
    workspace: Workspace
    neighbour: Workspace
    python: str

    @property
    def relay(self) -> tuple[str, str]:
        """Addresses of the relay inside, empty where there is none."""
        return self.workspace.routes.get("attacked", ""), str(getattr(self.workspace, "env", {}).get("HTTPS_PROXY", ""))


ATTACKS = (
    Attack("read-home", "read files of the user, by path or link", lambda s: ("read", s.grounds.secret_file)),
    Attack(
        "read-trial",
        "read the workspace of another trial",
        lambda s: ("read", s.neighbour.root / "answer", s.neighbour.home / "answer"),
    ),
    Attack(
        "write",
        "write outside of the workspace",
        lambda s: ("write", s.grounds.open_folder, s.grounds.shown_folder, s.neighbour.root),
    ),
    Attack(
        "mount",
        "get at files by mounting, in namespaces of its own or by way of /proc",
        lambda s: ("mount", s.grounds.shown_folder, s.grounds.secret_file),
    ),
    Attack("services", "talk to services of this machine", lambda s: ("connect", *s.grounds.services)),
    Attack("hosts", "talk to another host, by TCP or UDP", lambda s: ("connect", *s.grounds.others)),
    Attack("relay", "get elsewhere through the model relay", lambda s: ("relay", *s.relay, s.grounds.service)),
    Attack("key", "find the key of the model API", lambda s: ("secrets", s.grounds.key[::-1])),
    Attack("processes", "see processes outside", lambda s: ("see", s.grounds.token[::-1])),
    Attack(
        "kill",
        "kill processes outside",
        lambda s: ("kill", s.grounds.victim.pid),
        got_through=lambda s: s.grounds.victim.poll() is not None,
    ),
    Attack("trace", "trace processes outside", lambda s: ("trace", s.grounds.victim.pid), needs_root=True),
    Attack("rights", "gain rights by programs with the setuid bit", lambda s: ("rights",)),
    Attack("settings", "change settings of the kernel", lambda s: ("settings",), needs_root=True),
    Attack("devices", "open disks and other devices", lambda s: ("devices",), needs_root=True),
    Attack("daemon", "leave a process behind", lambda s: ("daemon", s.python, _DAEMON_S)),
    Attack("fork-bomb", "start more processes than allowed", lambda s: ("bomb", s.bounds.processes)),
    Attack("memory", "use more memory than allowed", lambda s: ("memory", s.bounds.memory_mb)),
    Attack("cpu", "use more processor time than allowed", lambda s: ("burn", s.bounds.cpu_s)),
    Attack("file", "write a file larger than allowed", lambda s: ("large", s.bounds.file_mb)),
    Attack("disk", "fill the disk with files", lambda s: ("flood", s.workspace.root, s.bounds.disk_mb, _WAIT_S)),
    Attack(
        "hoard",
        "fill the disk with files that nobody can name",
        lambda s: ("hoard", s.bounds.disk_mb, _WAIT_S),
    ),
    Attack("share", "use more shared memory than allowed", lambda s: ("share", s.bounds.memory_mb, _WAIT_S)),
    Attack("tmp", "fill /tmp", lambda s: ("flood", "/tmp", s.bounds.tmp_mb, 0)),
)
"""All attempts, in the order of the documentation."""


async def attack_sandbox(
    sandbox: Sandbox, attacks: Iterable[Attack] = ATTACKS, *, bounds: Bounds, python: str = sys.executable
) -> Mapping[str, str | None]:
    """Let programs in a sandbox try to get out. They aim at nothing but what is made here for that purpose.

    Args:
        sandbox: usable here, and given the limits that `bounds` tells.
        attacks: which to try.
        bounds: see there.
        python: interpreter that the sandbox shows, absolute.

    Returns:
        Name of each attack to what it got, `None` if it was stopped.

    Raises:
        AssertionError: an attack did not even begin, so that nothing is known.
    """
    return {attack.name: await _try(attack, sandbox, bounds, os.path.realpath(python)) for attack in attacks}


async def _try(attack: Attack, sandbox: Sandbox, bounds: Bounds, python: str) -> str | None:
    with grounds() as ground:
        route = ModelRoute(
            name="attacked", base_url=f"http://{ground.service}/v1/models", headers={"x-api-key": ground.key}
        )
        spec = SandboxSpec(
            label=attack.name,
            network=False,
            readable=(str(ground.shown_folder),),
            routes=(route,) if attack.name in ("relay", "key") else (),
            hosts=("allowed.invalid",) if attack.name == "relay" else (),
        )
        async with sandbox.open(SandboxSpec(label="neighbour")) as neighbour, sandbox.open(spec) as workspace:
            for place in (neighbour.root, neighbour.home):
                (place / "answer").write_text("canary")
            scene = _Scene(ground, bounds, workspace, neighbour, python)
            return await _run(attack, scene)


async def _run(attack: Attack, scene: _Scene) -> str | None:
    words = tuple(str(word) for word in attack.argv(scene))
    needs_key = attack.name == "key" and not scene.workspace.routes
    command = Command(
        argv=(scene.python, "-I", "-S", "-c", _program(), *words),
        env=scene.grounds.victim_environment if needs_key else {},
        timeout_s=_TIME_LIMIT_S,
        cpu_s=scene.bounds.cpu_s if attack.name == "cpu" else None,
    )
    try:
        finished = await (await scene.workspace.start(command)).wait()
    except LaunchError as error:
        raise AssertionError(f"attack {attack.name!r} could not be started: {error}") from error
    return await _outcome(attack, scene, finished)


async def _outcome(attack: Attack, scene: _Scene, finished: Finished) -> str | None:
    """Return what got through, if anything; an attack that did not take place is no defence."""
    output = finished.stdout.decode(errors="replace")
    errors = finished.stderr.decode(errors="replace")[-2000:]
    has_crashed = "Error" in errors and "line" in errors and _is_broken(errors)
    if has_crashed or not output.startswith("tried\n"):
        raise AssertionError(f"attack {attack.name!r} did not take place: {output} {errors}")
    if attack.got_through is not None:
        return "seen from outside" if attack.got_through(scene) else None
    if attack.name == "daemon":
        return await _beats(scene.workspace.root / "beat")
    _, _, result = output.partition("through: ")
    return result.strip().splitlines()[0] if result else None


def _is_broken(stderr: str) -> bool:
    """Tell whether a traceback comes from the attacker's own mistake and not from the defence."""
    last = stderr.strip().splitlines()[-1]
    return last.startswith(("NameError", "TypeError", "AttributeError", "SyntaxError", "ValueError", "ImportError"))


async def _beats(beat: Path) -> str | None:
    before = beat.stat().st_size
    await asyncio.sleep(_QUIET_S)  # the one thing that only time can show
    return "a process goes on after the end" if beat.stat().st_size > before else None


@cache
def _program() -> str:
    return Path(__file__).with_name("attacker.py").read_text(encoding="utf-8")
