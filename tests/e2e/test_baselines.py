"""A run against one that was kept: is the skill worse or better than it was, and is that the skill's or the model's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Letters, Scripted

pytestmark = pytest.mark.e2e

NUMBERS = [str(one) for one in range(1, 13)]
EARLIER = ("--model", "m-1")


def outcomes(first: str, count: int, rest: str) -> Letters:
    """The first cases end like this, the others like that."""
    return {number: first if at < count else rest for at, number in enumerate(NUMBERS)}


ALL, NONE, HALF = outcomes("p", 12, "f"), outcomes("p", 0, "f"), outcomes("p", 6, "f")


@pytest.fixture
def twelve(scripted: Scripted) -> Scripted:
    """Twelve cases are enough for an interval."""
    scripted.write(cases=12)
    return scripted


def kept(twelve: Scripted, with_skill: Letters, without: Letters, *arguments: str) -> None:
    """Run that and keep it as `main`."""
    twelve.evaluate(with_skill, without, *(arguments or EARLIER))
    done = twelve.program("baseline", "save", "main", "--force")
    assert done.code == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "gate", "code", "told"),
    [
        ((ALL, NONE), (ALL, NONE), "not-worse --margin 30", 0, "gate met"),
        (
            (ALL, NONE),
            (NONE, NONE),
            "not-worse",
            1,
            "is worse than main on these cases (pass rate -100.0 ",
        ),
        ((ALL, NONE), (NONE, NONE), "not-worse", 1, "; without the skill +0.0 points"),
        ((NONE, NONE), (ALL, NONE), "better --margin 20", 0, "gate met"),
        ((ALL, NONE), (NONE, NONE), "better", 1, "is not better than main"),
        ((ALL, NONE), (ALL, NONE), "better", 3, "may or may not be better than main"),
        ((ALL, NONE), (outcomes("p", 10, "f"), NONE), "not-worse --margin 5", 3, "may or may not be worse than main"),
        ((ALL, ALL), (NONE, NONE), "not-worse", 3, "; the model changed: without the skill"),
        ((NONE, NONE), (ALL, ALL), "better", 3, "; the model changed: without the skill"),
        ((ALL, NONE), (outcomes("p", 10, "e"), NONE), "not-worse --margin 20", 3, "may or may not be worse than main"),
    ],
)
def test_what_the_gate_says(
    twelve: Scripted,
    before: tuple[Letters, Letters],
    after: tuple[Letters, Letters],
    gate: str,
    code: int,
    told: str,
) -> None:
    """Met, missed or open by what these cases show; what both arms did alike is the model's."""
    kept(twelve, *before)
    words = ("--against", "main", "--gate", *gate.split(), *EARLIER)
    done = twelve.evaluate(*after, *words, code=code)
    assert told in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("now", "told"),
    [
        (("--model", "m-2"), "model: m-1 → m-2"),
        (("--no-baseline", *EARLIER), "the skill or the model changed: there is no arm without the skill in both runs"),
        (("--case", "1", *EARLIER), "may or may not be worse than main on these cases"),
        (("--case", "1", "--gate-scope", "new", *EARLIER), "1 case is too few to compare new ones with main"),
    ],
)
def test_what_stands_in_the_way(twelve: Scripted, now: tuple[str, ...], told: str) -> None:
    """Another model is named and decides nothing; what is unknown is said."""
    kept(twelve, ALL, NONE)
    code = 1 if "--no-baseline" in now else 3
    done = twelve.evaluate(NONE, NONE, "--against", "main", "--gate", "not-worse", *now, code=code)
    assert told in done.stderr


@pytest.mark.slow
def test_changed_cases_are_not_compared(twelve: Scripted) -> None:
    """Another question is another case."""
    kept(twelve, ALL, NONE)
    path = twelve.work / "s/evals/evals.json"
    path.write_text(path.read_text().replace("number ", "what is number "))
    done = twelve.evaluate(NONE, NONE, "--against", "main", "--gate", "not-worse", *EARLIER, code=3)
    assert "no case of main is still the same" in done.stderr


@pytest.mark.slow
def test_whatever_is_wrong_is_said_before_anything_runs(twelve: Scripted) -> None:
    """A name that nothing has, and a run that proves nothing."""
    kept(twelve, ALL, NONE)
    done = twelve.evaluate(ALL, NONE, "--against", "mian", "--gate", "better", code=2)
    assert "mian" in done.stderr
    assert twelve.sessions() == []
    twelve.evaluate(dict.fromkeys(NUMBERS, "e"), NONE, code=3)
    refused = twelve.program("baseline", "save", "bad")
    assert (refused.code, "nothing is kept: the run is invalid" in refused.verdict) == (3, True)
    done = twelve.evaluate(ALL, NONE, "--against", "latest", "--gate", "better", code=2)
    assert "nothing can be compared with latest: the run is invalid" in done.stderr


@pytest.mark.slow
def test_baselines_are_kept_listed_and_shown(twelve: Scripted, work: Path) -> None:
    """The file holds no transcript, is listed, is a report for all others, and is not replaced in silence."""
    kept(twelve, HALF, NONE)
    file = work / "baselines/main.record.json"
    results = json.loads(file.read_text())["results"]
    assert {(one["execution"].get("text"), one["execution"].get("trajectory")) for one in results} == {(None, None)}
    again = twelve.program("baseline", "save", "main")
    assert (again.code, "there is a baseline 'main'" in again.stderr) == (2, True)
    assert twelve.program("baseline", "save", "../main").code == 2
    (entry,) = twelve.program("baseline", "list", "--json").document["baselines"]
    assert (entry["name"], entry["file"], entry["models"]) == ("main", "baselines/main.record.json", ["m-1"])
    assert "with_skill: 6 of 12 passed" in twelve.program("baseline", "list").stdout
    shown = twelve.program("baseline", "show", "main")
    assert (shown.code, "pass rate 50.0%" in shown.stdout) == (0, True)
    assert "did you mean main?" in twelve.program("baseline", "show", "mian").stderr
    by_file, by_name = (twelve.program("report", "diff", one, "latest") for one in (file, "main"))
    assert (by_file.code, by_name.code, "- Before: main," in by_name.stdout) == (0, 0, True)
    assert by_name.stdout.partition("###")[2] == by_file.stdout.partition("###")[2]
    (work / "baselines/bad.record.json").write_text("{")
    listed = twelve.program("baseline", "list")
    assert (listed.code, "main" in listed.stdout) == (2, True)


@pytest.fixture
def four(scripted: Scripted) -> Scripted:
    """As many cases as the median of public suites has."""
    scripted.write(cases=4)
    return scripted


FOUR_ALL, FOUR_NONE = dict.fromkeys("1234", "p" * 7), dict.fromkeys("1234", "f" * 7)


@pytest.mark.slow
def test_a_small_suite_can_meet_its_gates(four: Scripted) -> None:
    """Four cases, seven times: the same results again meet the gate that saving recommends, and so does a lift."""
    four.evaluate(FOUR_ALL, FOUR_NONE, "--runs", "7", *EARLIER, "--gate", "better", code=0)
    saved = four.program("baseline", "save", "main")
    assert saved.verdict.endswith("compare with: skillgauge eval --gate not-worse --margin 10 --against main")
    words = ("--runs", "7", "--gate", "not-worse", "--margin", "10", "--against", "main", *EARLIER)
    done = four.evaluate(FOUR_ALL, FOUR_NONE, *words, code=0)
    assert "would not meet" not in done.stderr
    new = four.evaluate(FOUR_ALL, FOUR_NONE, *words, "--gate-scope", "new", code=3)
    assert "4 cases are too few to compare new ones with main" in new.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--gate", "better"), "run once in each arm, cannot meet --gate better on these cases, whatever comes out"),
        (("--min-delta-pts", "20"), "cannot meet --min-delta-pts 20 on these cases, whatever comes out"),
        (("--gate", "not-worse", "--margin", "10"), "cannot miss --gate not-worse --margin 10 on these cases"),
        (("--gate", "better", "--gate-scope", "new", "--runs", "5"), "cannot meet --gate better for new cases"),
    ],
)
def test_a_gate_that_cannot_be_answered_is_told_before_anything_is_paid(
    four: Scripted, words: tuple[str, ...], told: str
) -> None:
    """By a dry run and by the run itself."""
    done = four.evaluate(FOUR_ALL, FOUR_NONE, "--dry-run", *words, code=0)
    assert told in done.stderr
    assert four.sessions() == []
    checked = four.program("validate", "s", *words)
    assert (checked.code, told in checked.stderr) == (0, True)
    assert "warning[gate.unanswerable]" in checked.stderr
    assert four.program("validate", "s", *words, "--strict").code == 2
    assert "gate.unanswerable" not in four.program("validate", "s", "--gate", "better", "--runs", "7").stderr


@pytest.mark.slow
def test_a_baseline_that_the_same_results_would_not_meet(four: Scripted) -> None:
    """One run of each case excludes hardly any loss."""
    kept(four, dict.fromkeys("1234", "p"), dict.fromkeys("1234", "f"))
    words = ("--dry-run", "--gate", "not-worse", "--margin", "10", "--against", "main", *EARLIER)
    done = four.evaluate(FOUR_ALL, FOUR_NONE, *words, code=0)
    assert "the same results again would not meet the gate: " in done.stderr
    assert "too few runs for a gate: " in four.run_plain("baseline", "save", "main", "--force").verdict
    four.evaluate(dict.fromkeys("1234", "p"), dict.fromkeys("1234", "f"), "--runs", "2")
    saved = four.run_plain("baseline", "save", "main", "--force")
    proposed = "compare with: skillgauge eval --gate no-regression --against main"
    assert proposed in saved.verdict
    gate = ("--gate", "no-regression", "--against", "main", "--runs", "2")
    again = four.evaluate(dict.fromkeys("1234", "p"), dict.fromkeys("1234", "f"), *gate)
    assert again.stdout.startswith("gate met: s · with_skill is not shown to be worse than main on these cases (pass ")
    lost = four.evaluate(dict.fromkeys("1234", "f"), dict.fromkeys("1234", "f"), *gate, code=1)
    assert lost.verdict.startswith("gate missed: s · with_skill is worse than main on these cases (pass rate -100.0 ")
    alone = four.evaluate(FOUR_ALL, FOUR_NONE, "--gate", "no-regression", code=2)
    assert "--gate no-regression needs --against" in alone.stderr


@pytest.mark.slow
def test_the_gate_and_the_comparison_of_reports_agree(twelve: Scripted) -> None:
    """The arm with the skill fell by as much as the one without it: the lift stayed, and neither blames the skill."""
    kept(twelve, ALL, HALF)
    words = ("--against", "main", "--gate", "not-worse", "--margin", "10", *EARLIER)
    done = twelve.evaluate(HALF, NONE, *words, code=3)
    assert "may or may not be worse than main by more than 10 points on these cases" in done.stderr
    assert "; the model changed: without the skill -50.0 points" in done.stderr
    compared = twelve.program("report", "diff", "baselines/main.record.json", "latest", "--fail-on-regression")
    assert compared.code == 0
