"""Attempts to get out: none may succeed, as root and as an ordinary user."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from skillgauge.api import Command, SandboxSpec
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox
from skillgauge_testkit.attacks import ATTACKS, Attack, Bounds, attack_sandbox

pytestmark = pytest.mark.usefixtures("bubblewrap")
BOUNDS = Bounds()
OPTIONS = {
    "processes": BOUNDS.processes,
    "memory_mb": BOUNDS.memory_mb,
    "file_mb": BOUNDS.file_mb,
    "disk_mb": BOUNDS.disk_mb,
    "tmp_mb": BOUNDS.tmp_mb,
}
SYSTEM_PYTHON = "/usr/bin/python3"
SOMEBODY = 54321
"""A user id that owns nothing here."""

AS_SOMEBODY = """
import asyncio, json, os, sys, tempfile
from pathlib import Path
from skillgauge_testkit.attacks import ATTACKS, Bounds, attack_sandbox
from skillgauge_sandbox_bubblewrap import launching
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox

options, home, user, python = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
by_launcher = sys.argv[5] != "bwrap"

if sys.argv[5] == "python":
    launching.COMPILED = Path(os.devnull)

def attack(attacks, python):
    sandbox = BubblewrapSandbox(BubblewrapOptions(**options))
    sandbox._host.launchers.are_usable = by_launcher
    report = asyncio.run(sandbox.check())
    assert not report.problems, report
    got = asyncio.run(attack_sandbox(sandbox, attacks, bounds=Bounds(), python=python))
    assert sandbox._host.launchers.are_usable is by_launcher
    return got

attack([one for one in ATTACKS if one.name in ("read-home", "relay")], sys.executable)  # imports what is imported late
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
os.environ.clear()
os.environ.update(PATH="/usr/bin:/bin", HOME=home, TMPDIR=home)
os.chdir(home)
tempfile.tempdir = None
sys.executable = python
print(json.dumps(dict(attack(ATTACKS, python))))
"""


@pytest.mark.usefixtures("any_way")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_it_is_stopped(attack: Attack) -> None:
    """The attempt fails in a sandbox of tier strict."""
    sandbox = BubblewrapSandbox(BubblewrapOptions.model_validate(OPTIONS))
    got = asyncio.run(attack_sandbox(sandbox, [attack], bounds=BOUNDS))
    assert got == {attack.name: None}


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become an ordinary user; the others tests ran as one")
@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason=f"no {SYSTEM_PYTHON}, which any user could run")
@pytest.mark.parametrize("way", ["compiled", "python", "bwrap"])
def test_all_are_stopped_for_an_ordinary_user(way: str, request: pytest.FixtureRequest) -> None:
    """The same holds where the sandbox is not run by root."""
    if way == "compiled":
        request.getfixturevalue("compiled")
    with tempfile.TemporaryDirectory(prefix="skillgauge-somebody-") as home:
        os.chown(home, SOMEBODY, SOMEBODY)
        words = [sys.executable, "-c", AS_SOMEBODY, json.dumps(OPTIONS), home, str(SOMEBODY), SYSTEM_PYTHON, way]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == dict.fromkeys([attack.name for attack in ATTACKS])


def test_home_is_hidden_although_its_tools_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs in folders of the home that PATH names can be run; keys beside them cannot be read."""
    home = tmp_path / "home"
    tool = home / ".local" / "bin" / "tool"
    key, share = home / ".ssh" / "id_ed25519", home / ".local" / "share" / "token"
    for file in (tool, key, share):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\necho tool ran\n")
    tool.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}:{tool.parent}:{os.environ['PATH']}")

    async def look() -> tuple[str, str]:
        async with BubblewrapSandbox(BubblewrapOptions()).open(SandboxSpec(label="x")) as workspace:
            script = f"tool; cat {key} {share} {home}/*; ls -A {home}"
            finished = await (await workspace.start(Command(argv=("sh", "-c", script)))).wait()
            return finished.stdout.decode(), finished.stderr.decode()

    out, err = asyncio.run(look())
    assert out.splitlines() == ["tool ran", ".local"]
    assert err.count("No such file") == 3
