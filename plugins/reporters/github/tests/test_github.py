"""What GitHub Actions is given of a run, and that no text of a case can act there."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from skillgauge.api import CaseHead, Comparison, Execution, Failure, FailureClass, Origin, Score, TrialResult, Verdict
from skillgauge_reporter_github.options import GithubOptions
from skillgauge_reporter_github.reporter import GithubReporter
from skillgauge_run_views.code_hosts import MARKER
from skillgauge_testkit import (
    REPORTERS,
    Maker,
    check_light_import,
    check_plugin,
    check_reporter,
    run_view,
    trial_result,
)

MODULE = "skillgauge_reporter_github.plugin"
HOSTILE = "a\n::error::owned\r\n::set-output name=verdict::passed, 100%: <b>x</b> | @octocat `y`"


def failed(reason: str) -> tuple[Score, ...]:
    """What a check that failed leaves."""
    return (Score.failed(reason).model_copy(update={"scorer": "contains", "check_id": "k"}),)


def files(results: Sequence[TrialResult], *comparisons: Comparison, cases: Sequence[CaseHead] = ()) -> dict[str, str]:
    """The report of a run with these results, by path."""
    made = run_view(results, *comparisons, cases=cases)
    return {one.path: b"".join(one.chunks).decode() for one in GithubReporter(GithubOptions()).render(made)}


def test_reporter() -> None:
    """Runs of every sort become files, the same every time."""
    check_reporter(Maker(REPORTERS, MODULE), reads_back=False)


def test_worst_cases_come_first_with_their_reasons() -> None:
    """Failures before errors, and among them those that never passed."""
    broken = Execution(failure=Failure.of_agent(FailureClass.SANDBOX, "no sandbox"))
    told = files(
        [
            trial_result("good", Verdict.PASS),
            trial_result("flaky", Verdict.PASS, index=1),
            trial_result("flaky", Verdict.FAIL, index=1, repeat=2, scores=failed("unlucky")),
            trial_result("bad", Verdict.FAIL, index=2, scores=failed("wrong")),
            trial_result("broken", Verdict.ERROR, index=3, execution=broken),
        ]
    )
    rows = [line.split(" | ")[1:] for line in told[""].splitlines() if line.startswith(("| ❌", "| ⚠️"))]
    assert [(row[0], row[2], row[3].rstrip(" |")) for row in rows] == [
        ("bad", "0 of 1", "k: wrong"),
        ("flaky", "1 of 2 (flaky)", "k: unlucky"),
        ("broken", "1 error", "sandbox: no sandbox"),
    ]
    assert "1 of 3 cases passed, 2 failed, 1 could not be graded." in told[""]
    assert re.findall(r"^::(\w+) title=(\w+)", told["annotations.txt"], re.M) == [
        ("error", "bad"),
        ("error", "flaky"),
        ("warning", "broken"),
    ]
    assert told["comment.md"].splitlines()[0] == MARKER
    assert told["outputs.txt"].splitlines() == [
        "verdict=passed",
        "pass-rate=0.5000",
        "balanced-accuracy=",
        "lift-points=",
        "failed=2",
        "errors=1",
        "quarantined=0",
    ]


def test_annotations_stand_at_the_line_of_the_case(tmp_path: Path) -> None:
    """Seen from the root of the repository, wherever the command ran."""
    (tmp_path / ".git").mkdir()
    file = tmp_path / "skills, mine/evals.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"evals": [{"id": 1}, {"id": 2}]}, indent=1))
    origin = Origin(str(file), ("evals", 1))
    cases = [CaseHead(suite_id="pack", index=0, id="c", origin=origin)]
    told = files([trial_result("c", Verdict.FAIL, scores=failed("wrong"))], cases=cases)
    line = file.read_text().splitlines().index('   "id": 2')  # that of the brace before it, counted from 1
    assert told["annotations.txt"].startswith(f"::error file=skills%2C mine/evals.json,line={line},title=c ")


def test_hostile_texts_are_inert() -> None:
    """A name cannot be a command or an output of its own, nor HTML, a mention or a cell."""
    told = files([trial_result(HOSTILE, Verdict.FAIL, scores=failed(HOSTILE))])
    (line,) = told["annotations.txt"].splitlines()
    head, _, message = line.removeprefix("::error ").partition("::")
    assert line.startswith("::error ")
    assert re.fullmatch(r"title=[^:,\r\n]*", head)
    assert "100%25" in message
    assert [one.partition("=")[0] for one in told["outputs.txt"].splitlines()] == [
        "verdict",
        "pass-rate",
        "balanced-accuracy",
        "lift-points",
        "failed",
        "errors",
        "quarantined",
    ]
    assert "owned" not in told["outputs.txt"]
    for text in (told[""], told["comment.md"]):
        assert "<b>" not in text.replace("\\<", "")
        assert "@octocat" not in text
        assert not [one for one in text.splitlines() if one.startswith("::")]


def test_many_failures_are_cut() -> None:
    """GitHub shows 50 annotations of a step; how many more there are is told."""
    results = [trial_result(f"c{n}", Verdict.FAIL, index=n, scores=failed("&" * 5_000)) for n in range(60)]
    told = files(results)
    assert len(told["annotations.txt"].splitlines()) == 50
    assert "10 more did not pass." in told[""]
    assert "50 more did not pass." in told["comment.md"]
    assert len(told["comment.md"]) < 65_536


def test_baselines_are_left_out() -> None:
    """That an agent fails without the skill is no failure of anything."""
    results = [trial_result("c", Verdict.PASS, arm="with"), trial_result("c", Verdict.FAIL, arm="without")]
    told = files(results, Comparison(candidate="with", baseline="without"))
    assert told["annotations.txt"] == ""
    assert told["outputs.txt"].startswith("verdict=passed\n")


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "reporters")
    check_light_import(MODULE)
