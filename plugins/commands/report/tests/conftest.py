"""Reports to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from skillgauge.api import (
    DIRECT,
    Blame,
    Counts,
    Execution,
    Failure,
    FailureClass,
    Figure,
    GroupSummary,
    Kept,
    Latency,
    PlanHead,
    RateInterval,
    RunInfo,
    RunState,
    RunView,
    Score,
    SuiteHead,
    Summary,
    TargetHead,
    TrialResult,
    Verdict,
)

DATA = Path(__file__).with_name("data")


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
) -> RunView:
    """A report: for each skill its tasks, and for each task one letter per repeat."""
    key = {"suite": suite, "arm": arm, "runner": runner, "model": model}
    places = list(dict.fromkeys(task for tasks in skills.values() for task in tasks))
    results = [
        trial(task, places.index(task), repeat, letter, skill=skill, **key)
        for skill, tasks in skills.items()
        for task, letters in tasks.items()
        for repeat, letter in enumerate(letters, 1)
    ]
    groups = tuple(
        GroupSummary(
            suite_id=suite,
            target_id=skill,
            arm=arm,
            runner=runner,
            model=model,
            counts=Counts(),
            pass_rate=RateInterval(rate=None, n=0),
            latency=Latency(),
            figures=tuple(figures),
        )
        for skill in skills
    )
    head = SuiteHead(
        id=suite,
        version=version,
        format="fake",
        root=".",
        content_digest="0",
        case_count=0,
        targets=tuple(TargetHead(id=skill, version=skill_version) for skill in skills),
        arms=(arm,),
    )
    repeats = max((result.repeat for result in results), default=1)
    return RunView(
        RunInfo(run_id=run_id or f"run of {sorted(map(str, skills.items()))}", state=state, started_at=1_700_000_000.0),
        PlanHead(plan_id="p", suites=(head,), trial_count=len(results), runs=repeats, seed=0),
        Summary(counts=Counts(), groups=groups),
        Kept(lambda: results),
    )


@pytest.fixture(name="report")
def report_fixture() -> Callable[..., RunView]:
    """The function `report`."""
    return report


@pytest.fixture
def data() -> Path:
    """Reports of the original."""
    return DATA
