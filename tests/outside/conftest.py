"""Projects that are no part of this workspace, built as wheels and installed beside the core."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

PROJECTS = Path(__file__).parent / "projects"

Install = Callable[..., Path]
Child = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Runs uv without network and without the user's cache and settings."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which("uv", path=path)
    if program is None:
        pytest.skip("uv is not installed, so no wheel can be built")
    home = tmp_path_factory.mktemp("uv-home")
    environment = {"PATH": path, "HOME": str(home), "UV_CACHE_DIR": str(home / "cache"), "UV_OFFLINE": "1"}

    def run(*arguments: str | Path) -> None:
        command = [program, "--no-config", "--quiet", *map(str, arguments)]
        done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return run


@pytest.fixture(scope="session")
def wheels(uv: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wheel of each project by its name, built from a copy outside the repository."""
    folder = tmp_path_factory.mktemp("outside")
    shutil.copytree(PROJECTS, folder / "projects", ignore=shutil.ignore_patterns("__pycache__"))
    built = {}
    for project in sorted((folder / "projects").iterdir()):
        out = folder / "wheels" / project.name
        uv("build", "--wheel", "--out-dir", out, project)
        (built[project.name],) = out.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def install(uv: Callable[..., None], wheels: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Installs the wheels of the named projects into a folder of their own, which it returns."""

    def into_folder(*names: str) -> Path:
        site = tmp_path_factory.mktemp("site")
        chosen = [wheels[f"acme-skillgauge-{name}"] for name in names]
        uv("pip", "install", "--no-deps", "--python", sys.executable, "--target", site, *chosen)
        return site

    return into_folder


@pytest.fixture
def child(tmp_path: Path) -> Child:
    """Runs Python in a process that sees an installation, and nothing of the user who runs the tests."""

    def run(site: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "PYTHONPATH": str(site),
            **variables,
        }
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, check=False, capture_output=True, text=True)

    return run


@pytest.fixture
def answer(child: Child) -> Callable[..., Any]:
    """Runs code that calls `answer(value)` in a child with a registry, and returns the value."""
    head = (
        "import asyncio, json, sys\n"
        "from skillgauge.api import *\n"
        "from skillgauge.plugins.installed import *\n"
        "from skillgauge.plugins.index import *\n"
        "from skillgauge.plugins.kinds import *\n"
        "from skillgauge.plugins.registry import *\n"
        "def answer(value): print(json.dumps(value))\n"
        "def problem(action):\n"
        "    try: action()\n"
        "    except SkillgaugeError as error: return [error.problems[0].code, str(error)]\n"
        "index = read_index()\n"
        "registry = Registry(index)\n"
    )

    def run(site: Path, code: str, **variables: str) -> Any:
        done = child(site, "-c", head + code, **variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
