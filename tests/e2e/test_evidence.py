"""What a comparison says: of these cases and of new ones, of many comparisons, and of what stands beside a lift."""

from __future__ import annotations

import json

import pytest

from .conftest import Letters, Scripted, letters

pytestmark = pytest.mark.e2e


def cases(count: int, letter: str) -> Letters:
    """The same for so many cases."""
    return {str(number): letter for number in range(1, count + 1)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("letter", "reason"),
    [
        ("p", "every case always passes in both arms; harder ones could show one"),
        ("f", "no case ever passes in either arm: they are too hard, or broken"),
    ],
)
def test_a_suite_without_room_is_not_short_of_data(scripted: Scripted, letter: str, reason: str) -> None:
    """Full marks on both sides, or none: more runs would be paid for in vain."""
    done = scripted.evaluate(letters(letter), letters(letter), "--runs", "3")
    assert "s · with_skill: no room for a difference: +0.0 points against without_skill" in done.verdict
    assert reason in done.verdict
    assert "not enough data" not in done.verdict


@pytest.mark.slow
def test_intervals_say_which_cases_they_are_for(scripted: Scripted) -> None:
    """In the sentence, in Markdown, in the table for spreadsheets, and in the record."""
    scripted.write(cases=10)
    words = ("--runs", "3", "--format", "record", "markdown", "csv", "--output-dir", "out")
    done = scripted.evaluate(cases(10, "p"), {**cases(10, "f"), "1": "p"}, *words)
    here, new = "95% interval +75.8 to +93.0", "95% interval +45.6 to +100.0"
    assert f"(n = 10 cases; these cases: {here}, p < 0.001; new cases: {new}, p = 0.004)" in done.verdict
    (markdown,) = (scripted.work / "out").glob("eval-result.md")
    table = markdown.read_text()
    assert "Interval, these cases | Chance, these cases | Interval, new cases | Chance, new cases" in table
    assert f"| {here} | p < 0.001 | {new} | p = 0.004 |" in table
    (spreadsheet,) = (scripted.work / "out").glob("eval-result.csv")
    heads, row = (line.split(",") for line in spreadsheet.read_text().splitlines()[:2])
    shown = dict(zip(heads, row, strict=True))
    names = ("liftLowerTheseCases", "liftUpperTheseCases", "liftLowerNewCases", "liftUpperNewCases")
    assert [shown[name] for name in names] == ["0.7578", "0.9297", "0.4556", "1.0000"]
    (record,) = (scripted.work / "out").glob("run-*.record.json")
    (pair,) = json.loads(record.read_text())["summary"]["pairs"]
    assert pair["evidence"]["interval_here"]["method"] == "agresti-caffo"


@pytest.mark.slow
def test_errors_are_told_with_the_lift_and_with_the_gate(scripted: Scripted) -> None:
    """The bounds are over all cases, so that the lift of the complete pairs may lie outside; points, not percent."""
    scripted.write(cases=6)
    with_skill = {**cases(6, "p"), "6": "e"}
    done = scripted.evaluate(with_skill, cases(6, "f"), "--runs", "3", "--min-delta-pts", "90", code=3)
    assert "gate inconclusive: errors leave open whether the lift is below +90.0 points: " in done.verdict
    assert "dropped: 1 for candidate error; these cases: " in done.verdict
    assert "over all cases, errors counted either way: +83.3 to +100.0 points" in done.verdict
    done = scripted.evaluate({**cases(6, "f"), "6": "e"}, cases(6, "f"), "--runs", "3", "--min-delta-pts", "45", code=1)
    assert "gate missed: lift below +45.0 points: s · with_skill +0.0 points" in done.verdict
    assert "(+0.0 points to +16.7 points with errors counted either way)" in done.verdict


@pytest.mark.slow
def test_a_least_lift_has_to_be_shown(scripted: Scripted) -> None:
    """Four of four against none, once each, may be chance: one time in eight."""
    done = scripted.evaluate(letters("p"), letters("f"), "--min-delta-pts", "50", code=3)
    assert "gate inconclusive: s · with_skill: +100.0 points may be chance on these cases (p = 0.125)" in done.verdict
    scripted.evaluate(letters("p"), letters("f"), "--min-delta-pts", "50", "--runs", "3", "--fresh", code=0)


def test_a_least_lift_of_zero_is_a_gate(scripted: Scripted) -> None:
    """A skill that only harms misses it; 0 is no missing number."""
    done = scripted.evaluate(letters("f"), letters("p"), "--min-delta-pts", "0", code=1)
    assert "gate missed: lift below +0.0 points" in done.verdict
    scripted.evaluate(letters("p"), letters("p"), "--min-delta-pts", "0", "--fresh", code=0)


@pytest.mark.slow
def test_comparisons_of_one_run_share_the_level(scripted: Scripted) -> None:
    """What is beyond chance for one model alone may not be so for one of three."""
    with_skill, without = letters("ppf"), letters("ffp")
    alone = scripted.evaluate({**with_skill, "1": "ppp", "2": "ppp"}, {**without, "1": "fff"}, "--runs", "3")
    assert "helps on these cases" in alone.verdict
    scripted.script(with_skill, without)
    run = ("eval", "s", "--engine", "scripted", "--runs", "3", "--format", "record", "--model")
    three = scripted.run(*run, "a", "--model", "b", "--model", "c", "--output-dir", "three")
    assert three.code == 0
    (record,) = (scripted.work / "three").glob("run-*.record.json")
    evidence = [pair["evidence"] for pair in json.loads(record.read_text())["summary"]["pairs"]]
    assert {each["comparisons"] for each in evidence} == {3}
    assert all(each["level"] < 0.05 for each in evidence)


@pytest.mark.slow
def test_sessions_in_which_the_skill_fired_stand_apart(scripted: Scripted) -> None:
    """Beside the lift of the arm, which is what installing the skill does; whether it fires was not drawn by lot."""
    scripted.script(letters("p", case_3="f", case_4="f"), letters("p", case_2="f", case_4="f"))
    done = scripted.run("eval", "s", "--engine", "firing", "--format", "record")
    fired = "+50.0 points, 1.00 times the tokens, 1.00 times the cost"
    split = f"(where it did: {fired}; where not: -50.0 points; not randomised)"
    assert f"a skill fired in 2 of 4 sessions {split}" in done.verdict
    scripted.script(letters("p"), letters("f"))
    assert "skill fired" not in scripted.run("eval", "s", "--engine", "firing", "--fresh").verdict


def test_the_level_is_kept_where_a_mid_p_value_would_not(scripted: Scripted) -> None:
    """Seven of eight cases won is p = 0.070, and no finding; half the chance of a tie taken off would make it one."""
    scripted.write(cases=8)
    done = scripted.evaluate({**cases(8, "p"), "8": "f"}, {**cases(8, "f"), "8": "p"})
    assert "s · with_skill: not enough data: +75.0 points against without_skill" in done.verdict
    assert "p = 0.070" in done.verdict
