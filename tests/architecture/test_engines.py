"""Which agent programs the tests drive is pinned without an address, and CI lets none of their tests be skipped."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from members import ROOT

FOLDER = ROOT / ".ci/engines"
PAGE = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
TEST = """
import pytest

@pytest.mark.engine
def test_program(agent_program):
    assert agent_program("claude")
"""


def read(folder: Path, name: str) -> Any:
    """A JSON file of a folder."""
    return json.loads((folder / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", [FOLDER, ROOT / ".ci/collector"], ids=lambda folder: folder.name)
def test_lock_pins_the_programs_and_names_no_place(folder: Path) -> None:
    """Exact versions, a digest of every package, and no word of where one came from; else see .ci/engines/install."""
    wanted = read(folder, "package.json")["dependencies"]
    lock = read(folder, "package-lock.json")["packages"]
    assert lock.pop("")["dependencies"] == wanted
    assert {name: lock[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert [name for name, package in lock.items() if "resolved" in package or "integrity" not in package] == []


def installed(folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    """Run the installation in a folder with what it reads, and with the programs that a search path has."""
    shutil.copytree(FOLDER, folder / ".ci/engines", dirs_exist_ok=True)
    command = ["/bin/sh", ".ci/engines/install"]
    return subprocess.run(command, cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False)


def test_installation_without_node(tmp_path: Path) -> None:
    """What is missing is said before anything is written."""
    done = installed(tmp_path, str(tmp_path))
    assert done.returncode == 1
    assert "'node' is not installed" in done.stderr
    assert not (tmp_path / ".engines").exists()


def test_wrong_program_is_no_installation(tmp_path: Path) -> None:
    """A program that does not tell the pinned version fails, and the next call installs again."""
    programs = tmp_path / "bin"
    programs.mkdir()
    commands = {"node": 'case "$1" in -p) echo 2.1.332 ;; esac', "npm": "echo npm ran"}
    for name, script in commands.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    claude = tmp_path / ".engines/node_modules/.bin/claude"
    claude.parent.mkdir(parents=True)
    claude.write_text("#!/bin/sh\necho 1.0.0\n")
    claude.chmod(0o755)
    for _ in range(2):
        done = installed(tmp_path, f"{programs}{os.pathsep}{os.defpath}")
        assert done.returncode == 1
        assert "claude should be version 2.1.332, but --version says: 1.0.0" in done.stderr
        assert "npm ran" in done.stdout
    assert not (tmp_path / ".engines/.ready").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("variables", "code"), [({}, 0), ({"CI": "true"}, 1)], ids=["at home", "under CI"])
@pytest.mark.parametrize("workers", ["0", "1"])
def test_skipped_engine_tests_fail_under_ci(tmp_path: Path, variables: dict[str, str], code: int, workers: str) -> None:
    """The same skip is a success at home and a failure under CI, with workers too, and the reason is told."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n  engine\n  containers\n" + f"pythonpath = {ROOT}/.ci/services\n"
    )
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "-n", workers]
    environment = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert "claude is not installed: make engines" in done.stdout
    assert ("tests that CI must not skip" in done.stdout) == bool(code)


@pytest.mark.slow
@pytest.mark.parametrize("has_packages", [True, False], ids=["with packages", "without"])
def test_skipped_container_tests_fail_where_a_daemon_can_be_installed(tmp_path: Path, *, has_packages: bool) -> None:
    """Under CI, root with Debian's packages has no excuse; an ordinary user, and a machine without them, has."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    mark = "import pytest\n\n@pytest.mark.containers\ndef test_it():\n    pytest.skip('no daemon')\n"
    (tmp_path / "test_it.py").write_text(mark)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nmarkers = containers\npythonpath = {ROOT}/.ci/services\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    if has_packages:
        (programs / "apt-get").write_text("#!/bin/sh\n")
        (programs / "apt-get").chmod(0o755)
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider"]
    environment = {"PATH": str(programs), "CI": "true"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == int(has_packages and os.getuid() == 0), done.stdout


@pytest.mark.parametrize("engine", ["claude-code", "codex", "claude-agent-acp"])
def test_the_page_says_what_engines_install(engine: str) -> None:
    """The table of kinds is that of the code, for each engine that it names."""
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| (yes|no) \| (yes|no) \| (yes|no) \|$", PAGE, re.MULTILINE)
    column = 1 + re.search(r"^\| kind \|.*$", PAGE, re.MULTILINE)[0].split("|")[3:6].index(f" `{engine}` ")  # type: ignore[index]
    (entry,) = entry_points(group="skillgauge.engines", name=engine)
    (provider,) = (one for one in entry.load().skillgauge_engines() if one.name == engine)
    assert len(rows) == 8
    assert {row[0] for row in rows if row[column] == "yes"} == provider.traits.installs
