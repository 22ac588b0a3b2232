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


def test_reporter() -> None:
    """Runs of every sort can be written."""
    check_reporter(Maker(REPORTERS, REPORTER), reads_back=False)
    check_plugin(REPORTER, "reporters")
    check_light_import(REPORTER)


def test_samples_are_what_the_schema_says(reports: Path) -> None:
    """So are those of the tests below."""
    for path in reports.iterdir():
        jsonschema.validate(json.loads(path.read_text()), schemas()["uaaps-report"])


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
