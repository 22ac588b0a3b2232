"""`skillgauge.evaluate` and its kin: the evaluations of the command line, from Python."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import skillgauge
from skillgauge.api import PluginError, Provider, Score, SkillgaugeError, TrialResult, Verdict, hookimpl

EXAMPLES = Path(__file__).parents[2] / "examples/agent"
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
