"""The result document, written and read."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    Blame,
    CaseHead,
    Comparison,
    Execution,
    Failure,
    FailureClass,
    Identity,
    Kept,
    Origin,
    PlanHead,
    ResultOrder,
    Score,
    SuiteError,
    SuiteHead,
    TargetHead,
    TrialResult,
    Usage,
    Verdict,
)
from skillgauge.api.report import (
    Counts,
    Figure,
    GroupKey,
    GroupSummary,
    RunInfo,
    RunState,
    RunView,
    SuiteValidity,
    Summary,
    TagSummary,
)
from skillgauge.stats import Latency, RateInterval
from skillgauge_format_eval_skills.reporter import EvalSkillsReporter
from skillgauge_testkit import contract_views

DATA = Path(__file__).parent / "data"
Write = Callable[[str, object], Path]


def result(case: str = "t1", target: str = "echo", **changes: Any) -> TrialResult:
    """A passed trial, but for the changes."""
    whole: dict[str, Any] = {
        "trial_id": f"{target}/{case}",
        "execution_id": "e",
        "score_id": "s",
        "ordinal": 0,
        "suite_id": "bench",
        "case_id": case,
        "case_index": 0,
        "target_id": target,
        "arm": "direct",
        "runner": "subprocess",
        "model": None,
        "repeat": 1,
        "verdict": Verdict.PASS,
        "value": 1.0,
        "scores": (Score.passed().model_copy(update={"scorer": "exact"}),),
        "execution": Execution(output={"result": "ü"}, duration_s=0.0125),
        "started_at": 0.0,
    }
    return TrialResult.model_validate({**whole, **changes})


def group(target: str | None = "echo", **changes: Any) -> GroupSummary:
    """The group of such trials."""
    whole: dict[str, Any] = {
        "suite_id": "bench",
        "target_id": target,
        "arm": "direct",
        "runner": "subprocess",
        "model": None,
        "counts": Counts(total=1, passed=1),
        "pass_rate": RateInterval(rate=1.0, n=1, lower=0.2, upper=1.0, method="wilson"),
        "mean_value": 1.0,
        "run_pass_rates": (1.0,),
        "latency": Latency(samples=1, p50_s=0.0125, p95_s=0.0125, p99_s=0.0125),
    }
    return GroupSummary.model_validate({**whole, **changes})


def view(*results: TrialResult, groups: tuple[GroupSummary, ...] = (), **suite: Any) -> RunView:
    """A run of them."""
    head = SuiteHead.model_validate(
        {
            "id": "bench",
            "format": "eval-skills",
            "root": "/b",
            "content_digest": "d",
            "case_count": 1,
            "targets": (TargetHead(id="echo", version="1.2.3"), TargetHead(id="two")),
            "arms": ("direct",),
            **suite,
        }
    )
    return RunView(
        run=RunInfo(run_id="r", state=RunState.FINISHED, started_at=1_700_000_000.25),
        head=PlanHead(plan_id="p", suites=(head,), trial_count=1, runs=1, seed=0),
        summary=Summary(counts=Counts(), groups=groups),
        source=Kept(lambda: results),
    )


def text_of(run: RunView) -> str:
    """The document's text."""
    (artifact,) = EvalSkillsReporter().render(run)
    assert artifact.path == ""
    return b"".join(artifact.chunks).decode()


def reports_of(run: RunView) -> list[dict[str, Any]]:
    """The document's reports."""
    reports = json.loads(text_of(run))
    assert isinstance(reports, list)
    return reports


def task_of(one: TrialResult) -> dict[str, Any]:
    """How the document tells one trial."""
    (task,) = reports_of(view(one, groups=(group(),)))[0]["taskResults"]
    assert isinstance(task, dict)
    return task


# --- writing ----------------------------------------------------------------------------------------------


def test_keys_and_layout_are_the_documented_ones() -> None:
    """Two blanks of indentation, keys in their order, whole numbers without a fraction, text as it is."""
    expected = """\
[
  {
    "skillId": "echo",
    "skillVersion": "1.2.3",
    "benchmarkId": "bench",
    "timestamp": "2023-11-14T22:13:20.250Z",
    "summary": {
      "completionRate": 1,
      "partialScore": 1,
      "errorRate": 0,
      "consistencyScore": 1,
      "compositeScore": 0.9999
    },
    "latency": {
      "p50Ms": 13,
      "p95Ms": 13,
      "p99Ms": 13
    },
    "taskResults": [
      {
        "taskId": "t1",
        "skillId": "echo",
        "status": "pass",
        "score": 1,
        "latencyMs": 12.5,
        "output": {
          "result": "ü"
        },
        "scorerType": "exact_match",
        "runId": 1
      }
    ],
    "evaluatorMetadata": {
      "skillgauge": {
        "seed": 0,
        "arm": "direct",
        "runner": "subprocess",
        "model": null,
        "counts": {
          "total": 1,
          "passed": 1,
          "failed": 0,
          "errors": 0,
          "skipped": 0,
          "timeouts": 0,
          "broken": 0,
          "retried": 0
        },
        "passRate": {
          "rate": 1,
          "n": 1,
          "lower": 0.2,
          "upper": 1,
          "level": 0.95,
          "method": "wilson"
        },
        "tags": [],
        "state": "finished"
      }
    }
  }
]
"""
    assert text_of(view(result(), groups=(group(),))) == expected


@pytest.mark.requirement("ES-EVAL-022")
def test_one_report_per_skill() -> None:
    """Results that arrive mixed are told under their own skill; a skill without any has an empty list."""
    results = (result("a"), result("a", "two"), result("b"))
    first, second, third = reports_of(view(*results, groups=(group(), group("two"), group("three"))))
    assert [task["taskId"] for task in first["taskResults"]] == ["a", "b"]
    assert [task["skillId"] for task in second["taskResults"]] == ["two"]
    assert (second["skillVersion"], third["skillVersion"], third["taskResults"]) == ("", "", [])


def test_nothing_evaluated_is_an_empty_list() -> None:
    """A run without groups still is a JSON array."""
    assert text_of(view()) == "[]\n"


def failed(failure_class: FailureClass, blame: Blame = Blame.TARGET) -> Execution:
    """An execution that did not come to its end."""
    return Execution(failure=Failure(failure_class=failure_class, blame=blame, message="why"), duration_s=2.0)


@pytest.mark.requirement("ES-METRIC-007")
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "pass"),
        ({"verdict": Verdict.FAIL, "value": 0.5}, "fail"),
        ({"verdict": Verdict.FAIL, "value": 0.0, "scores": (), "execution": failed(FailureClass.TIMEOUT)}, "timeout"),
        ({"verdict": Verdict.FAIL, "value": 0.0, "scores": (), "execution": failed(FailureClass.CRASH)}, "error"),
        (
            {
                "verdict": Verdict.ERROR,
                "value": None,
                "scores": (),
                "execution": failed(FailureClass.TIMEOUT, Blame.INFRASTRUCTURE),
            },
            "error",
        ),
        ({"verdict": Verdict.ERROR, "value": None, "scores": (Score.ungraded("no judge"),)}, "error"),
    ],
)
def test_statuses(changes: dict[str, Any], status: str) -> None:
    """A skill that hangs is a timeout, one that breaks an error, and so is whatever we could not judge."""
    assert task_of(result(**changes))["status"] == status


def test_failed_call_says_why() -> None:
    """An error has its message and its time, no output, and no scorer."""
    broken = result(verdict=Verdict.FAIL, value=0.0, scores=(), execution=failed(FailureClass.CRASH))
    assert task_of(broken) == {
        "taskId": "t1",
        "skillId": "echo",
        "status": "error",
        "score": 0,
        "latencyMs": 2000,
        "error": "why",
        "scorerType": "unknown",
        "runId": 1,
    }


def test_ungraded_call_says_why() -> None:
    """The reason of the check is the error; without a check there is a reason too."""
    score = Score.ungraded("the judge is down").model_copy(update={"scorer": "rubric"})
    ungraded = task_of(result(verdict=Verdict.ERROR, value=None, scores=(score,)))
    assert (ungraded["error"], ungraded["scorerType"]) == ("the judge is down", "llm_judge")
    assert "reason" not in ungraded
    assert task_of(result(verdict=Verdict.ERROR, value=None, scores=()))["error"] == "no check gave a verdict"


@pytest.mark.parametrize(
    ("scorer", "told"),
    [
        ("exact", "exact_match"),
        ("contains", "contains"),
        ("json-schema", "json_schema"),
        ("rubric", "llm_judge"),
        ("regex", "regex"),
        ("custom", "custom"),
        ("acme-cosine", "acme-cosine"),
    ],
)
def test_scorers_have_the_original_names(scorer: str, told: str) -> None:
    """Programs that read the document find the names that they know."""
    score = Score.failed("because", value=0.5).model_copy(update={"scorer": scorer})
    task = task_of(result(verdict=Verdict.FAIL, value=0.5, scores=(score, score)))
    assert (task["scorerType"], task["reason"], task["score"]) == (told, "because; because", 0.5)


def test_answer_of_an_agent_is_its_text() -> None:
    """Without an output the text is told; without either, null."""
    assert task_of(result(execution=Execution(text="done")))["output"] == "done"
    assert task_of(result(execution=Execution()))["output"] is None


def test_weights_and_skipped_trials() -> None:
    """A weight is told if it is one; what was not run is not told."""
    assert task_of(result(weight=2.5))["weight"] == 2.5
    skipped = result("t2", verdict=Verdict.SKIPPED, value=None)
    assert len(reports_of(view(result(), skipped, groups=(group(),)))[0]["taskResults"]) == 1


@pytest.mark.requirement("ES-SELECT-011")
def test_tokens_and_money_are_told_only_if_known() -> None:
    """Known parts are summed over the tasks; what nobody knows is left out instead of being 0."""
    known = Execution(usage=Usage(input_tokens=5, cache_read_tokens=2, output_tokens=3, cost_usd=0.25))
    partly = Execution(usage=Usage(total_tokens=7))
    nothing = Execution(usage=Usage())
    results = tuple(result(str(n), execution=one) for n, one in enumerate((known, partly, nothing, known)))
    (report,) = reports_of(view(*results, groups=(group(),)))
    assert report["tokenCost"] == {
        "promptTokens": 14,
        "completionTokens": 6,
        "totalTokens": 27,
        "estimatedUSD": 0.5,
    }
    assert report["evaluatorMetadata"]["skillgauge"]["costUnknown"] == 2, "the sums are not totals (N-B6)"
    assert [task.get("usage", {}).get("totalTokens") for task in report["taskResults"]] == [10, 7, None, 10]
    assert "tokenCost" not in reports_of(view(result(execution=nothing), groups=(group(),)))[0]


@pytest.mark.parametrize(
    ("passed", "failed", "told"),
    [(9, 0, None), (10, 0, {"lower": 1, "upper": 1, "mean": 1, "level": 0.95})],
)
def test_interval_from_ten_results_on(passed: int, failed: int, told: dict[str, float] | None) -> None:
    """Few results have no interval; what the original publishes of a perfect run is 1 to 1."""
    results = [result(f"t{n}", case_index=n) for n in range(passed)]
    (report,) = reports_of(view(*results, groups=(group(counts=Counts(total=passed + failed)),)))
    assert report["summary"].get("confidenceInterval") == told


def test_comparison_tells_the_arm_with_the_skill() -> None:
    """Of an agent suite the candidate arm is the report, and the metadata say how it was made."""
    arms = (group(arm="with_skill", runner="claude-code", model="m"), group(arm="without_skill", runner="claude-code"))
    run = view(groups=arms, comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),))
    (report,) = reports_of(run)
    told = report["evaluatorMetadata"]["skillgauge"]
    assert (told["arm"], told["runner"], told["model"]) == ("with_skill", "claude-code", "m")


def test_group_without_target_or_suite_is_still_told() -> None:
    """Odd runs give a document too."""
    (report,) = reports_of(view(groups=(group(None, suite_id="other"),)))
    assert (report["skillId"], report["benchmarkId"]) == ("other", "other")


def test_every_result_is_read_once() -> None:
    """However many skills there are, a report reads the run once, and nothing of what it does not tell."""
    skills = [f"s{n}" for n in range(20)]
    run = view(*(result(str(n), skill) for n in range(3) for skill in skills), groups=tuple(map(group, skills)))
    read: list[TrialResult] = []

    class Counting(Kept):
        def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
            for one in super().results(order, group):
                read.append(one)
                yield one

    reports = reports_of(replace(run, source=Counting(run.results)))
    assert [len(report["taskResults"]) for report in reports] == [3] * 20
    assert len(read) == 60


@pytest.mark.slow
def test_results_wait_in_a_file() -> None:
    """Results of any number are no part of the memory that a report needs."""
    run = view(groups=(group(),))
    (artifact,) = EvalSkillsReporter().render(replace(run, source=Streaming(tuple)))
    tracemalloc.start()
    try:
        written = sum(len(chunk) for chunk in artifact.chunks)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert written > 20_000_000
    assert peak < 8_000_000


class Streaming(Kept):
    """Makes 200 large results one by one."""

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`."""
        yield from (result(str(n), execution=Execution(output="x" * 100_000)) for n in range(200))


# --- reading ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["calculator-coding-easy", "diff-baseline", "h1-unicode", "h3-schema"])
def test_documents_of_the_original_survive(name: str) -> None:
    """Read and written again, they say the same, but for what a document does not say twice."""
    path = DATA / f"{name}.json"
    run = EvalSkillsReporter().read(path)
    assert run is not None
    original, again = json.loads(path.read_text("utf-8")), reports_of(run)
    for report in again:
        assert report["evaluatorMetadata"].pop("skillgauge")["runner"] == "unknown"
    for report in (*original, *again):
        report["summary"]["confidenceInterval"].pop("mean")  # theirs is a mean of random draws
        for task in report["taskResults"]:
            task["skillId"] = report["skillId"]  # the edited fixture has another skill's here
    assert again == original


RUNS = [(what, run) for what, run in contract_views() if run.summary.groups]


@pytest.mark.slow
@pytest.mark.requirement("ES-BENCH-009")
@pytest.mark.parametrize(("what", "run"), RUNS, ids=[what for what, _ in RUNS])
def test_additions_survive(write: Write, what: str, run: RunView) -> None:
    """Written, read and written again, no interval, method, count or tag is lost or changed, however odd its name."""

    def added(one: GroupSummary) -> object:
        target = one.target_id or one.suite_id
        return (target, one.arm, one.runner, one.model, one.counts, one.pass_rate, one.pass_bounds, one.tags)

    first = EvalSkillsReporter().read(write("first.json", text_of(run)))
    assert first is not None
    second = EvalSkillsReporter().read(write("second.json", text_of(first)))
    assert second is not None
    expected = [added(one) for one in run.summary.groups if one.arm != "without_skill"]
    assert [added(one) for one in first.summary.groups] == expected
    assert [added(one) for one in second.summary.groups] == expected
    assert text_of(second) == text_of(first)


@pytest.mark.parametrize("state", list(RunState))
def test_the_state_of_a_run_survives(write: Write, state: RunState) -> None:
    """Stopped, interrupted and invalid runs stay so, with who judged and what was asked (N-A4)."""
    base = view(result(), groups=(group(),))
    validity = SuiteValidity(suite_id="bench", valid=False, error_share=0.5, reason="half of it failed")
    head = CaseHead(suite_id="bench", index=0, id="t1", digest="d1")
    run = RunView(
        run=base.run.model_copy(update={"state": state}),
        head=base.head.model_copy(update={"judges": (Identity(name="anthropic", model="m", settings={"a": 1}),)}),
        summary=base.summary.model_copy(update={"validity": (validity,)}),
        source=Kept(lambda: [result()], [head]),
    )
    first = EvalSkillsReporter().read(write("first.json", text_of(run)))
    assert first is not None
    second = EvalSkillsReporter().read(write("second.json", text_of(first)))
    for found in (first, second):
        assert found is not None
        assert (found.run.state, found.summary.validity, found.head.judges) == (state, (validity,), run.head.judges)
        assert list(found.cases()) == [head]


@pytest.mark.requirement("ES-BENCH-009")
def test_tags_are_told_with_all_that_it_takes_to_trust_a_rate() -> None:
    """Under `evaluatorMetadata`, so that the keys of the original are all there is elsewhere."""
    rate = RateInterval(rate=0.5, n=2, lower=0.094531, upper=0.905469, method="wilson")
    math = TagSummary(tag="math", counts=Counts(total=3, passed=1, failed=1, errors=1), pass_rate=rate)
    (report,) = reports_of(view(groups=(group(tags=(math,), pass_bounds=(0.25, 1.0)),)))
    told = report["evaluatorMetadata"]["skillgauge"]
    assert told["tags"] == [
        {
            "tag": "math",
            "counts": {
                "total": 3,
                "passed": 1,
                "failed": 1,
                "errors": 1,
                "skipped": 0,
                "timeouts": 0,
                "broken": 0,
                "retried": 0,
            },
            "passRate": {"rate": 0.5, "n": 2, "lower": 0.094531, "upper": 0.905469, "level": 0.95, "method": "wilson"},
        }
    ]
    assert told["passBounds"] == {"lower": 0.25, "upper": 1}
    assert list(report) == [
        "skillId",
        "skillVersion",
        "benchmarkId",
        "timestamp",
        "summary",
        "latency",
        "taskResults",
        "evaluatorMetadata",
    ]


def test_numbers_are_kept_as_published() -> None:
    """A read document's figures are its own, whatever our arithmetic would say."""
    run = EvalSkillsReporter().read(DATA / "h3-schema.json")
    assert run is not None
    (only,) = run.summary.groups
    figures = {figure.name: figure.value for figure in only.figures}
    assert (figures["compositeScore"], figures["errorRate"], figures["p95Ms"]) == (0.6643, 0.0625, 665)
    assert only.counts == Counts(total=16, passed=6, failed=10, broken=1)
    assert only.latency.samples == 15
    assert (only.pass_rate.lower, only.pass_rate.method) == (0.1875, "published, of the mean score")


def test_head_of_a_read_run() -> None:
    """Benchmarks become suites, skills their targets, and the run is as old as the document says."""
    run = EvalSkillsReporter().read(DATA / "diff-baseline.json")
    assert run is not None
    (suite,) = run.head.suites
    assert (suite.id, suite.case_count, suite.document) == ("coding-easy", 20, "eval-skills")
    assert [(target.id, target.version) for target in suite.targets] == [
        ("calculator", "0.1.0"),
        ("removed_skill", "0.1.0"),
    ]
    assert (run.run.state, run.head.trial_count) == (RunState.FINISHED, 40)
    assert [one.ordinal for one in run.results()] == list(range(40))
    assert list(run.results()) == list(run.results())


def document(*tasks: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A report with the given tasks."""
    whole = {
        "skillId": "echo",
        "skillVersion": "",
        "benchmarkId": "bench",
        "timestamp": "2026-01-02T03:04:05.678Z",
        "summary": dict.fromkeys(
            ("completionRate", "partialScore", "errorRate", "consistencyScore", "compositeScore"), 0.5
        ),
        "latency": {"p50Ms": 1, "p95Ms": 2, "p99Ms": 3},
        "taskResults": [
            {"taskId": "t", "skillId": "echo", "status": "pass", "score": 1, "latencyMs": 1, **task} for task in tasks
        ],
        "evaluatorMetadata": {},
    }
    return {**whole, **changes}


MEASURED: dict[str, Any] = {
    "counts": {"total": 1, "passed": 1, "failed": 0, "errors": 0},
    "passRate": {"rate": 1, "n": 1, "lower": 0.2, "upper": 1},
}


def test_statuses_are_read_with_their_blame(write: Write) -> None:
    """An unscored error is the skill's, a scored one is grading's; repeats, weights and usage come back too."""
    path = write(
        "r.json",
        [
            document(
                {"scorerType": "exact_match", "runId": 2, "weight": 2, "usage": {"inputTokens": 5, "costUSD": 1.5}},
                {"status": "fail", "score": 0.5, "scorerType": "acme", "reason": "r"},
                {"status": "timeout", "score": 0, "latencyMs": 0},
                {"taskId": "u", "status": "error", "score": 0, "error": "boom"},
                {"taskId": "v", "status": "error", "score": 0, "scorerType": "llm_judge", "error": "no judge"},
            )
        ],
    )
    run = EvalSkillsReporter().read(path)
    assert run is not None
    first, second, third, fourth, fifth = run.results()
    assert (first.verdict, first.repeat, first.weight, first.scores[0].scorer) == (Verdict.PASS, 2, 2, "exact")
    assert first.execution.usage == Usage(input_tokens=5, cost_usd=1.5)
    assert (second.verdict, second.value, second.scores[0].reason) == (Verdict.FAIL, 0.5, "r")
    assert third.execution.failure is not None
    assert (third.verdict, third.execution.failure.failure_class) == (Verdict.FAIL, FailureClass.TIMEOUT)
    assert third.execution.duration_s is None
    assert fourth.execution.failure is not None
    assert (fourth.verdict, fourth.execution.failure.message) == (Verdict.FAIL, "boom")
    assert (fifth.verdict, fifth.value) == (Verdict.ERROR, None)
    (only,) = run.summary.groups
    assert only.counts == Counts(total=5, passed=1, failed=3, errors=1, timeouts=1, broken=2)
    assert only.pass_rate.rate == pytest.approx(1 / 6)
    assert only.pass_rate.n == 2
    assert only.mean_value == pytest.approx(1.5 / 4)
    assert only.weighted_value == pytest.approx(2.5 / 5)
    assert only.run_pass_rates == (0, 1)
    assert run.head.suites[0].case_weights


def test_several_reports_of_one_skill_stay_apart(write: Write) -> None:
    """Reports of two runs, or of two engines, are two groups."""
    told = {"skillgauge": {"arm": "with_skill", "runner": "codex", "model": "m", **MEASURED}}
    path = write("r.json", [document({}), document({}), document({}, evaluatorMetadata=told), document()])
    run = EvalSkillsReporter().read(path)
    assert run is not None
    names = [(one.arm, one.runner, one.model) for one in run.summary.groups]
    assert names == [
        ("direct", "unknown", None),
        ("direct", "unknown#2", None),
        ("with_skill", "codex", "m"),
        ("direct", "unknown#3", None),
    ]
    again = EvalSkillsReporter().read(write("again.json", text_of(run)))
    assert again is not None
    assert [(one.arm, one.runner, one.model) for one in again.summary.groups] == names
    assert [len(report["taskResults"]) for report in reports_of(run)] == [1, 1, 1, 0]
    assert run.summary.groups[3].pass_rate.rate is None


@pytest.mark.parametrize(
    "content",
    ["# Markdown", "[]", "{}", '[{"skillId": "a"}]', "[1]", '{"skillId": "a", "benchmarkId": "b"}', "", '["skillId"'],
)
def test_other_files_are_nobodys(write: Write, content: str) -> None:
    """A file that is no such document is left to other reporters."""
    assert EvalSkillsReporter().read(write("x.json", content)) is None


def test_unreadable_paths_are_nobodys(tmp_path: Path) -> None:
    """A folder or an absent file raises nothing."""
    assert EvalSkillsReporter().read(tmp_path) is None
    assert EvalSkillsReporter().read(tmp_path / "absent.json") is None


def test_damaged_document_has_positions(write: Write) -> None:
    """A document that was cut off, or edited wrongly, is an error that says where."""
    whole = json.dumps([document({})], indent=2)
    with pytest.raises(SuiteError) as caught:
        EvalSkillsReporter().read(write("cut.json", whole[:-20]))
    assert caught.value.problems[0].span is not None
    with pytest.raises(SuiteError) as caught:
        EvalSkillsReporter().read(write("edited.json", [document({"score": 2}, {"status": "ok"}, timestamp="soon")]))
    assert [problem.origin.pointer for problem in caught.value.problems if isinstance(problem.origin, Origin)] == [
        (0, "timestamp"),
        (0, "taskResults", 0, "score"),
        (0, "taskResults", 1, "status"),
    ]


def test_damaged_additions_have_positions(write: Write) -> None:
    """What skillgauge itself added is checked like the rest of the document."""
    tag = {"tag": "t", "counts": {**MEASURED["counts"], "errors": -1}, "passRate": {"rate": 1.5, "n": "many"}}
    told = {"runner": "x", **MEASURED, "tags": [tag]}
    with pytest.raises(SuiteError) as caught:
        EvalSkillsReporter().read(write("x.json", [document({}, evaluatorMetadata={"skillgauge": told})]))
    place = (0, "evaluatorMetadata", "skillgauge", "tags", 0)
    assert [problem.origin.pointer for problem in caught.value.problems if isinstance(problem.origin, Origin)] == [
        (*place, "counts", "errors"),
        (*place, "passRate", "rate"),
        (*place, "passRate", "n"),
    ]


def test_metadata_of_others_do_not_matter(write: Write) -> None:
    """In the original `evaluatorMetadata` is free, and may use words that we use in our own part."""
    theirs = {"tags": "mine", "passRate": "high", "arm": 7, "runner": [], "model": {}}
    run = EvalSkillsReporter().read(write("x.json", [document({}, evaluatorMetadata=theirs)]))
    assert run is not None
    (only,) = run.summary.groups
    assert (only.arm, only.runner, only.model, only.tags) == ("direct", "unknown", None, ())


def test_time_without_a_zone_is_utc(write: Write) -> None:
    """A timestamp that lost its zone does not shift with the reader's."""
    run = EvalSkillsReporter().read(write("r.json", [document(timestamp="2026-01-02T03:04:05")]))
    assert run is not None
    assert run.run.started_at == 1767323045


def test_figures_of_another_format_are_not_mistaken() -> None:
    """A figure that the document does not have is ignored when it is written."""
    odd = group(figures=(Figure(name="deltaPts", label="", value=3.0),))
    assert "deltaPts" not in text_of(view(groups=(odd,)))
