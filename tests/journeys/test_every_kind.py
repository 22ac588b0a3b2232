"""What `skillgauge plugins new` makes of every kind installs from its wheel, passes its tests, and works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import wheels as ci_wheels
from skillgauge_testkit.scaffold import SINGULAR

from .conftest import TIME_LIMIT_S, once

BIN = Path(sys.executable).parent
NAME = "acme-tone"
INSTALLED = (
    "skillgauge-testkit",
    "skillgauge-scorer-exact",
    "skillgauge-reporter-record",
    "pytest",
    "hatchling",
)
SUITE = {
    NAME: 1,
    "id": "echo",
    "adapter": NAME,
    "entrypoint": "cat",
    "cases": [
        {"id": "same", "input": "hello", "expected": "hello"},
        {"id": "odd", "input": "TODO", "expected": "TODO"},
    ],
}

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory, wheelhouse: Path) -> Path:
    """A folder with a project of every kind, and an environment in which the wheel of each is installed."""
    return once(tmp_path_factory, "kinds", lambda folder: _make_all(folder, wheelhouse))


def _make_all(folder: Path, wheelhouse: Path) -> None:
    ci_wheels.must(ci_wheels.UV, "venv", "--quiet", "--python", sys.executable, "venv", cwd=folder)
    # From a cache could come wheels of the same names that were built from other sources.
    offline = ("--no-cache", "--no-index", "--find-links", wheelhouse, "--python", "venv/bin/python")
    install = (ci_wheels.UV, "pip", "install", "--quiet", *offline)
    ci_wheels.must(*install, *INSTALLED, cwd=folder)
    for kind in SINGULAR:
        ci_wheels.must(folder / "venv/bin/skillgauge", "plugins", "new", kind, NAME, cwd=folder)
    # The back end is there already; that pip finds it by itself is for a journey to show.
    ci_wheels.must(*install, "--no-build-isolation", *sorted(folder.glob("skillgauge-*")), cwd=folder)
    # The agent of the engine is found as any agent is: by its name.
    shutil.copy2(folder / f"skillgauge-engine-{NAME}/tests/stand_in.py", folder / "venv/bin" / NAME)


@pytest.fixture
def run(place: Path, tmp_path: Path) -> Run:
    """Runs a program of the environment; in a folder of its own unless another is given."""

    def call(program: str, *arguments: str, cwd: Path = tmp_path, **more: str) -> subprocess.CompletedProcess[str]:
        programs = place / "venv/bin"
        environment = {"HOME": str(tmp_path), "PATH": f"{programs}{os.pathsep}{os.defpath}", "LANG": "C.UTF-8", **more}
        return subprocess.run(
            [str(programs / program), *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIME_LIMIT_S,
        )

    return call


@pytest.mark.e2e
@pytest.mark.slow
class TestEveryKind:
    """One environment for all of them: a plugin of one kind does not disturb those of the others."""

    @pytest.mark.parametrize("kind", SINGULAR)
    def test_its_tests_pass(self, kind: str, place: Path, run: Run) -> None:
        """The tests that come with it pass against the installed wheel, warnings being errors."""
        project = place / f"skillgauge-{SINGULAR[kind]}-{NAME}"
        done = run("python", "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", cwd=project)
        assert done.returncode == 0, done.stdout + done.stderr

    def test_doctor_finds_them_healthy(self, run: Run) -> None:
        """Each can be imported and made, and its check has no complaint, the agent and its key being there."""
        done = run("skillgauge", "plugins", "doctor", "--json", ACME_TONE_API_KEY="made-up-key")
        ours = {one["kind"]: one for one in json.loads(done.stdout)["plugins"] if one["name"] == NAME}
        assert set(ours) == set(SINGULAR)
        assert {kind: one["problem"] for kind, one in ours.items() if not one["healthy"]} == {}
        assert done.returncode == 0

    def test_they_work_together(self, run: Run, tmp_path: Path) -> None:
        """One run with format, adapter, scorer, sandbox, reporter and store of the templates; a command reads it."""
        (tmp_path / "echo.json").write_text(json.dumps(SUITE))
        evaluate = ("eval", "echo.json", "--check", NAME, "--sandbox", NAME, "--store", f"{NAME}://runs")
        done = run("skillgauge", *evaluate, "--format", NAME, "record", ACME_TONE_LOG="log.jsonl")
        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / "reports/eval-result.txt").read_text().splitlines() == [
            "1 of 2 trials passed, 0 errors",
            f"FAIL echo/odd (echo, direct, repeat 1): {NAME}: the answer holds 'TODO'",
        ]
        assert [json.loads(line)["passed"] for line in (tmp_path / "log.jsonl").read_text().splitlines()] == [1]
        assert len(list((tmp_path / "runs").glob("*.jsonl"))) == 1
        (record,) = (tmp_path / "reports").glob("*.record.json")
        listed = run("skillgauge", NAME, str(record), "--json")
        assert listed.returncode == 1
        assert [trial["case"] for trial in json.loads(listed.stdout)["trials"]] == ["odd"]

    def test_the_extension_has_a_say(self, run: Run, tmp_path: Path) -> None:
        """A plan beyond what the policy allows is not run."""
        (tmp_path / "echo.json").write_text(json.dumps(SUITE))
        done = run("skillgauge", "eval", "echo.json", "--store", "none", ACME_TONE_MAX_TRIALS="1")
        assert done.returncode == 2
        assert "2 trials, but ACME_TONE_MAX_TRIALS allows 1" in done.stderr


@pytest.mark.slow
def test_the_code_is_typed_and_tidy(place: Path) -> None:
    """Mypy in its strict mode, and ruff with the defaults that outsiders have, find nothing in any project."""
    projects = sorted(place.glob("skillgauge-*"))
    sources = [path for project in projects for path in (project / "src").iterdir()]
    python = f"--python-executable={place / 'venv/bin/python'}"
    ci_wheels.must(BIN / "mypy", "--strict", f"--cache-dir={place / 'mypy'}", python, *sources, cwd=place)
    for project in projects:
        rules = ("--select", "A,B,C4,D1,E,F,I,N,PIE,PTH,RET,RUF,SIM,UP", "--ignore", "D105,D107")
        ci_wheels.must(BIN / "ruff", "check", "--isolated", "--no-cache", *rules, cwd=project)
        ci_wheels.must(BIN / "ruff", "format", "--isolated", "--no-cache", "--check", cwd=project)
