"""Setting up says what is missing before it changes anything, and compiles what has to be."""

from __future__ import annotations

import shutil
import subprocess
import sys
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


@pytest.mark.skipif(sys.platform != "linux", reason="the launcher is of Linux")
def test_launcher_of_another_compiler(tmp_path: Path) -> None:
    """What was compiled before musl's compiler was there is compiled anew with it, once."""
    sources = tmp_path / "plugins/sandboxes/bubblewrap/src/skillgauge_sandbox_bubblewrap/native"
    sources.mkdir(parents=True)
    (sources / "launcher.c").touch()
    (tmp_path / "bin").mkdir()
    say_library = 'shift $(($# - 2)); echo "{0} $$" >"$1"'  # the last words are the program and its source
    for name, library in (("cc", "glibc"), ("musl-gcc", "musl")):
        interpreter(tmp_path / "bin" / name, say_library.format(library))

    def compiled(**variables: str) -> str:
        environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", **variables}
        subprocess.run(["sh", str(ROOT / ".ci/launcher")], cwd=tmp_path, env=environment, check=True)
        return (sources / "launcher").read_text()

    first = compiled(CC=str(tmp_path / "bin/cc"))
    assert first.startswith("glibc")
    assert compiled(CC=str(tmp_path / "bin/cc")) == first
    second = compiled()
    assert second.startswith("musl")
    assert compiled() == second
