"""The noise of a suite: the same arm twice, and what stored runs say of cases in which nothing changed."""

from __future__ import annotations

import json

import pytest

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


@pytest.mark.slow
def test_the_same_arm_twice(scripted: Scripted) -> None:
    """Both arms have the skill, no session is taken over from the other, and what differs is chance."""
    scripted.script(letters("pf"), letters("f"))
    outcomes = json.loads((scripted.work / "outcomes.json").read_text())
    outcomes["with_skill-again"] = letters("p", case_2="fp")
    (scripted.work / "outcomes.json").write_text(json.dumps(outcomes))
    done = scripted.run("eval", "s", "--engine", "scripted", "--same", "--runs", "2", "--format", "record")
    assert len(scripted.sessions()) == 16
    assert not [session for session in scripted.sessions() if session.startswith("without_skill")]
    differs = "s · with_skill, compared with itself, differs by noise alone: -37.5 points against with_skill-again"
    assert differs in done.verdict
    assert "two sessions of the same case and arm disagree in 62.5% (95% interval " in done.verdict
    plan = scripted.run("eval", "s", "--engine", "scripted", "--same", "--dry-run").stdout
    assert "s, with_skill-again: skill s is installed" in plan


@pytest.mark.slow
def test_chance_between_equal_arms_is_no_finding(scripted: Scripted) -> None:
    """A difference beyond chance between an arm and itself is not called help."""
    scripted.script(letters("p"), {})
    outcomes = json.loads((scripted.work / "outcomes.json").read_text())
    outcomes["with_skill-again"] = letters("f")
    (scripted.work / "outcomes.json").write_text(json.dumps(outcomes))
    done = scripted.run("eval", "s", "--engine", "scripted", "--same", "--runs", "3", "--format", "markdown", "html")
    pages = [page.read_text() for page in (scripted.work / "reports").iterdir() if page.suffix in (".md", ".html")]
    assert pages
    for surface in (done.verdict, *pages):
        assert "compared with itself, differs by noise alone: +100.0 points" in surface
        assert " helps" not in surface.split("differs by noise alone")[0]


@pytest.mark.slow
def test_noise_stands_beside_a_verdict(scripted: Scripted) -> None:
    """Where sessions of a case disagree, the verdict says how often; where they never do, it says nothing."""
    steady = scripted.evaluate(letters("p"), letters("f"), "--runs", "2")
    assert "disagree" not in steady.verdict
    noisy = scripted.evaluate(letters("p", case_2="pf"), letters("f"), "--runs", "2", "--fresh")
    assert "two sessions of the same case and arm disagree in 12.5% (95% interval " in noisy.verdict


@pytest.mark.slow
def test_the_same_arm_needs_an_arm(scripted: Scripted) -> None:
    """A set of queries compares nothing."""
    scripted.write_queries(2, 2)
    scripted.script({}, {})
    done = scripted.run("eval", "s", "--engine", "firing", "--same", code=2)
    assert "--same compares an arm with itself, and no suite here compares arms" in done.stderr
    assert scripted.sessions() == []


@pytest.mark.slow
def test_how_often_verdicts_flip_when_nothing_changed(scripted: Scripted) -> None:
    """Repeats, runs and both arms of `--same` count together, per suite and engine, with an interval over cases."""
    scripted.evaluate(letters("p", case_1="pf"), letters("f"), "--runs", "2")
    scripted.evaluate(letters("p", case_2="f"), letters("f"), "--runs", "2", "--fresh")
    document = scripted.program("history", "noise", "--json").document
    (with_skill, without) = sorted(document["noise"], key=lambda row: row["arm"])
    assert (with_skill["suite"], with_skill["runner"], with_skill["cases"]) == ("s", "scripted", 4)
    assert (with_skill["sessions"], without["sessions"]) == (16, 16)
    assert with_skill["flip_rate"]["rate"] == pytest.approx((1 / 2 + 2 / 3) / 4)
    assert without["flip_rate"]["rate"] == 0.0
    rate = with_skill["flip_rate"]
    assert rate["lower"] < rate["rate"] < rate["upper"]
    told = scripted.program("history", "noise")
    assert "s · with_skill · scripted: two runs of a case disagree in 29.2%" in told.stdout
    assert "n = 4 cases" in told.stdout


@pytest.mark.slow
def test_a_change_is_no_noise(scripted: Scripted) -> None:
    """A skill or a case that was edited in between begins anew."""
    scripted.evaluate(letters("p"), letters("f"))
    skill = scripted.work / "s/SKILL.md"
    skill.write_text(skill.read_text() + "Be polite.\n")
    scripted.evaluate(letters("f"), letters("f"))
    rows = {row["arm"]: row for row in scripted.program("history", "noise", "--json").document["noise"]}
    assert "with_skill" not in rows, "no case of it ran twice"
    assert rows["without_skill"]["sessions"] == 8


def test_nothing_was_repeated(scripted: Scripted) -> None:
    """It says what would tell."""
    scripted.evaluate(letters("p"), letters("f"))
    done = scripted.program("history", "noise")
    assert done.code == 0
    assert "no case ran twice unchanged in 1 run; evaluate with --runs 2 or more, or with --same" in done.verdict


@pytest.mark.slow
def test_runs_of_one_repeat_are_joined(scripted: Scripted) -> None:
    """A nightly job runs each case once; a case that wavers shows over the nights (R3-F3)."""
    for night in "pfp":
        scripted.evaluate(letters("p", case_3=night), letters("f"), "--fresh")
    flaky = scripted.program("history", "flaky", "--json").document["cases"]
    assert [(case["case"], case["arm"], case["runs"], case["passed"]) for case in flaky] == [("3", "with_skill", 3, 2)]
