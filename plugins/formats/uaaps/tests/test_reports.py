"""Reports of evals as documents: compared, followed over time, read from other runners."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillgauge_format_uaaps.schemas import schemas
from skillgauge_testkit import REPORTERS, Maker, check_light_import, check_plugin, check_reporter
from skillgauge_testkit.program import Program

REPORTER = "skillgauge_format_uaaps.reporter_plugin"


def report(stamp: str, verdicts: dict[str, str], **changes: Any) -> dict[str, Any]:
    """A report as another runner would write it: what it does not know is null, what it need not say is absent."""
    words = list(verdicts.values())
    passed, failed = words.count("PASS"), words.count("FAIL")
    cases = [
        {
            "name": name,
            "target": "skill:greet",
            "verdict": verdict,
            "duration_seconds": 4,
            "deterministic_checks": {"contains": verdict} if verdict != "SKIP" else {},
            "agent_output_snippet": "text",
            **({"error": "expected text missing"} if verdict == "FAIL" else {}),
            **({"judge_verdict": {"result": "PASS", "reason": "so", "model": "j-1"}} if verdict == "PASS" else {}),
        }
        for name, verdict in verdicts.items()
    ]
    return {
        "version": 1,
        "id": f"eval-run-{stamp.replace(':', '-')}",
        "timestamp": stamp,
        "duration_seconds": 20,
        "config": {"engine": "codex", "engine_version": "0.1", "judge": "j-1", "timeout": 120},
        "agent": {
            "runtime": "codex",
            "runtime_version": "0.1",
            "model": "m-1",
            "model_provider": "openai",
            "session_id": "s",
        },
        "judge": {"model": "j-1", "model_provider": "anthropic"},
        "environment": {"os": "linux", "arch": "x86_64", "aam_version": None},
        "package": {"name": "greetings", "version": "1.0.0"},
        "summary": {
            "total": len(words),
            "passed": passed,
            "failed": failed,
            "skipped": words.count("SKIP"),
            "pass_rate": passed / (passed + failed),
        },
        "cases": cases,
        **changes,
    }


@pytest.fixture
def reports(work: Path) -> Path:
    """A folder with two reports: one case broke, one was mended, one is gone, one is new."""
    folder = work / "evals/reports"
    folder.mkdir(parents=True)
    before = {"alpha": "PASS", "beta": "FAIL", "gamma": "PASS", "old": "PASS", "left": "SKIP"}
    after = {"alpha": "PASS", "beta": "PASS", "gamma": "FAIL", "new": "PASS", "left": "SKIP"}
    (folder / "a.json").write_text(json.dumps(report("2026-02-22T14:30:00Z", before)))
    (folder / "b.json").write_text(json.dumps(report("2026-03-01T09:00:00Z", after)))
    return folder


@pytest.mark.slow
def test_reporter() -> None:
    """Runs of every sort can be written."""
    check_reporter(Maker(REPORTERS, REPORTER), reads_back=False)
    check_plugin(REPORTER, "reporters")
    check_light_import(REPORTER)


def test_samples_are_what_the_schema_says(reports: Path) -> None:
    """So are those of the tests below."""
    for path in reports.iterdir():
        jsonschema.Draft202012Validator(schemas()["uaaps-report"]).validate(json.loads(path.read_text()))


@pytest.mark.requirement("UA-DIFF-001", "UA-CLI-009")
def test_two_reports_are_compared(program: Program, reports: Path) -> None:
    """Case by case: what broke, what was mended, what only one of them has."""
    done = program("report", "diff", reports / "a.json", reports / "b.json", "--json")
    assert done.code == 0, done.stderr
    (skill,) = done.document["skills"]
    told = json.dumps(skill)
    assert '"broke"' in told
    assert '"fixed"' in told
    assert skill["tasks"]["only_before"] == ["old"]
    assert skill["tasks"]["only_after"] == ["new"]


@pytest.mark.requirement("UA-DIFF-002")
@pytest.mark.parametrize(
    ("part", "changes", "words"),
    [
        ("agent", {"model": "m-2"}, "m-1 → m-2"),
        ("judge", {"model": "j-2"}, "j-2"),
        ("package", {"name": "greetings", "version": "2.0.0"}, "2.0.0"),
        ("config", {"engine": "claude-code"}, "claude-code"),
    ],
)
def test_what_else_has_changed_is_told(
    program: Program, reports: Path, part: str, changes: dict[str, str], words: str
) -> None:
    """A difference that may have another cause is shown with it."""
    document = json.loads((reports / "b.json").read_text())
    document[part] |= changes
    (reports / "b.json").write_text(json.dumps(document))
    done = program("report", "diff", reports / "a.json", reports / "b.json")
    assert done.code == 0
    assert words in done.stdout + done.stderr


OTHER_MODEL = {"agent": {"model": "m-2"}}


@pytest.mark.requirement("UA-DIFF-001", "UA-DIFF-002")
@pytest.mark.parametrize(
    ("changes", "options", "code", "words"),
    [
        ({}, "", 0, "m-1: case gamma passed before and fails now, but too few repeats show it"),
        ({}, "--any-loss", 1, "regressed: skill:greet · package · m-1: case gamma passed before and fails now"),
        (OTHER_MODEL, "", 3, "model: m-1 → m-2; --across model judges it all the same"),
        (OTHER_MODEL, "--any-loss", 3, "--across model"),
        (OTHER_MODEL, "--across engine,judge", 3, "--across model"),
        (OTHER_MODEL, "--across model", 0, "undecided"),
        (OTHER_MODEL, "--across model --any-loss", 1, "it may be none of the skill: model: m-1 → m-2"),
        (OTHER_MODEL | {"judge": {"model": "j-2"}}, "--across model", 3, "--across judge"),
        (OTHER_MODEL, "--across modle", 2, "'modle' is none of model, engine, judge (did you mean model?)"),
    ],
)
def test_what_a_gate_makes_of_a_lost_case(
    program: Program, reports: Path, changes: dict[str, dict[str, str]], options: str, code: int, words: str
) -> None:
    """Another model or judge stands in the way until the user says that it may, and is named all the same."""
    document = json.loads((reports / "b.json").read_text())
    for part, change in changes.items():
        document[part] |= change
    (reports / "b.json").write_text(json.dumps(document))
    command = ("report", "diff", reports / "a.json", reports / "b.json", "--fail-on-regression", *options.split())
    done = program(*command)
    assert done.code == code, done.stderr
    assert words in done.stderr


@pytest.mark.requirement("UA-DIFF-001")
def test_checks_that_turned_are_listed(program: Program, reports: Path) -> None:
    """In the document and on both pages, of tasks that turned and of those that did not."""
    document = json.loads((reports / "b.json").read_text())
    document["cases"][0]["deterministic_checks"]["files_created"] = "FAIL"
    (reports / "b.json").write_text(json.dumps(document))
    before = json.loads((reports / "a.json").read_text())
    before["cases"][0]["deterministic_checks"]["files_created"] = "PASS"
    (reports / "a.json").write_text(json.dumps(before))
    command = ("report", "diff", reports / "a.json", reports / "b.json")
    (skill,) = program(*command, "--json").document["skills"]
    turned = [tuple(one[key] for key in ("task", "check", "turn")) for one in skill["checks"]]
    assert turned == [
        ("alpha", "files_created", "broke"),
        ("beta", "contains", "fixed"),
        ("gamma", "contains", "broke"),
    ]
    assert "| alpha | files_created | pass | fail | broke |" in program(*command).stdout.replace("\\", "")
    page = program(*command, "--format", "html").stdout
    assert "<bdi>files_created</bdi></td><td><bdi>pass</bdi></td><td><bdi>fail</bdi></td>" in page


@pytest.mark.requirement("UA-DIFF-003")
def test_reports_are_followed_over_time(program: Program, reports: Path) -> None:
    """A folder of reports becomes history once, and has a trend."""
    first, second = (program("history", "import", reports, "--json") for _ in range(2))
    assert (first.code, len(first.document["imported"]), len(first.document["present"])) == (0, 2, 0)
    assert (second.code, len(second.document["imported"]), len(second.document["present"])) == (0, 0, 2)
    trend = program("history", "trend", "skill:greet", "--json").document
    assert len(trend["series"][0]["points"]) == 2


def test_a_damaged_report(program: Program, reports: Path) -> None:
    """It is told with its place, and the others are taken over."""
    text = (reports / "a.json").read_text()
    (reports / "a.json").write_text(text.replace('"verdict": "PASS"', '"verdict": "GOOD"', 1))
    done = program("history", "import", reports, "--json")
    assert (done.code, len(done.document["imported"])) == (2, 1)
    assert program("report", "show", reports / "a.json").code == 2
