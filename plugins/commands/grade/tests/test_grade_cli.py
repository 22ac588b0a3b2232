"""`grade` as a user runs it, on trajectories in ATIF; `tests/agents` has sessions of real programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e

SKILL = "---\nname: greet-well\ndescription: Says hello the proper way\n---\n# Greeting\nSay ZEBRA.\n"
CASES: list[dict[str, Any]] = [
    {"id": "ann", "prompt": "Say hello\n  to Ann", "assertions": [{"type": "contains", "value": "ZEBRA"}]},
    {"id": "file", "prompt": "Write it down", "assertions": [{"type": "file_exists", "path": "note.txt"}]},
    {"id": "judged", "prompt": "Be kind", "expectations": ["The answer is kind"]},
    {"id": "twin", "prompt": "Twice", "assertions": [{"type": "contains", "value": "a"}]},
    {"id": "twin-2", "prompt": "Twice", "assertions": [{"type": "contains", "value": "b"}]},
]
WITHOUT_JUDGE = [case for case in CASES if case["id"] != "judged"]


@pytest.fixture
def judge() -> Iterator[ModelServer]:
    """The model that judges."""

    def judged(request: ModelRequest) -> ModelReply:
        found = re.search(r"END <name> ([0-9a-f]{32})\.", request.body["messages"][0]["content"])
        assert found
        answer = {"number": 1, "holds": True, "quote": "You are welcome", "absent": "", "reason": "so it is"}
        return ModelReply(json.dumps({"marker": found[1], "answers": [answer]}))

    with ModelServer(judged) as server:
        yield server


class Desk:
    """A skill with a suite, and a folder of sessions."""

    def __init__(self, program: Program, work: Path) -> None:
        self.program, self.work = program, work
        (work / "greet-well/evals").mkdir(parents=True)
        (work / "greet-well/SKILL.md").write_text(SKILL)
        (work / "sessions").mkdir()
        self.suite(WITHOUT_JUDGE)

    def suite(self, cases: list[dict[str, Any]]) -> None:
        """Write the cases."""
        text = json.dumps({"skill_name": "greet-well", "evals": cases})
        (self.work / "greet-well/evals/evals.json").write_text(text)

    def session(self, name: str, prompt: str, answer: str, **more: Any) -> None:
        """Keep a session in which the skill's file was read."""
        call = {"tool_call_id": "a", "function_name": "bash", "arguments": {"cmd": "cat skills/greet-well/SKILL.md"}}
        steps = [
            {"source": "user", "message": prompt},
            {"source": "agent", "tool_calls": [call], "metrics": {"cost_usd": 0.5}},
            {"source": "agent", "message": answer, "metrics": {"cost_usd": 0.25}},
        ]
        agent = {"name": "harbor-agent", "version": "1", "model_name": "m"}
        document = {"schema_version": "ATIF-v1.6", "agent": agent, "steps": steps, **more}
        (self.work / f"sessions/{name}.json").write_text(json.dumps(document))

    def record(self) -> Any:
        """The record of the newest run."""
        newest = max(self.work.glob("reports/run-*.record.json"))
        return json.loads(newest.read_text())


@pytest.fixture
def desk(program: Program, work: Path) -> Desk:
    """A desk of its own."""
    return Desk(program, work)


def verdicts(record: Any) -> dict[str, str]:
    """The verdict of each trial, by its case."""
    return {result["case_id"]: result["verdict"] for result in record["results"]}


def test_sessions_are_shown(desk: Desk) -> None:
    """One line a session, the skills, and sums that say what they lack."""
    desk.session("one", "Say hello to Ann", "ZEBRA")
    desk.session("two", "Other", "", final_metrics={"total_prompt_tokens": 7, "total_completion_tokens": 1})
    shown = desk.program("grade", "sessions")
    assert shown.code == 0
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["one.json", "harbor-agent", "1", "m", "greet-well", "1", "2", "1", "–", "0.7500"] in lines
    assert ["two.json", "harbor-agent", "1", "m", "greet-well", "1", "2", "1", "8", "0.7500"] in lines
    assert ["greet-well", "0", "sessions", "2", "sessions", "2", "read"] in lines
    assert "these sessions are uncontrolled" in shown.stderr
    assert shown.verdict == (
        "2 sessions; 1 without an answer; no skill fired in 0; 8 tokens (unknown of 1 session); 1.50 USD"
    )
    document = desk.program("grade", "sessions/one.json", "sessions/one.json", "--json").document
    assert not document["is_controlled"]
    (session,) = document["sessions"]  # which is named twice
    assert (session["path"], session["tokens"], session["skills_offered"]) == ("sessions/one.json", None, None)
    assert document["totals"]["cost_usd"] == 0.75


def test_a_suite_grades_the_sessions_of_its_cases(desk: Desk) -> None:
    """What needs a workspace is ungraded with the reason, what is of no case is named, and nothing is compared."""
    desk.session("right", " Say hello to Ann ", "ZEBRA")
    desk.session("wrong", "Say hello to Ann", "hello")
    desk.session("file", "Write it down", "done")
    desk.session("twice", "Twice", "a")
    desk.session("stranger", "Sing", "la")
    done = desk.program("grade", "sessions", "--suite", "greet-well", "--format", "record", "html")
    assert done.code == 3, done.stdout + done.stderr  # the one of three that could not be graded
    assert "not graded, since no case has its prompt: " in done.stderr
    assert "not graded, since several cases ask this: twin, twin-2: " in done.stderr
    record = desk.record()
    graded = [(result["case_id"], result["repeat"], result["verdict"]) for result in record["results"]]
    assert graded == [("ann", 1, "pass"), ("ann", 2, "fail"), ("file", 1, "error")]
    (score,) = record["results"][2]["scores"]
    assert score["status"] == "ungraded"
    assert "workspace" in score["reason"]
    assert {result["arm"] for result in record["results"]} == {"uncontrolled"}
    assert {result["execution"]["arm_integrity"].partition(":")[0] for result in record["results"]} == {"unknown"}
    (suite,) = record["plan"]["suites"]
    assert (suite["arms"], suite.get("comparisons", []), record["summary"].get("pairs", [])) == (
        ["uncontrolled"],
        [],
        [],
    )
    assert any(line.startswith("uncontrolled: sessions that were not begun") for line in done.stdout.splitlines())
    assert "sessions that were not begun by skillgauge" in (desk.work / "reports/eval-result.html").read_text()


def test_such_a_run_is_compared_with_nothing(desk: Desk) -> None:
    """Neither as the earlier run nor as the later one, and no gate of the suite is asked of it."""
    desk.session("right", "Say hello to Ann", "ZEBRA")
    desk.session("wrong", "Say hello to Ann", "hello")
    done = desk.program("grade", "sessions", "--suite", "greet-well", "--format", "record")
    assert done.code == 0, done.stderr
    assert [group.get("rate", {}).get("lower") for group in desk.record()["summary"]["groups"]] == [None]
    runs = [run["run"]["run_id"] for run in desk.program("history", "list", "--json").document["runs"]]
    again = desk.program("grade", "sessions", "--suite", "greet-well")
    assert again.code == 0
    compared = desk.program("report", "diff", runs[0], "latest")
    assert "chosen for their results, or may be" in compared.stdout + compared.stderr


def test_a_judge_decides_rubrics(desk: Desk, judge: ModelServer) -> None:
    """Without one the command says who needs it; with one the session's answer is judged."""
    desk.suite(CASES)
    desk.session("kind", "Be kind", "You are welcome")
    refused = desk.program("grade", "sessions", "--suite", "greet-well")
    assert refused.code == 2
    assert "judge.none" in refused.stderr
    skipped = desk.program("grade", "sessions", "--suite", "greet-well", "--without-judged", "--format", "record")
    assert skipped.code == 0, skipped.stderr
    assert verdicts(desk.record()) == {"judged": "skipped"}
    arguments = ("--judge", "openai", "--judge-model", "kind", "--set", f"judges.openai.base_url={judge.url}/v1")
    done = desk.program(
        "grade", "sessions", "--suite", "greet-well", "--format", "record", *arguments, env=keyed(desk.program)
    )
    assert done.code == 0, done.stderr
    run = desk.program("history", "list", "--json").document["runs"][0]["run"]["run_id"]
    shown = desk.program("report", "show", run, "--json").document
    assert verdicts(shown) == {"judged": "pass"}


def keyed(program: Program) -> dict[str, str]:
    """The variables of a program with a made-up key."""
    return {**program.environment, "OPENAI_API_KEY": "made-up-key-0123456789"}


def test_a_case_may_be_named(desk: Desk) -> None:
    """For a single session, whatever it was asked."""
    desk.session("one", "Something else", "a ZEBRA")
    done = desk.program("grade", "sessions/one.json", "--suite", "greet-well", "--case", "ann", "--format", "record")
    assert done.code == 0, done.stderr
    assert verdicts(desk.record()) == {"ann": "pass"}
    absent = desk.program("grade", "sessions/one.json", "--suite", "greet-well", "--case", "anm")
    assert (absent.code, "did you mean ann?" in absent.stderr) == (2, True)
    desk.session("two", "Something else", "b")
    several = desk.program("grade", "sessions", "--suite", "greet-well", "--case", "ann")
    assert (several.code, "--case is for one session, and here are 2" in several.stderr) == (2, True)


def test_what_cannot_be_read_is_told(desk: Desk) -> None:
    """A damaged file costs itself in a folder, and the exit code; named, it ends the command, as other files do."""
    (desk.work / "sessions/notes.json").write_text("{}")
    (desk.work / "sessions/notes.txt").write_text("no session")
    empty = desk.program("grade", "sessions")
    assert (empty.code, "there is no session in" in empty.stderr) == (5, True)
    for named in ("sessions/notes.txt", "absent.jsonl"):
        refused = desk.program("grade", named)
        assert refused.code == 2
        assert named in refused.stderr
    desk.session("one", "Say hello to Ann", "ZEBRA")
    (desk.work / "sessions/cut.json").write_text('{"schema_version": "ATIF-v1.6", "agent": {"na')
    for more in ((), ("--suite", "greet-well")):
        shown = desk.program("grade", "sessions", *more)
        assert shown.code == 2, shown.stderr
        assert "cut.json" in shown.stderr
        assert "one.json" in shown.stdout or "1 of 1 case passed" in shown.stdout
    alone = desk.program("grade", "sessions/cut.json")
    assert alone.code == 2
    assert "cut.json" in alone.stderr


def test_options_of_a_suite_need_one(desk: Desk) -> None:
    """What has no effect is refused."""
    desk.session("one", "Say hello to Ann", "ZEBRA")
    refused = desk.program("grade", "sessions", "--case", "ann", "--format", "html")
    assert refused.code == 2
    assert "--case, --format" in refused.stderr.replace("--formats", "--format")


def test_nothing_else_is_read(desk: Desk) -> None:
    """Links out of a folder are not followed, and what lies in the home of the user is nobody's business."""
    desk.session("one", "Say hello to Ann", "ZEBRA")
    outside = desk.work / "outside"
    outside.mkdir()
    (desk.work / "sessions/one.json").rename(outside / "one.json")
    (desk.work / "sessions/link.json").symlink_to(outside / "one.json")
    (desk.work / "sessions/folder").symlink_to(outside)
    assert desk.program("grade", "sessions").code == 5
    assert desk.program("grade", "sessions/link.json").code == 0  # which the user names


def test_hostile_texts_are_shown_as_they_are(desk: Desk) -> None:
    """Nothing in a session moves the cursor or ends a line."""
    esc = "\x1b[2J\x1b]0;owned\x07\r\n"
    desk.session(
        "one", f"{esc}hello", "x", agent={"name": f"a{esc}", "version": "1", "model_name": f"m{esc}"}, session_id=esc
    )
    shown = desk.program("grade", "sessions")
    assert shown.code == 0, shown.stderr
    assert "\x1b" not in shown.stdout + shown.stderr
    assert "\x07" not in shown.stdout + shown.stderr
    unmatched = desk.program("grade", "sessions", "--suite", "greet-well")
    assert unmatched.code == 5
    assert "\x1b" not in unmatched.stderr
    assert desk.program("grade", "sessions", "--json").document["sessions"][0]["model"] == f"m{esc}"
