"""benchmark.json: what is written, and what is read."""

from __future__ import annotations

import json
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
    PlanHead,
    Score,
    SuiteError,
    SuiteHead,
    TrialResult,
    Usage,
    Verdict,
)
from skillgauge.api.report import Counts, GroupSummary, RunInfo, RunState, RunView, SuiteValidity, Summary
from skillgauge.stats import RateInterval
from skillgauge_format_agent_skills.figures import figures
from skillgauge_format_agent_skills.results.reporter import AgentSkillsReporter

BROKEN = Failure(failure_class=FailureClass.AUTH, blame=Blame.INFRASTRUCTURE, message="no key")


def trial(case: str, arm: str, passed: int | None, *, repeat: int = 1, total: int = 2, **facts: Any) -> TrialResult:
    """A trial with some of its checks passed; `None` is an error."""
    checks = [(f"a{n}", n < (passed or 0)) for n in range(0 if passed is None else total)]
    scores = [
        (Score.passed("seen") if holds else Score.failed("not seen")).model_copy(update={"check_id": name})
        for name, holds in checks
    ]
    verdict = Verdict.ERROR if passed is None else Verdict.PASS if passed == total else Verdict.FAIL
    execution = Execution(failure=BROKEN if passed is None else None, **facts)
    return TrialResult(
        trial_id=f"{case}-{arm}-{repeat}",
        execution_id="e",
        score_id="s",
        ordinal=0,
        suite_id="tables",
        case_id=case,
        case_index=("1", "2", "c").index(case),
        target_id="tables",
        arm=arm,
        runner="codex",
        model="m",
        repeat=repeat,
        verdict=verdict,
        value=None if passed is None else passed / total,
        scores=tuple(scores),
        execution=execution,
        started_at=0.0,
    )


def view(*results: TrialResult) -> RunView:
    """A finished run of one suite."""
    suite = SuiteHead(
        id="tables",
        name="tables",
        format="agent-skills",
        root="/skills/tables",
        content_digest="d",
        case_count=3,
        targets=(),
        arms=("with_skill", "without_skill"),
        comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),),
        parameters={"integer_ids": ("1", "2"), "eval_names": {"1": "first"}},
    )
    return RunView(
        run=RunInfo(run_id="r", state=RunState.FINISHED, started_at=1_700_000_000.0),
        head=PlanHead(plan_id="p", suites=(suite,), trial_count=len(results), runs=2, seed=0),
        summary=Summary(counts=Counts(), groups=()),
        source=Kept(lambda: results),
    )


def rendered(*results: TrialResult) -> Any:
    """The document of a run."""
    (artifact,) = AgentSkillsReporter().render(view(*results))
    return json.loads(b"".join(artifact.chunks))


USED = {"usage": Usage(total_tokens=100), "duration_s": 2.0}
RESULTS = (
    trial("1", "with_skill", 2, **USED),
    trial("1", "without_skill", 1, duration_s=1.0),
    trial("1", "with_skill", 1, repeat=2, **USED),
    trial("2", "with_skill", 2, duration_s=4.0),
    trial("2", "without_skill", None),
    trial("c", "with_skill", 0, duration_s=1.0),
    trial("c", "without_skill", 0, duration_s=1.0),
)


def test_runs() -> None:
    """Each trial is a run with its expectations; ids have the type that they had, and unknown is null."""
    document = rendered(*RESULTS)
    assert document["metadata"] | {"skillgauge": None} == {
        "skill_name": "tables",
        "skill_path": "/skills/tables",
        "executor_model": "m",
        "analyzer_model": None,
        "timestamp": "2023-11-14T22:13:20Z",
        "evals_run": [1, 2, "c"],
        "runs_per_configuration": 2,
        "skillgauge": None,
    }
    assert [run["run_number"] for run in document["runs"]] == [1, 2, 1, 1, 1, 1], "eval by eval, arm by arm"
    assert document["runs"][2] == {
        "eval_id": 1,
        "eval_name": "first",
        "configuration": "without_skill",
        "run_number": 1,
        "result": {
            "pass_rate": 0.5,
            "passed": 1,
            "failed": 1,
            "total": 2,
            "time_seconds": 1.0,
            "tokens": None,
            "tool_calls": None,
            "errors": None,
        },
        "expectations": [
            {"text": "a0", "passed": True, "evidence": "seen"},
            {"text": "a1", "passed": False, "evidence": "not seen"},
        ],
        "notes": [],
    }
    (error,) = document["ungraded_runs"]
    assert (error["eval_id"], error["result"]["pass_rate"], error["notes"]) == (2, None, ["no key"])


def test_summary_and_delta() -> None:
    """Statistics are over all runs that are known, the difference over the cases that both arms have."""
    document = rendered(*RESULTS)
    summary = document["run_summary"]
    assert summary["with_skill"]["pass_rate"] == {"mean": 0.625, "stddev": 0.4787, "min": 0.0, "max": 1.0}
    assert summary["with_skill"]["tokens"] == {"mean": 100.0, "stddev": 0.0, "min": 100, "max": 100}
    assert "tokens" not in summary["without_skill"], "unknown is left out"
    # Case 1: 0.75 against 0.5; case c: 0 against 0. Case 2 has no pair.
    assert summary["delta"] == {"pass_rate": "+0.12", "time_seconds": "+0.5", "tokens": None}
    assert document["notes"] == ["eval 2 was not graded in both configurations, so delta leaves it out"]


def test_a_difference_that_is_not_the_one_of_the_means_says_so() -> None:
    """Evals with unequal numbers of runs: the means beside it would show a lift that no eval has (N-A8)."""
    first = [trial("1", "with_skill", 2, repeat=repeat) for repeat in (1, 2)]
    others = [trial("1", "without_skill", 2), trial("2", "with_skill", 0), trial("2", "without_skill", 0)]
    document = rendered(*first, *others)
    summary = document["run_summary"]
    assert [summary[arm]["pass_rate"]["mean"] for arm in ("with_skill", "without_skill")] == [0.6667, 0.5]
    assert summary["delta"]["pass_rate"] == "+0.00"
    (note,) = document["notes"]
    assert note.startswith("delta is not the difference of the means above (pass_rate): it averages the runs of each")
    assert rendered(*first[1:], *others)["notes"] == []


def test_sessions_that_died_save_no_time() -> None:
    """Three that crashed at once are in no figure of time or tokens (N-A9)."""
    dead = [trial("1", "with_skill", None, repeat=repeat, duration_s=0.01) for repeat in (2, 3, 4)]
    live = [trial("1", arm, 2, duration_s=30.0) for arm in ("with_skill", "without_skill")]
    summary = rendered(*live, *dead)["run_summary"]
    assert summary["with_skill"]["time_seconds"] == {"mean": 30.0, "stddev": 0.0, "min": 30.0, "max": 30.0}
    assert summary["delta"]["time_seconds"] == "+0.0"


def test_reading_what_was_written(tmp_path: Path) -> None:
    """A document comes back with its verdicts, times and texts, and is written again as it was."""
    path = tmp_path / "benchmark.json"
    (artifact,) = AgentSkillsReporter().render(view(*RESULTS))
    path.write_bytes(b"".join(artifact.chunks))
    again = AgentSkillsReporter().read(path)
    assert again is not None
    assert [result.verdict for result in again.results()] == [result.verdict for result in RESULTS]
    assert [(group.arm, group.counts.passed, group.counts.errors) for group in again.summary.groups] == [
        ("with_skill", 2, 0),
        ("without_skill", 0, 1),
    ]
    (artifact,) = AgentSkillsReporter().render(again)
    twice, once = json.loads(b"".join(artifact.chunks)), json.loads(path.read_text())
    assert twice["run_summary"] == once["run_summary"]
    assert [run["expectations"] for run in twice["runs"]] == [run["expectations"] for run in once["runs"]]


def test_why_a_session_broke_down_survives(tmp_path: Path) -> None:
    """N-B10: an outage or a crash is not read back as an error inside; unknown classes of other versions are."""
    path = tmp_path / "benchmark.json"
    limit = Failure(failure_class=FailureClass.TIMEOUT, blame=Blame.AGENT_LIMIT, message="too slow")
    slow = trial("2", "with_skill", 0).model_copy(update={"scores": (), "execution": Execution(failure=limit)})
    document = rendered(trial("1", "with_skill", None), slow)
    path.write_text(json.dumps(document))
    found = AgentSkillsReporter().read(path)
    assert found is not None
    failures = [result.execution.failure for result in found.results()]
    assert [one and (one.failure_class, one.blame, one.message) for one in failures] == [
        (FailureClass.AUTH, Blame.INFRASTRUCTURE, "no key"),
        (FailureClass.TIMEOUT, Blame.AGENT_LIMIT, "too slow"),
    ]
    for run in (*document["runs"], *document["ungraded_runs"]):
        run["skillgauge"]["failure"]["class"] = "of-tomorrow"
    path.write_text(json.dumps(document))
    later = AgentSkillsReporter().read(path)
    assert later is not None
    classes = {one.execution.failure.failure_class for one in later.results() if one.execution.failure}
    assert classes == {FailureClass.INTERNAL}


@pytest.mark.parametrize("state", list(RunState))
def test_the_state_of_a_run_survives(tmp_path: Path, state: RunState) -> None:
    """Stopped, interrupted and invalid runs stay so, with who judged and what was asked (N-A4)."""
    base = view(*RESULTS)
    validity = SuiteValidity(suite_id="tables", valid=False, error_share=0.5, reason="half of it failed")
    heads = [CaseHead(suite_id="tables", index=place, id=case, digest=f"d{case}") for place, case in enumerate("12c")]
    run = RunView(
        run=base.run.model_copy(update={"state": state}),
        head=base.head.model_copy(update={"judges": (Identity(name="anthropic", model="m", settings={"a": 1}),)}),
        summary=base.summary.model_copy(update={"validity": (validity,)}),
        source=Kept(lambda: RESULTS, heads),
    )
    path = tmp_path / "benchmark.json"
    for _ in range(2):
        (artifact,) = AgentSkillsReporter().render(run)
        path.write_bytes(b"".join(artifact.chunks))
        found = AgentSkillsReporter().read(path)
        assert found is not None
        assert (found.run.state, found.summary.validity, found.head.judges) == (state, (validity,), run.head.judges)
        assert list(found.cases()) == heads
        run = found


def test_errors_leave_bounds_and_too_many_an_invalid_run(tmp_path: Path) -> None:
    """Recomputed on reading: what has no pass rate could have been anything, and two of five of it are too many."""
    path = tmp_path / "benchmark.json"
    for errors, expected in ((1, True), (2, False)):
        results = [trial("1", "with_skill", None if repeat <= errors else 2, repeat=repeat) for repeat in range(1, 6)]
        document = rendered(*results)
        del document["metadata"]["skillgauge"]
        path.write_text(json.dumps(document))
        found = AgentSkillsReporter().read(path)
        assert found is not None
        (validity,) = found.summary.validity
        assert (validity.valid, validity.error_share) == (expected, errors / 5)
        assert found.summary.groups[0].pass_bounds == pytest.approx(((5 - errors) / 5, 1.0))


def test_documents_of_skill_creator(tmp_path: Path) -> None:
    """A document of the original is read as far as it goes; what it does not say is unknown."""
    runs = [
        {
            "eval_id": 1,
            "eval_name": "Ocean",
            "configuration": configuration,
            "run_number": 1,
            "result": {
                "pass_rate": rate,
                "passed": 1,
                "failed": 0,
                "total": 1,
                "time_seconds": 42.5,
                "tokens": 3800,
                "tool_calls": 18,
                "errors": 0,
            },
            "expectations": [{"text": "It is there", "passed": rate == 1, "evidence": "line 3"}],
            "notes": [],
        }
        for configuration, rate in (("with_skill", 1.0), ("without_skill", 0.0))
    ]
    path = tmp_path / "benchmark.json"
    path.write_text(json.dumps({"metadata": {"skill_name": "pdf"}, "runs": runs, "run_summary": {}, "notes": []}))
    found = AgentSkillsReporter().read(path)
    assert found is not None
    (suite,) = found.head.suites
    assert suite.id == "pdf"
    assert suite.comparisons == (Comparison(candidate="with_skill", baseline="without_skill"),)
    first, second = found.results()
    assert (first.verdict, second.verdict, first.runner) == (Verdict.PASS, Verdict.FAIL, "unknown")
    assert (first.execution.duration_s, first.scores[0].check_id) == (42.5, "It is there")


def test_damaged_documents(tmp_path: Path) -> None:
    """A document with a mistake is refused with its line; a file of another kind is none."""
    path = tmp_path / "benchmark.json"
    path.write_text('{"metadata": {"skill_name": "x"},\n"runs": [{"configuration": "a", "eval_id": 1,\n"result": 5}]}')
    with pytest.raises(SuiteError, match="result"):
        AgentSkillsReporter().read(path)
    path.write_text('{"run_summary": {}, "configuration": ')
    with pytest.raises(SuiteError):
        AgentSkillsReporter().read(path)
    other = '{"metadata": {}, "runs": [{"with_skill": {}}]}'
    for text in ('{"runs": []}', "[]", '{"metadata": {}, "runs": []}', other):
        path.write_text(text)
        assert AgentSkillsReporter().read(path) is None


def test_several_models_are_a_list() -> None:
    """One document tells of one model; a run of several gives one each."""
    other = trial("1", "with_skill", 2).model_copy(update={"model": "n"})
    documents = rendered(trial("1", "with_skill", 2), other)
    assert [one["metadata"]["executor_model"] for one in documents] == ["m", "n"]
    assert [len(one["runs"]) for one in documents] == [1, 1]
    assert rendered() == []


def test_what_was_not_graded_is_no_failed_expectation() -> None:
    """E-A11: a judge that is down leaves its expectations out, so that no reader takes an error for a result."""
    down = Score.ungraded("the judge failed").model_copy(update={"check_id": "b"})
    seen = Score.passed("seen").model_copy(update={"check_id": "a"})
    result = trial("1", "with_skill", None).model_copy(update={"scores": (seen, down), "execution": Execution()})
    (run,) = rendered(result)["ungraded_runs"]
    assert [one["text"] for one in run["expectations"]] == ["a"]
    assert (run["result"]["pass_rate"], run["result"]["failed"], run["result"]["total"]) == (None, 0, 1)
    assert run["notes"] == ["not graded: b: the judge failed"]


def test_a_check_beside_the_verdict_is_no_expectation(tmp_path: Path) -> None:
    """D-1: whether the skill fired stands apart, unknown in the arm that has none, and moves no rate."""
    marks = {"check_id": "Fired when it should", "beside": True}
    fired, nothing = Score.failed("no").model_copy(update=marks), Score.ungraded("?").model_copy(update=marks)
    met, unmet = trial("1", "with_skill", 2), trial("1", "without_skill", 0)
    ours = met.model_copy(update={"scores": (*met.scores, fired)})
    theirs = unmet.model_copy(update={"scores": (*unmet.scores, nothing)})
    document = rendered(ours, theirs)
    assert [run["result"]["total"] for run in document["runs"]] == [2, 2]
    assert [run["skillgauge"]["beside"][0]["passed"] for run in document["runs"]] == [False, None]
    assert document["run_summary"]["delta"]["pass_rate"] == "+1.00"
    assert not any(run["notes"] for run in document["runs"])
    file = tmp_path / "benchmark.json"
    file.write_text(json.dumps(document))
    again = AgentSkillsReporter().read(file)
    assert again is not None
    assert [result.value for result in again.results()] == [1.0, 0.0]


def test_expectations_met_is_what_the_document_says() -> None:
    """D-3, E-A1, E-A2: the figure is the share of expectations that hold, over the trials that were graded."""
    results = [trial("1", "with_skill", 1), trial("2", "with_skill", 2), trial("c", "with_skill", None)]
    shown = view(*results)
    counts = Counts(total=3, passed=1, failed=1, errors=1)
    group = GroupSummary(
        suite_id="tables",
        target_id="tables",
        arm="with_skill",
        runner="codex",
        model="m",
        counts=counts,
        pass_rate=RateInterval(rate=0.5, n=2),
        mean_value=sum(one.value or 0 for one in results) / 2,
    )
    (figure,) = figures(group, shown.head.suites[0])
    assert (figure.value, figure.n) == (0.75, 2)
    assert rendered(*results)["run_summary"]["with_skill"]["pass_rate"]["mean"] == figure.value
