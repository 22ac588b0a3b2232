"""Reports to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from skillgauge.api import (
    DIRECT,
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
    SuiteHead,
    TargetHead,
    TrialResult,
    Verdict,
)
from skillgauge.api.report import Counts, Figure, GroupSummary, RunInfo, RunState, RunView, Summary
from skillgauge.stats import Latency, RateInterval

DATA = Path(__file__).with_name("data")
BASELINE = "without_skill"


VERDICTS = {"p": Verdict.PASS, "f": Verdict.FAIL, "t": Verdict.FAIL, "e": Verdict.ERROR, "s": Verdict.SKIPPED}


def trial(
    task: str, place: int, repeat: int, letter: str, *, skill: str, suite: str, arm: str, runner: str, model: str | None
) -> TrialResult:
    """One repeat: `p`assed, `f`ailed, `t`imed out, ended in an `e`rror or was `s`kipped."""
    failure = None
    if letter == "t":
        failure = Failure(failure_class=FailureClass.TIMEOUT, blame=Blame.TARGET, message="too slow")
    score = {"p": Score.passed(), "f": Score.failed(f"wrong {task}"), "e": Score.ungraded("no judge")}.get(letter)
    return TrialResult(
        trial_id=f"{skill} {task} {repeat}",
        execution_id="e",
        score_id="s",
        ordinal=0,
        suite_id=suite,
        case_id=task,
        case_index=place,
        target_id=skill,
        arm=arm,
        runner=runner,
        model=model,
        repeat=repeat,
        verdict=VERDICTS[letter],
        scores=(score,) if score else (),
        execution=Execution(duration_s=0.01 * repeat, failure=failure),
        started_at=1_700_000_000.0,
    )


Skills = Mapping[str, Mapping[str, str]]


def report(
    skills: Skills,
    *,
    suite: str = "demo",
    version: str | None = None,
    skill_version: str | None = None,
    arm: str = DIRECT.name,
    runner: str = "subprocess",
    model: str | None = None,
    state: RunState = RunState.FINISHED,
    figures: Sequence[Figure] = (),
    run_id: str = "",
    baseline: Skills | None = None,
    contents: Mapping[str, str] | None = None,
    judges: Sequence[Identity] = (),
) -> RunView:
    """A report: for each skill its tasks, and for each task one letter per repeat.

    `baseline` is the same for the arm `without_skill`, `contents` are digests of tasks by id.
    """
    key = {"suite": suite, "runner": runner, "model": model}
    arms = {arm: skills} | ({} if baseline is None else {BASELINE: baseline})
    places = list(dict.fromkeys(task for of_arm in arms.values() for tasks in of_arm.values() for task in tasks))
    results = [
        trial(task, places.index(task), repeat, letter, skill=skill, arm=name, **key)
        for name, of_arm in arms.items()
        for skill, tasks in of_arm.items()
        for task, letters in tasks.items()
        for repeat, letter in enumerate(letters, 1)
    ]
    groups = tuple(
        GroupSummary(
            suite_id=suite,
            target_id=skill,
            arm=name,
            runner=runner,
            model=model,
            counts=Counts(),
            pass_rate=RateInterval(rate=None, n=0),
            latency=Latency(),
            figures=tuple(figures),
        )
        for skill in skills
        for name in arms
    )
    head = SuiteHead(
        id=suite,
        version=version,
        format="fake",
        root=".",
        content_digest="0",
        case_count=0,
        targets=tuple(TargetHead(id=skill, version=skill_version) for skill in skills),
        arms=tuple(arms),
        comparisons=() if baseline is None else (Comparison(candidate=arm, baseline=BASELINE),),
    )
    heads = [
        CaseHead(suite_id=suite, index=place, id=task, digest=(contents or {}).get(task, ""))
        for place, task in enumerate(places)
    ]
    repeats = max((result.repeat for result in results), default=1)
    return RunView(
        RunInfo(run_id=run_id or f"run of {sorted(map(str, skills.items()))}", state=state, started_at=1_700_000_000.0),
        PlanHead(plan_id="p", suites=(head,), trial_count=len(results), runs=repeats, seed=0, judges=tuple(judges)),
        Summary(counts=Counts(), groups=groups),
        Kept(lambda: results, heads),
    )


@pytest.fixture(name="report")
def report_fixture() -> Callable[..., RunView]:
    """The function `report`."""
    return report


@pytest.fixture
def data() -> Path:
    """Reports of the original."""
    return DATA
