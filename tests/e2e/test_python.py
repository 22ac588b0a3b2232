"""`skillgauge.evaluate` and its kin: the evaluations of the command line, from Python."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path
from subprocess import run as run_process
from types import SimpleNamespace
from typing import Any

import pytest

import skillgauge
from skillgauge.api import ExitCode, PluginError, Provider, Score, SkillgaugeError, TrialResult, Verdict, hookimpl
from skillgauge.api.run import Evaluation, eval_options, invocation
from skillgauge.config.global_options import Globals
from skillgauge_testkit.program import Program

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/agent"
EVALS = EXAMPLES / "release-notes/evals/evals.json"
SCRIPT = {"engines.mock.script": str(EXAMPLES / "release-notes.mock.yaml")}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    """A folder and a home with nothing in them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", environment["HOME"])


def lift(run: skillgauge.Evaluated) -> float | None:
    """The only comparison's."""
    (pair,) = run.summary.pairs
    return pair.lift


@pytest.mark.slow
def test_a_run_comes_back(tmp_path: Path) -> None:
    """With the figures that reporters get, the words of the terminal, and nothing written."""
    seen: list[TrialResult] = []
    run = skillgauge.evaluate(EVALS, engine="mock", options=SCRIPT, on_result=seen.append)
    assert (run.complete, lift(run), run.summary.counts.total) == (True, 0.75, 8)
    assert {one.trial_id for one in seen} == {one.trial_id for one in run.results()}
    assert "+75.0 points against without_skill" in str(run)
    assert run._repr_markdown_().startswith("**release-notes")
    assert list(tmp_path.glob("*.db")) == []
    assert not (tmp_path / "reports").exists()


@pytest.mark.slow
def test_a_run_is_kept_where_somebody_asks_for_it(tmp_path: Path) -> None:
    """The store is the one that the command line reads."""
    skillgauge.evaluate(EVALS, engine="mock", options=SCRIPT, store=tmp_path / "kept.db")
    assert (tmp_path / "kept.db").stat().st_size > 0


@pytest.mark.slow
def test_it_works_wherever_it_is_called(capfd: pytest.CaptureFixture[str]) -> None:
    """In a loop by itself and awaited, as a notebook and a server do; in a thread; and it prints nothing."""

    async def notebook() -> tuple[float | None, float | None]:
        inside = skillgauge.evaluate(EVALS, engine="mock", options=SCRIPT)
        return lift(inside), lift(await skillgauge.aevaluate(EVALS, engine="mock", options=SCRIPT))

    assert asyncio.run(notebook()) == (0.75, 0.75)
    found: list[float | None] = []
    thread = threading.Thread(
        target=lambda: found.append(lift(skillgauge.evaluate(EVALS, engine="mock", options=SCRIPT)))
    )
    thread.start()
    thread.join()
    assert found == [0.75]
    assert capfd.readouterr() == ("", "")


def test_plugins_are_objects() -> None:
    """Neither installed nor in a file: any object with hooks takes part, and two runs do not share them."""

    class Half:
        """Gives one half."""

        version = "1"

        async def score(self, _context: object) -> Score:
            """One half, which fails."""
            return Score.failed("by half", value=0.5)

    class Mine:
        """Announces it."""

        @hookimpl
        def skillgauge_scorers(self) -> Iterator[Provider[object]]:
            """Announce the scorer `half`."""
            yield Provider(name="half", factory=Half, summary="Gives one half.")

    asked = {"engine": "mock", "baseline": False, "case": "1", "options": SCRIPT, "check": "half"}
    run = skillgauge.evaluate(EVALS, plugins=[Mine()], **asked)  # type: ignore[arg-type]
    (result,) = run.results()
    assert result.verdict is Verdict.FAIL
    assert "by half" in [score.reason for score in result.scores]
    with pytest.raises(SkillgaugeError, match="scorer 'half' is not installed"):
        skillgauge.evaluate(EVALS, **asked)  # type: ignore[arg-type]
    with pytest.raises(PluginError, match="announces nothing"):
        skillgauge.evaluate(EVALS, plugins=[SimpleNamespace()], **asked)  # type: ignore[arg-type]


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    """As the command line does, with the place; and a setting that there is not is named."""
    (tmp_path / "SKILL.md").write_text("---\nname: x\ndescription: Does x.\n---\n")
    bad = tmp_path / "evals.json"
    bad.write_text(json.dumps({"skill_name": "x", "evals": [{"id": 1}, {"id": 2}]}))
    with pytest.raises(SkillgaugeError) as caught:
        skillgauge.evaluate(bad, engine="mock")
    assert [(one.span.line if one.span else None) for one in caught.value.problems] == [1, 1]
    assert f"{bad}:1:" in str(caught.value)
    with pytest.raises(TypeError, match=r"engines \(did you mean engine\?\); .*suites={"):
        skillgauge.evaluate(EVALS, engines="mock")  # type: ignore[call-arg]


@pytest.mark.slow
def test_what_would_run_is_known_before() -> None:
    """Each case in each arm, with its place in the file."""
    planned = skillgauge.planned_cases(EVALS, engine="mock")
    assert [(one.case_id, one.is_baseline) for one in planned[:2]] == [("1", False), ("1", True)]
    assert len(planned) == 8
    assert all(one.file == str(EVALS) and one.line for one in planned)
    run = skillgauge.evaluate(EVALS, engine="mock", options=SCRIPT)
    assert all(sum(one.is_of(result) for result in run.results()) == 1 for one in planned)


@pytest.mark.slow
def test_a_cancelled_run_keeps_what_is_finished(tmp_path: Path) -> None:
    """The task that awaits it is cancelled when the first result comes; the next command goes on from there."""
    store = tmp_path / "kept.db"
    asked = {"engine": "mock", "options": SCRIPT, "store": store, "concurrency": 1}

    async def cancel() -> None:
        task = asyncio.create_task(
            skillgauge.aevaluate(EVALS, on_result=lambda _: task.cancel(), **asked)  # type: ignore[arg-type]
        )
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    again: list[TrialResult] = []
    run = skillgauge.evaluate(EVALS, on_result=again.append, **asked)  # type: ignore[arg-type]
    assert 0 < len(again) < 8
    assert run.summary.counts.total == 8


ASKED: dict[str, object] = {"engine": "mock", "options": SCRIPT}


def decided(**gates: object) -> skillgauge.Decision:
    """The decision on the example under some gates."""
    return skillgauge.evaluate(EVALS, **ASKED, **gates).decision  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_run_comes_back_with_its_decision() -> None:
    """A gate is met, missed or inconclusive, with a reason, and the exit code is the command's."""
    met = decided(min_lift=50, exit_on_fail=True, min_completion=0.5, runs=3)
    assert (met.exit_code, {gate.status for gate in met.gates}) == (ExitCode.OK, {"met"})
    assert met.verdict.startswith("gate met: ")
    assert {gate.gate.figure for gate in met.gates} == {"case_pass_rate", "lift"}
    missed = decided(min_delta_pts=90, gate=["better", "not-worse"])
    assert missed.exit_code is ExitCode.GATE_MISSED
    assert [gate.status for gate in missed.gates] == ["missed", "inconclusive", "inconclusive"]
    assert "+75.0 points" in missed.gates[0].reason
    assert [gate.status for gate in decided(min_lift=50).gates] == ["inconclusive"]
    assert decided(gate="better").exit_code is ExitCode.INVALID_RUN
    assert decided().gates == ()
    with pytest.raises(AttributeError):
        met.verdict = "changed"  # type: ignore[misc]


@pytest.mark.slow
def test_the_decision_is_that_of_the_command_line(program: Program) -> None:
    """Exit code and verdict are the same for the same gate."""
    script = f"engines.mock.script={SCRIPT['engines.mock.script']}"
    words = (str(EVALS), "--engine", "mock", "--min-delta-pts", "90", "--store", "none", "--set", script)
    done = program("eval", *words)
    decision = decided(min_lift=90)
    assert done.code == decision.exit_code
    timed = "; where both passed"  # a ratio of times differs from run to run
    assert done.verdict.partition(timed)[0] == decision.verdict.partition(timed)[0]


@pytest.mark.slow
def test_a_gate_compares_with_an_earlier_run(tmp_path: Path) -> None:
    """A run of the store, a report or a baseline; without a gate nothing is run."""
    store = tmp_path / "kept.db"
    first = decided(store=store)
    again = decided(store=store, fresh=True, gate="not-worse", margin=50, against="latest")
    assert first.exit_code is ExitCode.OK
    assert [gate.gate.figure for gate in again.gates] == ["change"]
    assert decided(store=store, against="latest").gates == ()


@pytest.mark.slow
def test_wrong_gates_are_told_before_anything_runs() -> None:
    """All of them at once; a run without its baseline leaves a gate on the lift open."""
    seen: list[TrialResult] = []
    wrong = {"min_lift": 900, "margin": float("nan"), "gate": ["best"], "fail_on_verdict": "bad", "min_completion": "1"}
    with pytest.raises(SkillgaugeError) as caught:
        decided(on_result=seen.append, **wrong)
    assert len(caught.value.problems) == len(wrong)
    assert seen == []
    with pytest.raises(TypeError, match="the same setting"):
        decided(min_lift=1, min_delta_pts=1)
    open_ = decided(min_lift=1, baseline=False)
    assert ([gate.status for gate in open_.gates], open_.exit_code) == (["inconclusive"], ExitCode.INVALID_RUN)


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"retries": -1}, "Give a whole number, at least 0."),
        ({"concurrency": 0}, "Give a whole number, at least 1."),
        ({"max_turns": 1.5}, "Give a whole number, at least 1."),
        ({"max_cost": 0}, "Give a number above 0."),
        ({"max_tokens": True}, "Give a whole number, at least 1."),
        ({"margin": 101}, "Give a number from 0 to 100."),
    ],
    ids=str,
)
def test_a_number_out_of_range_is_refused_as_on_the_command_line(settings: dict[str, Any], hint: str) -> None:
    """Whatever the setting is; nothing runs."""
    with pytest.raises(SkillgaugeError) as caught:
        decided(**settings)
    (problem,) = caught.value.problems
    ((name, value),) = settings.items()
    assert (problem.message, problem.hint) == (f"{name} is {value!r}", hint)


@pytest.mark.slow
def test_gates_ask_about_new_cases_if_they_are_told_to() -> None:
    """Four cases tell nothing of new ones, and that is said before anything runs."""
    both = [decided(gate="better", runs=5, gate_scope=scope) for scope in ("these", "new")]
    assert [gate.status for decision in both for gate in decision.gates] == ["met", "inconclusive"]


@pytest.mark.slow
def test_a_program_hears_what_a_terminal_hears(tmp_path: Path) -> None:
    """Checks that were added are counted, a word that means nothing is refused, and a coarse comparison is named."""
    run = skillgauge.evaluate(EVALS, check='contains={"keywords": ["x"]}', **ASKED)  # type: ignore[arg-type]
    assert [table.name for group in run.summary.groups for table in group.tables] == ["added_checks"] * 2
    assert any("4 cases, run once in each arm" in notice for notice in run.notices)
    with pytest.raises(SkillgaugeError, match="there is no path or case called 'nothing-here'"):
        skillgauge.evaluate("nothing-here", **ASKED)  # type: ignore[arg-type]
    with pytest.raises(PluginError, match="cannot be used in other processes"):
        skillgauge.evaluate(EVALS, plugins=[SimpleNamespace()], executor="processes", **ASKED)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_program_needs_no_command_line() -> None:
    """Evaluating imports no click."""
    code = "import sys, skillgauge; skillgauge.evaluate; print('click' in sys.modules)"
    done = run_process([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.slow
def test_a_program_gets_no_file_that_a_suite_wants(tmp_path: Path) -> None:
    """A package names a folder for its reports; from Python it gets none, and its own gate decides."""
    package = tmp_path / "word-tools"
    shutil.copytree(ROOT / "plugins/formats/uaaps/tests/data/word-tools", package)
    before = sorted(tmp_path.rglob("*"))
    run = skillgauge.evaluate(package, engine="mock", judge="mock")
    assert [gate.status for gate in run.decision.gates] == ["missed"] * 4
    assert run.decision.verdict.startswith("failed: ")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_an_evaluation_does_not_change_while_it_runs() -> None:
    """What became of it is another value, so that it can be carried out by several callers."""
    script = f"engines.mock.script={json.dumps(SCRIPT['engines.mock.script'])}"
    call = invocation(Globals(quiet=True, assign=(script,)), {"store": "none"})
    asked = eval_options(call, {"paths": [str(EVALS)], "engine": ("mock",)})

    async def carried_out() -> Evaluation:
        evaluation = await Evaluation.prepare(call, asked)
        before = dict(vars(evaluation))
        ended = await evaluation.carry_out(fail_fast=True)
        assert (ended.complete, ended.stopped_at, ended.failures) == (True, None, ())
        after = vars(evaluation)
        assert all(after[name] is value for name, value in before.items())
        return evaluation

    evaluation = asyncio.run(carried_out())
    with pytest.raises(FrozenInstanceError):
        evaluation.kept = 1  # type: ignore[misc]
