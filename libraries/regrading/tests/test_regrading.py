"""Runs that are graded again, in part, with the checks and judges of now."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from skillgauge.api import UsageError
from skillgauge.api.run import eval_options, invocation, run_reports
from skillgauge.evaluation.invocation import Globals
from skillgauge_regrading import asked_for, regrade
from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e
EVALS = [{"id": at, "prompt": f"case-{at}.", "assertions": ["GOOD", "case"]} for at in (1, 2, 3)]


@pytest.fixture
def record(program: Program, work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The record of a run of a skill, whose folder is the current one."""
    skill = work / "my-skill"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: my-skill\ndescription: Answers.\n---\n")
    write(skill, EVALS)
    words = ("eval", "my-skill", "--engine", "mock", "--judge", "mock", "--no-baseline", "--format", "record")
    done = program(*words, env={"SKILLGAUGE_SANDBOX": "local"})
    assert done.code == 0, done.stderr
    monkeypatch.chdir(work)
    return next((work / "reports").glob("run-*.record.json"))


def write(skill: Path, evals: list[dict[str, object]]) -> None:
    """The suite of the skill."""
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "my-skill", "evals": evals}))


def test_a_part_is_graded_again(record: Path) -> None:
    """The chosen check of the chosen trial, by what it did then; the others are left alone."""
    call = invocation(Globals(), {"store": "none"})
    with run_reports(call, [str(record)]) as (view,):
        results = list(view.results())
        chosen = results[1]
        check = next(score.check_id for score in chosen.scores if "case" in score.check_id)

        async def grade() -> None:
            request = asked_for(eval_options(call, {"paths": ()}), view, here=True)
            evaluation = await regrade(call, request, view, {chosen.trial_id: [check]})
            (again,) = (await evaluation.carry_out()).view.results()
            assert (again.trial_id, again.execution.text) == (chosen.trial_id, chosen.execution.text)
            assert [(score.check_id, score.status) for score in again.scores] == [
                (score.check_id, score.status) for score in chosen.scores if score.check_id == check
            ]

        asyncio.run(grade())


def test_a_case_that_changed_is_refused(record: Path) -> None:
    """Another prompt would be graded by an answer that was given to the first."""
    write(Path("my-skill"), [{**EVALS[0], "prompt": "Something else."}, *EVALS[1:]])
    call = invocation(Globals(), {"store": "none"})
    with run_reports(call, [str(record)]) as (view,):
        request = asked_for(eval_options(call, {"paths": ()}), view, here=True)
        with pytest.raises(UsageError, match="asks something else now"):
            asyncio.run(regrade(call, request, view))
