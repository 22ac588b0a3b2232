"""JUnit XML, and the contract of reporters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

from skillgauge.api import (
    Comparison,
    Counts,
    Execution,
    Failure,
    FailureClass,
    GroupSummary,
    Kept,
    RateInterval,
    RunView,
    Score,
    SuiteHead,
    Summary,
    TrialResult,
    Verdict,
)
from skillgauge_reporter_junit.reporter import JunitReporter
from skillgauge_testkit import REPORTERS, Maker, check_light_import, check_plugin, check_reporter, contract_views

MODULE = "skillgauge_reporter_junit.plugin"


def result(case: str, verdict: Verdict, *, index: int = 0, repeat: int = 1, **changes: Any) -> TrialResult:
    """One repeat of a case of skill `greet`."""
    values: dict[str, Any] = {
        "trial_id": f"{case}-{repeat}",
        "execution_id": "e",
        "score_id": "s",
        "ordinal": index * 10 + repeat,
        "suite_id": "pack",
        "case_id": case,
        "case_index": index,
        "target_id": "skill:greet",
        "arm": "direct",
        "runner": "command",
        "model": None,
        "repeat": repeat,
        "verdict": verdict,
        "execution": Execution(duration_s=0.25),
        "started_at": 0.0,
    }
    return TrialResult.model_validate(values | changes)


def document(results: Sequence[TrialResult], *comparisons: Comparison) -> ElementTree.Element:
    """The report of a run with these results."""
    view: RunView = contract_views()[0][1]
    keys = list(dict.fromkeys(one.group for one in results))
    groups = tuple(
        GroupSummary(
            suite_id=key.suite_id,
            target_id=key.target_id,
            arm=key.arm,
            runner=key.runner,
            model=key.model,
            counts=Counts(),
            pass_rate=RateInterval(rate=None, n=0),
        )
        for key in keys
    )
    arms = tuple(dict.fromkeys(key.arm for key in keys))
    suite = SuiteHead(
        id="pack",
        format="f",
        root="/",
        content_digest="d",
        case_count=1,
        targets=(),
        arms=arms,
        comparisons=comparisons,
    )
    head = view.head.model_copy(update={"suites": (suite,)})
    summary = Summary(counts=Counts(), groups=groups)
    made = replace(view, head=head, summary=summary, source=Kept(lambda: results))
    (artifact,) = JunitReporter().render(made)
    return ElementTree.fromstring(b"".join(artifact.chunks))


def test_reporter() -> None:
    """Runs of every sort become well-formed XML, the same every time."""
    check_reporter(Maker(REPORTERS, MODULE), reads_back=False)


def test_verdicts_are_kept_apart() -> None:
    """A failure, an error and a skipped case are three things, each with its reason and in the counts."""
    failed = Score.failed("Exit code 3, expected 0").model_copy(update={"check_id": "exit_code"})
    broken = Failure.of_agent(FailureClass.SANDBOX, "no sandbox <here>")
    root = document(
        [
            result("good", Verdict.PASS),
            result("bad", Verdict.FAIL, index=1, scores=(failed,)),
            result("broken", Verdict.ERROR, index=2, execution=Execution(failure=broken)),
            result("left", Verdict.SKIPPED, index=3, execution=Execution(notes=("needs a model",))),
        ]
    )
    suite = root.find("testsuite")
    assert suite is not None
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "0.500",
    }
    inner = {case.get("name"): [(one.tag, one.get("message")) for one in case] for case in suite.iter("testcase")}
    assert inner == {
        "good": [],
        "bad": [("failure", "exit_code: Exit code 3, expected 0")],
        "broken": [("error", "no sandbox <here>")],
        "left": [("skipped", "needs a model")],
    }


def test_repeats_are_one_case_and_flaky_ones_are_marked() -> None:
    """A case that passed and failed is a failure that says so."""
    verdicts = [Verdict.PASS, Verdict.FAIL, Verdict.PASS]
    scores = (Score.failed("wrong").model_copy(update={"check_id": "k"}),)
    root = document(
        [result("c", verdict, repeat=n, scores=scores if n == 2 else ()) for n, verdict in enumerate(verdicts, 1)]
    )
    (case,) = root.iter("testcase")
    failure = case.find("failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("flaky", "2 of 3 repeats passed: k: wrong")
    assert [one.get("value") for one in case.iter("property")] == ["2 of 3 repeats passed"]


def test_baselines_are_left_out() -> None:
    """That an agent fails without the skill is no failure of anything."""
    results = [result("c", Verdict.PASS, arm="with"), result("c", Verdict.FAIL, arm="without")]
    root = document(results, Comparison(candidate="with", baseline="without"))
    assert [suite.get("failures") for suite in root.iter("testsuite")] == ["0"]


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "reporters")
    check_light_import(MODULE)
