"""Nothing of a case gets lost in silence, whatever fields cases have."""

from __future__ import annotations

import pytest

from skillgauge.api import Case, Check, FileSpec, SimulatedUser, Suite, SuiteDefaults, VerdictMode, VerdictRule
from skillgauge_command_convert.differences import unnamed_losses

FACTS = sorted(set(Case.model_fields) - {"checks", "extras", "origin"})
"""All but what is compared part by part, and where a case was written."""
BEFORE = Case(id="one", prompt="Count.", input=1)
FILES = (FileSpec(path="a.txt", text="a"),)


@pytest.mark.parametrize("fact", FACTS)
def test_each_fact_that_a_case_loses_is_told(fact: str) -> None:
    """A field that comes to cases later is compared without anybody listing it."""
    lost = FILES if fact.endswith("files") else "something"
    case = BEFORE.model_copy(update={fact: lost})
    suites = (Suite.model_construct(id="s", root="/", cases=(one,)) for one in (case, BEFORE))
    told = [loss.message for loss in unnamed_losses(*suites, named=[])]
    assert len(told) == 1
    assert fact.replace("_", " ") in told[0]


def losses(before: Suite, after: Suite) -> list[str]:
    """The messages about a suite and what became of it."""
    return [loss.message for loss in unnamed_losses(before, after, named=[])]


def about(case: Case, runs: int | None = None) -> Suite:
    """A suite of one case."""
    return Suite(id="s", format="f", root="/", cases=(case,), defaults=SuiteDefaults(runs=runs))


def test_repeats_are_compared_as_they_take_effect() -> None:
    """A case's own number is no other than the same one of its suite."""
    own = BEFORE.model_copy(update={"runs": 3})
    assert losses(about(own), about(BEFORE, runs=3)) == []
    assert losses(about(own), about(BEFORE, runs=2)) == ["case 'one': runs: 3 becomes 2"]
    assert losses(about(own), about(BEFORE)) == ["case 'one': runs: 3 becomes null"]


def test_a_simulated_user_is_the_part_that_is_played() -> None:
    """The name of the check behind a user says nothing; the instructions and the number of turns do."""

    def played(name: str, text: str, turns: int = 3) -> Suite:
        check = Check(id=name, scorer="simulated-user", options={"instructions": text})
        return about(BEFORE.model_copy(update={"user": SimulatedUser(check=check, turns=turns)}))

    ann = played("user", "You are Ann.")
    assert losses(ann, played("responder", "You are Ann.")) == []
    assert len(losses(ann, played("user", "You are Ben."))) == 1
    assert len(losses(ann, played("user", "You are Ann.", turns=4))) == 1


@pytest.mark.parametrize(
    ("turn", "mode", "is_lost"),
    [(None, VerdictMode.ALL, False), (None, VerdictMode.MEAN, True), (0, VerdictMode.ALL, True)],
)
def test_a_check_that_is_no_longer_required_is_told(turn: int | None, mode: VerdictMode, is_lost: bool) -> None:
    """Being required adds nothing but the end of a conversation, if all checks have to pass anyway."""
    check = Check(id="c", scorer="exact", options={"value": 1}, turn=turn, required=True)
    case = BEFORE.model_copy(update={"checks": (check,), "turns": ("And then?",), "rule": VerdictRule(mode=mode)})
    plain = case.model_copy(update={"checks": (check.model_copy(update={"required": False}),)})
    expected = ["case 'one': check 'c': required: true becomes false"] if is_lost else []
    assert losses(about(case), about(plain)) == expected
