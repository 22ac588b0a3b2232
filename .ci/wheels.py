"""Build every wheel and try each one in a clean environment: what a user gets who installs only that.

Each plugin is installed with the core alone, third-party packages at the versions of `requirements.lock`. All its
modules must import, so a dependency that it uses and does not declare shows here; the program must list it, and find
nothing broken.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dist
from dist import UV
from lock import LOCK, pins
from members import ROOT, Member, foundations, workspace

IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    name = module.name
    # They need pytest and rich, and are asked with them.
    optional = {"skillgauge_testkit.fixtures", "skillgauge.terminal.live"}
    if not name.endswith("__main__") and name not in optional:
        importlib.import_module(name)
"""


class BadWheelError(Exception):
    """A distribution that does not do by itself what it does in the workspace."""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program; what is tried gets an environment that lends it nothing, uv gets ours."""
    environment = dict(os.environ) if command[0] == UV else {"HOME": str(cwd), "PATH": os.defpath}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def must(*command: str | Path, cwd: Path) -> str:
    """Its standard output; a failure carries all it printed."""
    done = run(*command, cwd=cwd)
    if done.returncode:
        shown = " ".join(str(part) for part in command if "\n" not in str(part))
        raise BadWheelError(f"{shown}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path) -> dict[str, Path]:
    """Build every member's wheel into `folder`; wheel by distribution name."""
    done = dist.build(folder)
    if done.returncode:
        raise BadWheelError(f"uv build\nexit {done.returncode}\n{done.stdout}{done.stderr}")
    return by_name(folder)


def by_name(folder: Path) -> dict[str, Path]:
    """The wheel of every member that this machine would be given, by distribution name."""
    every = sorted(folder.glob("*.whl"), key=lambda path: not path.name.endswith("-any.whl"))
    wheels = {dist.project_of(path): path for path in every}  # the last one that is there, which has a program in it
    missing = sorted(member.name for member in workspace() if member.name not in wheels)
    if missing:
        raise BadWheelError(f"not built: {', '.join(missing)}")
    return wheels


def try_alone(member: Member, constraints: Path, folder: Path) -> None:
    """Install one distribution and nothing that it does not ask for; import it; run the program."""
    environment = folder / member.name
    environment.mkdir()
    python, program = environment / "venv/bin/python", environment / "venv/bin/skillgauge"
    must(UV, "venv", "--quiet", "--python", sys.executable, "venv", cwd=environment)
    install = (UV, "pip", "install", "--quiet", "--python", python, "--constraint", constraints)
    must(*install, member.name, cwd=environment)
    if member.module:
        must(python, "-I", "-c", IMPORT_ALL, member.module, cwd=environment)
    if member in foundations():
        return  # what the core stands on brings no program
    listing = must(program, "plugins", "list", "--json", cwd=environment)
    if member.folder.is_relative_to(ROOT / "plugins") and member.name not in listing:
        raise BadWheelError(f"skillgauge plugins list --json does not name {member.name}\n{listing}")
    must(program, "plugins", "doctor", cwd=environment)


def constraints_for(wheels: dict[str, Path], folder: Path) -> Path:
    """A constraints file: third-party packages as locked, members from their wheels."""
    path = folder / "constraints.txt"
    local = [f"{name} @ {wheel.as_uri()}" for name, wheel in sorted(wheels.items())]
    path.write_text("\n".join([*pins(LOCK.read_text(encoding="utf-8")), *local]), encoding="utf-8")
    return path


def main() -> int:
    """Build all, try all; print what failed; return 1 if something did."""
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if dist.make(ROOT / "dist", dist.address()):
            return 1
        wheels = by_name(ROOT / "dist/wheels")
        constraints = constraints_for(wheels, folder)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            tries = {member.name: pool.submit(try_alone, member, constraints, folder) for member in workspace()}
        for member_name, outcome in tries.items():
            if isinstance(error := outcome.exception(), BadWheelError):
                failed += 1
                print(f"{member_name}: {error}")
            elif error:
                raise error
    print(f"{len(wheels)} wheels built, {len(tries) - failed} work alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
