"""Installing as people install tools: by pip, uv, uvx and pipx, each in an empty account, and in every order."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import dist
from members import ROOT, read

from .conftest import PYTHON, TIME_LIMIT_S

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

VERSION = read(ROOT).version
NEXT = "0.1.99"
ORDINARY_USER = 54321
"""Number of a user who owns nothing; the account is that user's where root runs the tests."""

Done = subprocess.CompletedProcess[str]


class Account:
    """A home folder with nothing in it, of a user who has Python and uv and finds packages in one folder only.

    Args:
        folder: an empty folder that the user can reach.
        wheelhouse: the packages.
        python: the interpreter.
        user: number of the user; None for the one who runs the tests.
    """

    def __init__(self, folder: Path, wheelhouse: Path, python: Path, user: int | None) -> None:
        self._user = user
        self.folder = folder
        self.home, programs, packages = folder / "home", folder / "bin", folder / "packages"
        self.home.mkdir()
        programs.mkdir()
        shutil.copytree(wheelhouse, packages)
        for program in ("uv", "uvx"):
            shutil.copy(dist.UV.with_name(program), programs)
        python3 = programs / "python3"
        python3.write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
        python3.chmod(0o755)
        settings = folder / "uv.toml"
        settings.write_text("no-index = true\n")
        if user is not None:
            os.chown(self.home, user, user)
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(self.home / ".local/bin"), str(programs), "/usr/bin", "/bin"]),
            "LANG": "C.UTF-8",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_FIND_LINKS": str(packages),
            "PIP_NO_INDEX": "1",
            "UV_CONFIG_FILE": str(settings),
            "UV_FIND_LINKS": str(packages),
            "UV_PYTHON_DOWNLOADS": "never",
        }

    def run(self, *words: str | Path) -> Done:
        """Run a command in the home folder."""
        program = shutil.which(words[0], path=self.environment["PATH"]) or words[0]
        return run_as(self._user, [program, *words[1:]], self.home, self.environment)

    def must(self, *words: str | Path) -> Done:
        """Run a command that has to succeed."""
        done = self.run(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    def check(self, *program: str | Path, agents: bool) -> None:
        """Demand that the command works, silently, and finds the plugins of its set."""
        done = self.must(*program, "--version")
        assert done.stdout == f"skillgauge {VERSION}\n"
        assert re.search("warning", done.stderr, re.I) is None, done.stderr
        plugins = json.loads(self.must(*program, "plugins", "list", "--json").stdout)["plugins"]
        listed = {(plugin["kind"], plugin["name"]) for plugin in plugins}
        assert ("formats", "agent-skills") in listed
        assert (("engines", "claude-code") in listed) is agents


def run_as(user: int | None, command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str]) -> Done:
    """Run a command as a user, with no environment but the given one."""
    identity: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIME_LIMIT_S,
        **identity,
    )


def _can_run(python: Path, user: int | None) -> bool:
    wanted = f"import sys, ensurepip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        return run_as(user, [python, "-I", "-c", wanted], Path("/"), {}).returncode == 0
    except OSError:
        return False


@pytest.fixture
def account(wheelhouse: Path) -> Iterator[Account]:
    """An empty account, of an ordinary user where root runs the tests."""
    user = ORDINARY_USER if os.geteuid() == 0 else None
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    pythons = [PYTHON, *(Path(place) / name for place in ("/usr/local/bin", "/usr/bin"))]
    python = next((path for path in pythons if _can_run(path, user)), None)
    if python is None:
        pytest.skip(
            f"there is no {name} with ensurepip that an ordinary user can run (Debian: apt install python3-venv)"
        )
    # Not below the folder of pytest, which other users cannot enter.
    with tempfile.TemporaryDirectory(prefix="skillgauge-account-") as folder:
        Path(folder).chmod(0o755)
        yield Account(Path(folder), wheelhouse, python, user)


def commands(account: Account) -> list[str]:
    """Names of the commands that the user has been given."""
    folder = account.home / ".local/bin"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_pip(account: Account) -> None:
    """`pip install` into an environment gives the command and the default set."""
    account.must("python3", "-m", "venv", "venv")
    account.must(account.home / "venv/bin/pip", "install", "--quiet", "skillgauge")
    account.check(account.home / "venv/bin/skillgauge", agents=False)


def test_uv_tool(account: Account) -> None:
    """`uv tool install` gives one command; a second installation takes it over by force, and it can be taken back."""
    account.must("uv", "tool", "install", "skillgauge")
    assert commands(account) == ["skillgauge"]
    account.check("skillgauge", agents=False)
    account.must("uv", "tool", "install", "skillgauge[agents]")
    account.check("skillgauge", agents=True)
    account.must("uv", "tool", "install", "skillgauge[agents]", "--with", "skillgauge-judge-mock")
    assert "skillgauge-judge-mock" in account.must("skillgauge", "plugins", "list").stdout
    account.must("uv", "tool", "upgrade", "skillgauge")
    account.check("skillgauge", agents=True)

    assert "already exists" in account.run("uv", "tool", "install", "skillgauge-core").stderr
    account.check("skillgauge", agents=True)
    account.must("uv", "tool", "install", "--force", "skillgauge-core")
    account.must("uv", "tool", "uninstall", "skillgauge-core")
    assert commands(account) == []
    account.must("uv", "tool", "install", "--force", "skillgauge[agents]")
    account.check("skillgauge", agents=True)
    account.must("uv", "tool", "uninstall", "skillgauge")
    assert commands(account) == []


def test_uvx(account: Account) -> None:
    """`uvx` runs it without installing anything."""
    account.check("uvx", "skillgauge", agents=False)
    account.check("uvx", "--from", "skillgauge[agents]", "skillgauge", agents=True)
    assert commands(account) == []


def test_pipx(account: Account) -> None:
    """`pipx install` gives one command; of two installations the first keeps it, and the other can take it over."""
    account.must("python3", "-m", "venv", "pipx")
    account.must(account.home / "pipx/bin/pip", "install", "--quiet", "pipx")
    for program in ("uv", "uvx"):  # with them pipx would install by uv
        (account.folder / "bin" / program).unlink()
    pipx = account.home / "pipx/bin/pipx"
    account.must(pipx, "install", "skillgauge[agents]")
    assert commands(account) == ["skillgauge"]
    account.check("skillgauge", agents=True)
    account.must(pipx, "upgrade", "skillgauge")
    account.check("skillgauge", agents=True)

    account.must(pipx, "inject", "skillgauge", "skillgauge-judge-mock")
    assert "skillgauge-judge-mock" in account.must("skillgauge", "plugins", "list").stdout

    for removed in ("skillgauge-core", "skillgauge"):
        account.must(pipx, "install", "skillgauge-core")
        account.check("skillgauge", agents=True)
        account.must(pipx, "uninstall", removed)
    assert commands(account) == []
    account.must(pipx, "reinstall", "skillgauge-core")
    assert account.must("skillgauge", "--version").stdout == f"skillgauge {VERSION}\n"
    account.must(pipx, "uninstall", "skillgauge-core")
    assert commands(account) == []


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """The two distributions with the command, in this version and in the next, by name and version."""
    folder = tmp_path_factory.mktemp("versions")
    dist.stage(folder, None)
    made = folder / "made"
    for version in (VERSION, NEXT):
        for place in (
            folder / "pyproject.toml",
            folder / "core/pyproject.toml",
            folder / "core/src/skillgauge/__init__.py",
        ):
            place.write_text(re.sub('version(_*) = "[^"]*"', f'version\\1 = "{version}"', place.read_text(), count=1))
        for source in (folder, folder / "core"):
            subprocess.run([dist.UV, "build", "--quiet", "--offline", "--wheel", "-o", made, source], check=True)
    names = ("skillgauge", "skillgauge-core")
    return {
        (name, version): made / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        for name in names
        for version in (VERSION, NEXT)
    }


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_both_in_one_environment(account: Account, wheels: dict[tuple[str, str], Path], installer: str) -> None:
    """The command works in any order of steps; removing one of the two removes it until the other is reinstalled."""
    venv = account.home / "venv"
    command, python = venv / "bin/skillgauge", venv / "bin/python"
    if installer == "pip":
        account.must("python3", "-m", "venv", "venv")
        tool, reinstall = [python, "-m", "pip"], "--force-reinstall"
        uninstall = [*tool, "uninstall", "--yes"]
    else:
        account.must("uv", "venv", "venv")
        tool, reinstall = ["uv", "pip"], "--reinstall"
        uninstall = [*tool, "uninstall", "--python", python]
    install = [*tool, "install", *(["--python", python] if installer == "uv" else [])]
    core, bundle = "skillgauge-core", "skillgauge"

    def put(name: str, version: str) -> None:
        wheel = account.folder / wheels[name, version].name
        shutil.copy(wheels[name, version], wheel)
        wheel.chmod(0o644)
        account.must(*install, "--no-deps", wheel)

    def works(version: str) -> None:
        assert account.must(command, "--version").stdout == f"skillgauge {version}\n"
        account.must(command, "plugins", "list")

    account.must(*install, core)  # with all that it needs
    for first, second in ((core, bundle), (bundle, core)):
        account.must(*uninstall, core)
        assert not command.exists()
        put(first, VERSION)
        put(second, VERSION)
        works(VERSION)
        put(first, NEXT)
        put(second, NEXT)
        works(NEXT)
        put(first, VERSION)
        put(second, VERSION)
        works(VERSION)

        account.must(*uninstall, bundle)
        assert not command.exists()
        assert account.must(python, "-P", "-m", "skillgauge", "--version").stdout == f"skillgauge {VERSION}\n"
        account.must(*install, reinstall, "--no-deps", core)
        works(VERSION)
    put(bundle, VERSION)
    account.must(*uninstall, core)
    assert not command.exists()
    account.must(*install, core)
    works(VERSION)
