"""Cases that are run more or less often than others: planned, run, resumed, continued, told and converted."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Program

from .conftest import Scripted

pytestmark = pytest.mark.e2e

RUNS = {"a": 1, "b": None, "c": 5}
"""What each case says; one that says nothing is run three times."""
EVERY = Counter({(arm, case): runs or 3 for case, runs in RUNS.items() for arm in ("with_skill", "without_skill")})


def write(skill: Path, answer: str) -> None:
    """Write a skill and cases whose answer has to hold a text."""
    shutil.rmtree(skill, ignore_errors=True)
    skill.mkdir()
    (skill / "SKILL.md").write_text(f"---\nname: {skill.name}\ndescription: Use when a boat is folded.\n---\nFold.\n")
    for case, runs in RUNS.items():
        folder = skill / "evals" / case
        (folder / "graders").mkdir(parents=True)
        (folder / "prompt.md").write_text((f"---\nruns: {runs}\n---\n" if runs else "") + "Fold a boat.\n")
        (folder / "graders/g.md").write_text(f"---\ntype: regex\n---\n{answer}\n")


def trials(record: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Count the results of a record by arm and case."""
    return Counter((result["arm"], result["case_id"]) for result in record["results"])


@pytest.fixture
def skill(work: Path) -> Path:
    """Return a skill with cases that differ in runs."""
    write(work / "fold", "with-skill")
    return work / "fold"


def test_a_dry_run(program: Program, skill: Path) -> None:
    """It says how many sessions there are, and counts each case as often as it is run."""
    document = program("eval", skill, "--engine", "mock", "--dry-run", "--json").document
    (suite,) = document["plan"]["suites"]
    assert (document["plan"]["trial_count"], suite["fewest_runs"], suite["runs"]) == (18, 1, 5)
    assert [(arm["fewest_runs"], arm["runs"], arm["sessions"]) for arm in document["arms"]] == [(1, 5, 9)] * 2
    (foreseen,) = document["comparisons"]
    assert (foreseen["cases"], foreseen["fewest_runs"], foreseen["runs"]) == (3, 1, 5)
    people = program("eval", skill, "--engine", "mock", "--dry-run").stdout
    assert "18 trials in sandbox local/none; runs: 1 to 5, seed: 0" in people.splitlines()
    assert "fold: 3 cases, run 1 to 5 times in each arm, " in people
    one = program("eval", skill, "--engine", "mock", "--dry-run", "--json", "--case", "b").document
    assert (one["plan"]["trial_count"], one["plan"]["runs"], one["plan"]["suites"][0]["fewest_runs"]) == (6, 3, None)


def test_a_run(program: Program, skill: Path, work: Path) -> None:
    """Each case runs as often as it says in both arms, and reports say so."""
    formats = ("--format", "record", "plugin-eval", "markdown", "html", "--output-dir", work / "out")
    done = program("eval", skill, "--engine", "mock", *formats)
    assert done.code == 0, done.stderr
    (record,) = (work / "out").glob("*.record.json")
    assert trials(json.loads(record.read_text())) == EVERY
    assert "18 trials, runs: 1 to 5, seed: 0" in program("report", "show", record).stdout
    assert "18 trials, runs: 1 to 5, seed: 0" in (work / "out/eval-result.md").read_text()
    assert "<dt>Runs per case</dt><dd>1 to 5</dd>" in (work / "out/eval-result.html").read_text()
    document = json.loads((work / "out/eval-result.json").read_text())
    assert [(case["name"], case["runsPerCase"], len(case["arms"]["with"])) for case in document["cases"]] == [
        ("a", 1, 1),
        ("b", 3, 3),
        ("c", 5, 5),
    ]
    shown = program("report", "show", record, "--json").document
    (group, _) = shown["summary"]["groups"]
    assert (group["counts"]["total"], group["pass_rate"]["n"]) == (9, 3), "a case counts once, however often it ran"


@pytest.mark.parametrize(("runs", "each"), [("2", 2), ("auto", 6)])
def test_a_number_of_the_user_goes_before(program: Program, skill: Path, runs: str, each: int) -> None:
    """It holds for all cases, also where it is chosen by what it is to show."""
    plan = program("eval", skill, "--engine", "mock", "--runs", runs, "--dry-run", "--json").document["plan"]
    (suite,) = plan["suites"]
    assert (suite["runs"], suite["fewest_runs"], plan["trial_count"]) == (each, None, 6 * each)


@pytest.mark.slow
def test_resumed_and_continued(scripted: Scripted) -> None:
    """The same command does what is left; a confirmation adds as many repeats to each case, and counts its look."""
    write(scripted.work / "s", "GOOD")
    scripted.script(dict.fromkeys(RUNS, "p"), dict.fromkeys(RUNS, "f"))
    command = ("eval", "s", "--engine", "scripted", *scripted.options, "--format", "record")
    stopped = scripted.program(*command, "--max-cost", "4")
    assert stopped.code == 4, stopped.stderr
    done = scripted.program(*command)
    assert done.code == 0, done.stderr
    assert "resuming run " in done.stderr
    sessions = Counter((arm, case) for arm, case, _ in map(str.split, scripted.sessions()))
    assert sessions == EVERY
    (first,) = (path for path in scripted.work.glob("reports/*.record.json") if len(_results(path)) == 18)
    again = scripted.program("eval", "--confirm", first, "--runs", "2", *scripted.options, "--format", "record")
    assert again.code == 0, again.stderr
    (joined,) = (path for path in scripted.work.glob("reports/*.record.json") if len(_results(path)) > 18)
    record = json.loads(joined.read_text())
    assert trials(record) == Counter({place: number + 2 for place, number in EVERY.items()})
    (suite,) = record["plan"]["suites"]
    assert (suite["fewest_runs"], suite["runs"], suite["looks"]) == (3, 7, [5])
    assert record["plan"]["trial_count"] == len(record["results"]) == 30
    assert {one["repeat"] for one in record["results"] if one["case_id"] == "a"} == {1, 6, 7}


def _results(path: Path) -> list[object]:
    results: list[object] = json.loads(path.read_text())["results"]
    return results


def test_what_few_cases_can_show(program: Program, skill: Path) -> None:
    """Two cases run once and three times show something in the best outcome, as run twice each they would not."""
    (foreseen,) = program(
        *("eval", skill, "--engine", "mock", "--dry-run", "--json", "--case", "a", "--case", "b")
    ).document["comparisons"]
    assert (foreseen["cases"], foreseen["fewest_runs"], foreseen["runs"], foreseen["detectable"]) == (2, 1, 3, 1)
    done = program("eval", skill, "--engine", "mock", "--case", "a", "--case", "b", "--exit-on-fail")
    assert "helps on these cases" in done.verdict
    assert "whatever comes out" not in done.stderr


def test_converted(program: Program, skill: Path, work: Path) -> None:
    """Another format tells of each case that it would run more or less often, and this one keeps all."""
    there = program("convert", skill, "--to", "waza", "-o", work / "waza")
    losses = there.stdout + there.stderr
    assert [f"case {case!r}: runs cannot be written" in losses for case in RUNS] == [True, False, True]
    back = program("convert", skill, "--to", "plugin-eval", "-o", work / "back")
    assert "runs" not in back.stderr
    plan = program("eval", work / "back", "--engine", "mock", "--dry-run", "--json").document["plan"]
    assert (plan["trial_count"], plan["suites"][0]["fewest_runs"], plan["suites"][0]["runs"]) == (18, 1, 5)
