"""An agent's client speaks with the server over stdio."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_command_mcp.answers import run_plan
from skillgauge_command_mcp.runs import Budget
from skillgauge_command_mcp.workplace import RefusedError, Workplace
from skillgauge_testkit.leftovers import command_lines
from skillgauge_testkit.program import PROGRAM, TIME_LIMIT_S, Program

from .conftest import AGENT, Serve

SCRIPT = f"--set=engines.mock.script={AGENT / 'release-notes.mock.yaml'}"
HELLO = {
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
RUNS = ("--allow-runs", "--max-cost", "2", SCRIPT)


@pytest.mark.slow
def test_every_tool_has_a_schema_and_words(serve: Serve) -> None:
    """An agent chooses by a description, described arguments, and the mark of tools that change something."""
    with serve() as session:
        tools = session.tools()
        assert "runs are not allowed" in session.instructions
    of_suites = {"list_evals", "validate_evals", "draft_evals"}
    of_runs = {"plan_run", "run_evals", "run_status", "stop_run"}
    assert set(tools) == of_suites | of_runs | {"read_run", "failing_cases", "read_case", "compare_runs"}
    for tool in tools.values():
        assert len(tool.description) > 40
        assert all(
            "description" in each or "$ref" in each or "allOf" in each
            for each in tool.input_schema["properties"].values()
        ), tool.name
        assert tool.output_schema["type"] == "object"
    changing = {name for name, tool in tools.items() if not tool.annotations.read_only_hint}
    assert changing == {"draft_evals", "run_evals", "stop_run"}


@pytest.mark.slow
def test_from_evals_to_a_case(serve: Serve) -> None:
    """The way that the server describes: list, check, plan, run, read."""
    with serve(*RUNS) as session:
        assert session.ask("list_evals")["total"] == 8
        validation = session.ask("validate_evals", path="release-notes")
        assert (validation["valid"], validation["verdict"]) == (True, "valid: 2 suites, 8 cases")
        evals = {"path": "release-notes/evals/evals.json", "engine": ["mock"]}
        plan = session.ask("plan_run", evals=evals)
        assert (plan["sessions"], plan["paid_sessions"], plan["estimated_usd"]) == (8, 0, 0.0)
        status = session.ask("run_evals", evals=evals, wait_s=100)
        assert (status["state"], status["budget_left_usd"]) == ("ended", 2.0), status
        (lift,) = status["report"]["lifts"]
        assert (lift["candidate"], lift["lift"], lift["cases"]) == ("with_skill", 0.75, 4)
        stored = session.ask("read_run")
        assert {**stored, "verdict": ""} == {**status["report"], "verdict": ""}
        failed = session.ask("failing_cases", arm="without_skill", limit=2)
        assert (failed["total"], len(failed["trials"])) == (3, 2)
        assert "exit code 1 instead of 0" in failed["trials"][0]["reason"]
        case = session.ask("read_case", case=failed["trials"][0]["case"], arm="without_skill")
        assert "users were signed out" in case
        assert "HRB-17.note is not there" in case
        session.ask("run_evals", evals={**evals, "repeats": 2}, wait_s=100)
        assert "Before" in session.ask("compare_runs")


@pytest.mark.slow
def test_recordings_cost_nothing_and_have_no_key(serve: Serve) -> None:
    """An agent may grade recorded sessions anew."""
    with serve(*RUNS) as session:
        evals = {"path": "release-notes/evals/evals.json", "replay": "recordings", "cases": ["1"]}
        status = session.ask("run_evals", evals=evals, wait_s=100)
    assert status["report"]["cost_usd"] in (0, None)
    assert {group["arm"]: group["pass_rate"] for group in status["report"]["groups"]} == {
        "with_skill": 1.0,
        "without_skill": 0.0,
    }


@pytest.mark.slow
def test_nothing_runs_unless_the_user_says_so(serve: Serve, work: Path) -> None:
    """The refusal says what to ask the user for; reading and planning go on."""
    with serve() as session:
        words = session.refusal("run_evals", evals={"path": "release-notes", "engine": ["mock"]})
        assert "--allow-runs --max-cost USD" in words
        assert "no runs are stored" in session.refusal("read_run")
    assert not (work / "reports").exists()


@pytest.mark.slow
def test_paths_are_held_within_the_folders(serve: Serve, skills: Path, work: Path) -> None:
    """Neither a relative path, an absolute one, a link nor a report leads out."""
    (skills / "link").symlink_to(work / "outside")
    (work / "report.json").write_text("{}")
    with serve(*RUNS) as session:
        for path in ("../outside", str(work / "outside"), "link", "/etc", "release-notes/../../outside"):
            for tool, arguments in (
                ("list_evals", {"path": path}),
                ("validate_evals", {"path": path}),
                ("draft_evals", {"skill": path}),
                ("plan_run", {"evals": {"path": path}}),
                ("run_evals", {"evals": {"path": "release-notes", "replay": path}}),
            ):
                assert "outside of the folders" in session.refusal(tool, **arguments), (tool, path)
        for run in ("../outside/SKILL.md", "report.json", str(work / "report.json"), "--store=x"):
            words = session.refusal("read_run", run=run)
            assert "outside of the folders" in words or "nothing at" in words, words
    assert not (work / "outside/evals").exists()


@pytest.mark.slow
def test_words_are_no_options(serve: Serve) -> None:
    """An argument that begins as an option does is refused."""
    with serve(*RUNS) as session:
        for name in ("engine", "model", "cases"):
            words = session.refusal("plan_run", evals={"path": "release-notes", name: ["--trust-config"]})
            assert "begins with no '-'" in words


@pytest.mark.slow
def test_errors_say_what_to_do_next(serve: Serve, skills: Path) -> None:
    """Problems of the program come with their place and the next step."""
    (skills / "bad/evals").mkdir(parents=True)
    (skills / "bad/SKILL.md").write_text("---\nname: bad\ndescription: x\n---\n")
    (skills / "bad/evals/evals.json").write_text('{"skill_name": "bad", "evals": [{"id": 1, "prompt": 3}]}')
    with serve(*RUNS) as session:
        validation = session.ask("validate_evals", path="bad")
        assert validation["valid"] is False
        assert "evals.json:1:" in validation["verdict"] + json.dumps(validation["findings"])
        words = session.refusal("plan_run", evals={"path": "release-notes", "engine": ["nonesuch"]})
        assert "plugin.not-installed" in words
        assert "next:" in words
        assert "nothing at 'nothing'" in session.refusal("validate_evals", path="nothing")
        assert "there is no run 'job-9'" in session.refusal("run_status", job="job-9")
        assert "next:" in session.refusal("read_case", case="none")


@pytest.mark.slow
def test_drafts_are_begun_and_nothing_is_overwritten(serve: Serve, skills: Path) -> None:
    """A skill without evals gets blank drafts, once."""
    (skills / "new").mkdir()
    (skills / "new/SKILL.md").write_text(
        "---\nname: new\ndescription: Sorts.\n---\n# New\n\n## Sort files\n\nBy date.\n"
    )
    with serve() as session:
        assert "created" in session.ask("draft_evals", skill="new")
        drafts = skills / "new/evals/evals.draft.json"
        assert json.loads(drafts.read_text())["drafts"][0]["id"] == "sort-files"
        drafts.write_text("{}")
        assert "exists" in session.ask("draft_evals", skill="new")
        assert drafts.read_text() == "{}"


@pytest.mark.slow
def test_a_long_run_is_followed_and_stopped(serve: Serve, work: Path) -> None:
    """The answer comes before the end; one run is under way at a time; what is finished when it stops is kept."""
    (work / "slow.yaml").write_text("replies: [{match: 'HRB-17', text: quick}, {run: 'sleep 60'}]")
    slow = ("--allow-runs", "--max-cost", "2", "--set", f"engines.mock.script={work / 'slow.yaml'}")
    with serve(*slow) as session:
        evals = {"path": "release-notes/evals/evals.json", "engine": ["mock"]}
        status = session.ask("run_evals", evals=evals, wait_s=0)
        assert (status["state"], status["report"]) == ("running", None)
        assert "is under way" in session.refusal("run_evals", evals=evals)
        stopped = session.ask("stop_run", job=status["job"])
        assert stopped["state"] in ("ended", "failed")
        assert session.ask("run_evals", evals={**evals, "cases": ["1"]}, wait_s=100)["state"] == "ended"


def test_what_a_run_may_have_cost_is_counted() -> None:
    """The known cost, and all that was allotted where it is not known."""
    budget = Budget(2.0)
    spending = {"cost_usd": 0.25, "unknown": 0, "cut_off": 0}
    budget.settle(budget.allot(None), {"summary": {"spending": spending}})
    assert budget.allot(1.0) == 1.0
    assert budget.allot(9.0) == 1.75
    budget.settle(0.75, {"summary": {"spending": {**spending, "cut_off": 1}}})
    assert budget.left_usd == 1.0
    budget.settle(1.0, None)
    with pytest.raises(RefusedError, match="used up"):
        budget.allot(None)


def test_a_plan_is_priced_by_the_last_run() -> None:
    """Sessions of the same suite, arm, engine and model; without them the price is unknown, not zero."""
    arm = {"suite": "s", "arm": "with_skill", "runner": "codex", "model": None, "cases": 2, "runs": 3, "sessions": 6}
    document = {"arms": [{**arm, "paid": True}], "problems": []}
    result = {"suite_id": "s", "arm": "with_skill", "runner": "codex"}
    costs = (0.1, 0.3, None)
    results = [{**result, "execution": {"usage": {"cost_usd": cost}}} for cost in costs]
    plan = run_plan(document, {"run": {"run_id": "r1"}, "results": results})
    assert plan.estimated_usd == pytest.approx(1.2)
    assert "r1" in plan.estimate_basis
    assert run_plan(document, None).estimated_usd is None
    played = [{**result, "execution": {"usage": {"cost_usd": 1.0}, "replayed": True}}]
    assert run_plan(document, {"run": {"run_id": "r1"}, "results": played}).estimated_usd is None


@pytest.mark.slow
@given(st.text(max_size=60))
def test_no_text_leads_out(text: str) -> None:
    """Whatever is named as a path is refused or lies in the folder; whatever is named as a run is no option."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "root"
        root.mkdir()
        (root.parent / "secret").write_text("x")
        place = Workplace((root,), root)
        for name in (place.path, place.run):
            with suppress(RefusedError):
                path = name(text)
                assert path == text or path == str(root) or str(root) in map(str, Path(path).parents)
                assert not path.startswith("-")


@pytest.mark.slow
def test_a_run_ends_with_the_server(serve: Serve, work: Path) -> None:
    """No process outlives the connection."""
    marker = f"sleep 61.{os.getpid()}"
    (work / "slow.yaml").write_text(f"replies: [{{run: '{marker}'}}]")
    slow = ("--allow-runs", "--max-cost", "2", "--set", f"engines.mock.script={work / 'slow.yaml'}")
    with serve(*slow) as session:
        session.ask("run_evals", evals={"path": "release-notes/evals/evals.json", "engine": ["mock"]}, wait_s=0)
        assert _awaits(marker, present=True)
    assert _awaits(marker, present=False)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_ends_when_a_signal_ends_the_server(program: Program, skills: Path, number: signal.Signals) -> None:
    """Clients that lose patience send one."""
    marker = f"sleep 62.{os.getpid()}{int(number)}"
    (program.work / "slow.yaml").write_text(f"replies: [{{run: '{marker}'}}]")
    command = [PROGRAM, "mcp", skills, "--allow-runs", "--max-cost", "2", "--set=engines.mock.script=slow.yaml"]
    with (
        (program.work / "server.txt").open("w") as errors,
        subprocess.Popen(
            command,
            cwd=program.work,
            env=dict(program.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as running,
    ):
        evals = {"path": "release-notes/evals/evals.json", "engine": ["mock"]}
        assert running.stdin is not None
        for message in (
            HELLO,
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "run_evals", "arguments": {"evals": evals}}},
        ):
            running.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            running.stdin.flush()
        assert _awaits(marker, present=True)
        running.send_signal(number)
        assert running.wait(timeout=TIME_LIMIT_S) == 130
        assert _awaits(marker, present=False)


def _awaits(command: str, *, present: bool) -> bool:
    """Tell if a process with this command line comes, or goes, before the time is up."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if any(line.startswith(command) for line in command_lines().values()) is present:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--allow-runs",), "--allow-runs needs --max-cost"),
        (("--max-cost", "2"), "--max-cost needs --allow-runs"),
        (("nonesuch",), "there is no folder"),
        (("--json",), "stdout belongs to the protocol"),
        (("--trust-config",), "--trust-config is for one command"),
    ],
)
def test_wrong_command_lines(program: Program, arguments: tuple[str, ...], words: str) -> None:
    """They end with code 2 before anything is served."""
    done = program("mcp", *arguments)
    assert (done.code, done.stdout.startswith("{")) == (2, "--json" in arguments)
    assert words in done.stderr + done.stdout


@pytest.mark.slow
def test_the_other_side_may_leave(program: Program) -> None:
    """A closed stdin ends the server with code 0, and Ctrl-C ends it, too."""
    done = subprocess.run(
        [PROGRAM, "mcp"],
        cwd=program.work,
        env=dict(program.environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    with subprocess.Popen(
        [PROGRAM, "mcp"],
        cwd=program.work,
        env=dict(program.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(json.dumps({"jsonrpc": "2.0", **HELLO}).encode() + b"\n")
        running.stdin.flush()
        assert b'"serverInfo"' in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=TIME_LIMIT_S) == 130
