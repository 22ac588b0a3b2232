"""Setting up says what is missing before it changes anything."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from members import ROOT


def bootstrap(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Run the set-up script in a folder with no project in it."""
    shutil.copy(ROOT / ".ci/bootstrap", folder)
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": python}
    return subprocess.run(["sh", "bootstrap"], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def interpreter(path: Path, script: str) -> str:
    """A program that poses as a Python."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_no_python(tmp_path: Path) -> None:
    """Without the interpreter, the message names it and how to name another."""
    done = bootstrap(tmp_path, "no-such-python")
    assert done.returncode == 1
    assert "'no-such-python' does not run" in done.stderr
    assert "make install PYTHON=" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_old_python(tmp_path: Path) -> None:
    """With a Python that is too old, the message gives the version it has and the one it needs."""
    old = 'case "$*" in "-c ") exit 0 ;; -V) echo Python 3.9.2 ;; *) exit 1 ;; esac'
    done = bootstrap(tmp_path, interpreter(tmp_path / "python", old))
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "is Python 3.9.2" in done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("pip", [0, 1], ids=["with pip", "without pip"])
def test_no_venv_module(tmp_path: Path, pip: int) -> None:
    """Where `python3 -m venv` fails, the message names the package that Debian keeps it in."""
    broken = f'case "$*" in "-m venv"*) exit 1 ;; "-m pip"*) exit {pip} ;; *) exit 0 ;; esac'
    done = bootstrap(tmp_path, interpreter(tmp_path / "python", broken))
    assert done.returncode == 1
    assert "apt install python3-venv" in done.stderr
