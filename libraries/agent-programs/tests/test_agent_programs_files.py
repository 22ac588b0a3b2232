"""What an image must be shown for a program of this machine to start."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge_agent_programs.programs import announced


def program(path: Path) -> Path:
    """A file that can be started."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def linked(path: Path, to: Path) -> Path:
    """A link to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(to)
    return path


def test_a_file_and_what_it_leads_to(tmp_path: Path) -> None:
    """Not the folders that hold them, which an image has, too."""
    real = program(tmp_path / "share/agent/1.2.3/agent")
    link = linked(tmp_path / "bin/agent", real)
    assert announced(str(link)) == {"program": (str(link), "--version"), "program_files": (str(link), str(real))}
    assert announced(str(real))["program_files"] == (str(real),)


@pytest.mark.parametrize(
    ("package", "shown"),
    [("@acme/agent", "lib/node_modules/@acme/agent"), ("agent", "lib/node_modules/agent")],
)
def test_a_package_that_has_its_own_packages(tmp_path: Path, package: str, shown: str) -> None:
    """As `npm install --global` lays it: that package alone, and not those of the image beside it."""
    real = program(tmp_path / "lib/node_modules" / package / "bin/agent.js")
    (tmp_path / "lib/node_modules" / package / "node_modules").mkdir()
    link = linked(tmp_path / "bin/agent", real)
    assert announced(str(link))["program_files"] == (str(link), str(tmp_path / shown))


def test_a_package_among_others(tmp_path: Path) -> None:
    """As `npm install` lays it in a project: what it needs lies beside it, and so does the link."""
    real = program(tmp_path / "node_modules/@acme/agent/bin/agent.js")
    link = linked(tmp_path / "node_modules/.bin/agent", real)
    assert announced(str(link))["program_files"] == (str(tmp_path / "node_modules"),)


def test_a_program_that_is_not_there() -> None:
    """Nothing is announced: that it is missing is said elsewhere."""
    assert announced("no-such-agent-program") == {}
