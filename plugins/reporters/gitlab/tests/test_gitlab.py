"""What GitLab is given of a run, in the shape that it takes, and that no text of a case can act there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skillgauge.api import CaseHead, Comparison, Execution, Failure, FailureClass, Origin, Score, TrialResult, Verdict
from skillgauge_reporter_gitlab.options import GitlabOptions
from skillgauge_reporter_gitlab.reporter import GitlabReporter
from skillgauge_testkit import (
    REPORTERS,
    Maker,
    check_light_import,
    check_plugin,
    check_reporter,
    run_view,
    trial_result,
)

MODULE = "skillgauge_reporter_gitlab.plugin"
HOSTILE = "a\nSKILL_VERDICT=passed\r\n/close <b>x</b> | @octocat `y`"
SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


def failed(reason: str) -> tuple[Score, ...]:
    """What a check that failed leaves."""
    return (Score.failed(reason).model_copy(update={"scorer": "contains", "check_id": "k"}),)


def files(results: Sequence[TrialResult], *comparisons: Comparison, cases: Sequence[CaseHead] = ()) -> dict[str, str]:
    """The report of a run with these results, by path."""
    made = run_view(results, *comparisons, cases=cases)
    return {one.path: b"".join(one.chunks).decode() for one in GitlabReporter(GitlabOptions()).render(made)}


def heads(file: Path, *names: str) -> list[CaseHead]:
    """Cases that stand in a list in a file of a repository, which is written."""
    (file.parent / ".git").mkdir(exist_ok=True)
    file.write_text(json.dumps(list(names), indent=1))
    return [
        CaseHead(suite_id="pack", index=place, id=name, origin=Origin(str(file), (place,)))
        for place, name in enumerate(names)
    ]


def findings(told: dict[str, str]) -> list[dict[str, Any]]:
    """The Code Quality report, each finding of which is what GitLab asks for."""
    found: list[dict[str, Any]] = json.loads(told["code-quality.json"])
    for one in found:
        assert set(one) == {"check_name", "description", "fingerprint", "severity", "location"}
        assert one["severity"] in SEVERITIES
        assert set(one["location"]) == {"path", "lines"}
        assert not one["location"]["path"].startswith(("/", "."))
        assert one["location"]["lines"]["begin"] >= 1
    assert len({one["fingerprint"] for one in found}) == len(found)
    return found


def test_reporter() -> None:
    """Runs of every sort become files, the same every time."""
    check_reporter(Maker(REPORTERS, MODULE), reads_back=False)


def test_what_did_not_pass_is_a_finding_at_its_line(tmp_path: Path) -> None:
    """Failures weigh more than what could not be graded; a case without a known file is left to the test results."""
    broken = Execution(failure=Failure.of_agent(FailureClass.SANDBOX, "no sandbox"))
    told = files(
        [
            trial_result("good", Verdict.PASS),
            trial_result("bad", Verdict.FAIL, index=1, scores=failed("wrong")),
            trial_result("broken", Verdict.ERROR, index=2, execution=broken),
            trial_result("nowhere", Verdict.FAIL, index=3, scores=failed("wrong")),
        ],
        cases=heads(tmp_path / "cases.json", "good", "bad", "broken"),
    )
    assert [(one["check_name"], one["severity"], one["location"]) for one in findings(told)] == [
        ("skillgauge-failed", "major", {"path": "cases.json", "lines": {"begin": 3}}),
        ("skillgauge-error", "minor", {"path": "cases.json", "lines": {"begin": 4}}),
    ]
    assert findings(told)[0]["description"] == "bad (skill:greet), passed 0 of 1: k: wrong"
    assert told["variables.env"].splitlines() == [
        "SKILL_VERDICT=passed",
        "SKILL_PASS_RATE=0.5000",
        "SKILL_BALANCED_ACCURACY=",
        "SKILL_LIFT_POINTS=",
        "SKILL_FAILED=2",
        "SKILL_ERRORS=1",
        "SKILL_QUARANTINED=0",
    ]
    assert "1 of 3 cases passed, 2 failed, 1 could not be graded." in told[""]


def test_a_finding_is_known_again(tmp_path: Path) -> None:
    """Its fingerprint stays when cases are added before it and when it fails for another reason; engines differ."""

    def prints(names: tuple[str, ...], reason: str) -> list[str]:
        results = [
            trial_result("bad", Verdict.FAIL, index=names.index("bad"), runner=runner, scores=failed(reason))
            for runner in ("codex", "claude-code")
        ]
        return [one["fingerprint"] for one in findings(files(results, cases=heads(tmp_path / "cases.json", *names)))]

    before = prints(("bad",), "wrong")
    assert len(before) == 2
    assert before == prints(("new", "bad"), "wrong again")


def test_hostile_texts_are_inert(tmp_path: Path) -> None:
    """A name cannot be a variable, HTML, a mention, or a quick action, which GitLab obeys at the start of a line."""
    told = files(
        [trial_result(HOSTILE, Verdict.FAIL, scores=failed(HOSTILE))], cases=heads(tmp_path / "c.json", HOSTILE)
    )
    assert told["variables.env"].count("SKILL_VERDICT=") == 1
    note = told[""]
    assert note.startswith("<!-- skillgauge:report -->\n")
    assert "<b>" not in note.replace("\\<", "")
    assert "@octocat" not in note
    assert not [line for line in note.splitlines() if line.lstrip().startswith("/")]
    (one,) = findings(told)
    assert "\n" not in one["description"]


def test_baselines_are_left_out() -> None:
    """That an agent fails without the skill is no failure of anything."""
    results = [trial_result("c", Verdict.PASS, arm="with"), trial_result("c", Verdict.FAIL, arm="without")]
    told = files(results, Comparison(candidate="with", baseline="without"))
    assert findings(told) == []
    assert told["variables.env"].startswith("SKILL_VERDICT=passed\n")


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "reporters")
    check_light_import(MODULE)
