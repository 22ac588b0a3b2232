"""Told before it is paid: logins that are here, places that cannot be written, and what an interrupt costs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("is_here", [True, False])
def test_a_login_is_shown_as_found(program: Program, scripted: Scripted, is_here: bool) -> None:
    """R3-F9: `init` finds it, and so does a dry run; its content is not read."""
    login = Path(program.environment["HOME"]) / ".claude/.credentials.json"
    if is_here:
        login.parent.mkdir(parents=True)
        login.write_text(json.dumps({"made": "up"}))
    plan = program("eval", "s", "--engine", "claude-code", "--dry-run").stdout
    (line,) = [line for line in plan.splitlines() if line.startswith("engine 'claude-code' needs a key: ")]
    assert line.endswith("(login found: ~/.claude/.credentials.json)" if is_here else "(none is set)")


@pytest.mark.parametrize("place", [("--output-dir", "file/reports"), ("-o", "file/result.json")])
def test_a_place_that_cannot_be_written_is_told_first(scripted: Scripted, place: tuple[str, str]) -> None:
    """R3-F23: no session runs; a dry run warns, and makes nothing."""
    (scripted.work / "file").write_text("in the way")
    scripted.script(letters("p"), letters("f"))
    refused = scripted.run("eval", "s", "--engine", "scripted", *place, code=2)
    assert "error[usage.unwritable]: cannot write into " in refused.stderr
    assert "is not a folder" in refused.stderr
    assert scripted.sessions() == []
    warned = scripted.run("eval", "s", "--engine", "scripted", *place, "--dry-run")
    assert "warning[usage.unwritable]: cannot write into " in warned.stderr


def test_a_report_that_cannot_be_written_costs_no_verdict(scripted: Scripted) -> None:
    """R3-F23: the place was fine when the run began; the rates, the verdict and the reason are told all the same."""
    scripted.script(letters("p"), letters("f"))
    plugin = scripted.work / "spoiler.py"
    plugin.write_text(SPOILER)
    done = scripted.run("eval", "s", "--engine", "scripted", "--plugin", str(plugin), "--format", "markdown", code=2)
    assert "error[usage.unwritable]" in done.stderr
    assert "s · with_skill — pass rate 100.0%" in done.stdout
    assert "+100.0 points against without_skill" in done.verdict


SPOILER = """
from pathlib import Path

from skillgauge.api import hookimpl


@hookimpl
def skillgauge_run_finished(run, summary):
    Path("reports").write_text("in the way")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("store", "told"),
    [("none", "without a store the same command starts over"), ("kept.db", "the same command resumes the run")],
)
def test_a_resume_is_promised_only_where_it_can_happen(scripted: Scripted, store: str, told: str) -> None:
    """R3-F20: Ctrl-C, with a store and without one."""
    started = scripted.work / "started"
    argv = json.dumps(["sh", "-c", f"touch {started}; sleep 60"])
    settings = ("--set", f"engines.command.argv={argv}", "--set", "engines.command.skill_folder=skills")
    command = [sys.executable, "-m", "skillgauge", "eval", "s", "--engine", "command", *settings]
    command += ["--sandbox", "local", "--store", store, "--format", "record"]
    with subprocess.Popen(
        command, cwd=scripted.work, env=scripted.program.environment, stderr=subprocess.PIPE, text=True
    ) as running:
        while not started.exists() and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130, stderr
    assert told in stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("engine", "model", "is_told"),
    [("claude-code", "gpt-5", True), ("claude-code", "sonnet", False), ("codex", "gpt-5", False)],
)
def test_a_model_of_another_vendor_is_told(
    program: Program, scripted: Scripted, engine: str, model: str, is_told: bool
) -> None:
    """A dry run names the engines that serve it; an address of one's own may serve any model."""
    assert scripted
    command = ("eval", "s", "--engine", engine, "--model", model, "--dry-run")
    told = program(*command).stderr
    assert ("engine.other-model" in told) is is_told
    if is_told:
        assert "codex" in told
    elsewhere = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "OPENAI_BASE_URL": "http://127.0.0.1:9"}
    assert "engine.other-model" not in program(*command, env=elsewhere).stderr


def test_a_dry_run_tells_wrong_options_of_an_engine(program: Program, work: Path) -> None:
    """They are what the user asked for, not what this machine lacks: an error, once, and nothing else is blamed."""
    for name in ("one", "two"):
        skill = work / "skills" / name
        (skill / "evals").mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does it.\n---\nDo it.\n")
        (skill / "evals/evals.json").write_text(json.dumps({"skill_name": name, "evals": [{"id": 1, "prompt": "Go."}]}))
    done = program("eval", "skills", "--engine", "command", "--dry-run", "--json")
    assert done.code == 2, done.stdout
    wrong = [(one["code"], one["severity"]) for one in json.loads(done.stdout)["problems"]]
    assert wrong.count(("plugin.options", "error")) == 1
    assert "called directly" not in done.stdout + done.stderr
