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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import dist
from members import ROOT, read

from .conftest import PYTHON, TIME_LIMIT_S, once

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

VERSION = read(ROOT).version
NEXT = "0.1.99"
VERSION_LINE = re.compile(r'^(__version__|version) = "[^"]*"', re.MULTILINE)
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

    def give(self, wheel: Path) -> Path:
        """Put one more package where the user can read it."""
        place = self.folder / wheel.name
        shutil.copy(wheel, place)
        place.chmod(0o644)
        return place

    def offer(self, wheel: Path) -> None:
        """Put one more package where installers find it."""
        self.give(wheel).rename(self.folder / "packages" / wheel.name)

    def run(self, *words: str | Path) -> Done:
        """Run a command in the home folder."""
        program = shutil.which(words[0], path=self.environment["PATH"]) or words[0]
        return run_as(self._user, [program, *words[1:]], self.home, self.environment)

    def must(self, *words: str | Path) -> Done:
        """Run a command that has to succeed."""
        done = self.run(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    def check(self, *program: str | Path, mcp: bool = False) -> None:
        """Demand that the command works, silently, and finds the default plugins, and the extra one if it is there."""
        done = self.must(*program, "--version")
        assert done.stdout == f"skillgauge {VERSION}\n"
        assert re.search("warning", done.stderr, re.I) is None, done.stderr
        plugins = json.loads(self.must(*program, "plugins", "list", "--json").stdout)["plugins"]
        listed = {(plugin["kind"], plugin["name"]) for plugin in plugins}
        default = {"formats": "agent-skills", "engines": "claude-code", "reporters": "github", "judges": "agent"}
        assert default.items() - listed == set()
        assert (("adapters", "mcp") in listed) is mcp


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
    account.check(account.home / "venv/bin/skillgauge")


def test_uv_tool(account: Account) -> None:
    """`uv tool install` gives one command; a second installation takes it over by force, and it can be taken back."""
    account.must("uv", "tool", "install", "skillgauge")
    assert commands(account) == ["skillgauge"]
    account.check("skillgauge")
    account.must("uv", "tool", "install", "skillgauge[mcp]")
    account.check("skillgauge", mcp=True)
    account.must("uv", "tool", "install", "skillgauge[mcp]", "--with", "skillgauge-sandbox-docker")
    assert "skillgauge-sandbox-docker" in account.must("skillgauge", "plugins", "list").stdout
    account.must("uv", "tool", "upgrade", "skillgauge")
    account.check("skillgauge", mcp=True)

    assert "already exists" in account.run("uv", "tool", "install", "skillgauge-core").stderr
    account.check("skillgauge", mcp=True)
    account.must("uv", "tool", "install", "--force", "skillgauge-core")
    account.must("uv", "tool", "uninstall", "skillgauge-core")
    assert commands(account) == []
    account.must("uv", "tool", "install", "--force", "skillgauge[mcp]")
    account.check("skillgauge", mcp=True)
    account.must("uv", "tool", "uninstall", "skillgauge")
    assert commands(account) == []


def test_uvx(account: Account) -> None:
    """`uvx` runs it without installing anything."""
    account.check("uvx", "skillgauge")
    account.check("uvx", "--from", "skillgauge[mcp]", "skillgauge", mcp=True)
    assert commands(account) == []


def test_pipx(account: Account) -> None:
    """`pipx install` gives one command; of two installations the first keeps it, and the other can take it over."""
    account.must("python3", "-m", "venv", "pipx")
    account.must(account.home / "pipx/bin/pip", "install", "--quiet", "pipx")
    for program in ("uv", "uvx"):  # with them pipx would install by uv
        (account.folder / "bin" / program).unlink()
    pipx = account.home / "pipx/bin/pipx"
    account.must(pipx, "install", "skillgauge[mcp]")
    assert commands(account) == ["skillgauge"]
    account.check("skillgauge", mcp=True)
    account.must(pipx, "upgrade", "skillgauge")
    account.check("skillgauge", mcp=True)

    account.must(pipx, "inject", "skillgauge", "skillgauge-sandbox-docker")
    assert "skillgauge-sandbox-docker" in account.must("skillgauge", "plugins", "list").stdout

    for removed in ("skillgauge-core", "skillgauge"):
        account.must(pipx, "install", "skillgauge-core")
        account.check("skillgauge", mcp=True)
        account.must(pipx, "uninstall", removed)
    assert commands(account) == []
    account.must(pipx, "reinstall", "skillgauge-core")
    assert account.must("skillgauge", "--version").stdout == f"skillgauge {VERSION}\n"
    account.must(pipx, "uninstall", "skillgauge-core")
    assert commands(account) == []


@dataclass(frozen=True)
class Releases:
    """Wheels of this version, and of a next one that differs by its number only."""

    folder: Path

    def wheel(self, name: str, version: str) -> Path:
        """The wheel of a distribution."""
        return self.folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    """Every distribution in the next version, and the two with the command in both."""
    return Releases(once(tmp_path_factory, "releases", _build_releases))


def _build_releases(made: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        dist.stage(folder, None)
        build = (dist.UV, "build", "--quiet", "--offline", "--wheel", "-o", made)
        for source in (folder, folder / "core"):
            subprocess.run([*build, source], check=True)
        for place in (*folder.rglob("pyproject.toml"), folder / "core/src/skillgauge/_version.py"):
            place.write_text(VERSION_LINE.sub(rf'\1 = "{NEXT}"', place.read_text(), count=1))
        subprocess.run([*build, "--all-packages", folder], check=True)


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_both_in_one_environment(account: Account, releases: Releases, installer: str) -> None:
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
        wheel = releases.wheel(name, version)
        account.must(*install, "--no-deps", account.give(wheel))

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


CASE = {"id": "one", "prompt": "Say GOOD.", "assertions": [{"text": "good", "type": "contains", "value": "GOOD"}]}


@pytest.mark.parametrize("newer", ["skillgauge", "skillgauge-core", "skillgauge-format-agent-skills"])
def test_distributions_of_two_releases_work_together(account: Account, releases: Releases, newer: str) -> None:
    """A mended core, plugin or bundle goes with everything else of the release before, and evaluates (R3-F6)."""
    account.offer(releases.wheel(newer, NEXT))
    account.must("uv", "venv", "venv")
    python = account.home / "venv/bin/python"
    account.must(
        *("uv", "pip", "install", "--python", python, "--resolution", "lowest", "skillgauge", f"{newer}=={NEXT}")
    )
    account.must("uv", "pip", "check", "--python", python)
    listed = json.loads(account.must("uv", "pip", "list", "--python", python, "--format", "json").stdout)
    versions = {one["name"]: one["version"] for one in listed if one["name"].startswith("skillgauge")}
    assert versions.pop(newer) == NEXT
    assert set(versions.values()) == {VERSION}

    skill = account.home / "my-skill"
    files = {
        "SKILL.md": "---\nname: my-skill\ndescription: Says good things.\n---\nSay GOOD.\n",
        "evals/evals.json": json.dumps({"skill_name": "my-skill", "evals": [CASE]}),
    }
    write = "import json, pathlib, sys\nfor name, text in json.loads(sys.argv[2]).items():\n"
    write += "    path = pathlib.Path(sys.argv[1], name)\n    path.parent.mkdir(parents=True, exist_ok=True)\n"
    write += "    path.write_text(text)\n"
    account.must(python, "-I", "-c", write, skill, json.dumps(files))
    command = account.home / "venv/bin/skillgauge"
    done = account.must(command, "eval", skill, "--engine", "mock", "--sandbox", "local")
    assert "with_skill" in done.stdout


def test_everything_can_be_removed(account: Account) -> None:
    """By the command on the page about installing; packages of others stay (R3-F6)."""
    page = (ROOT / "docs/install.md").read_text()
    commands_shown = [line for line in page.splitlines() if line.endswith("xargs pip uninstall --yes")]
    account.must("python3", "-m", "venv", "venv")
    programs = account.home / "venv/bin"
    account.must(programs / "pip", "install", "--quiet", "skillgauge")
    account.must("/bin/sh", "-ec", f'PATH="{programs}:$PATH"; {commands_shown[0]}')
    listed = account.must(programs / "pip", "list").stdout
    assert "skillgauge" not in listed
    assert "httpx" in listed
    assert not (programs / "skillgauge").exists()
