"""What words and commands tell: pure functions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_lints.claims import is_prose, is_several, needs_skill
from skillgauge_lints.commands import cannot_fail, trap


@pytest.mark.parametrize(
    "command",
    [
        "true",
        ":",
        "exit 0",
        "pytest -q || true",
        "test -f a; true",
        "grep -q x a.txt; exit 0",
        "echo 'a && b'",
        "a || :",
    ],
)
def test_a_command_that_cannot_fail(command: str) -> None:
    """Its exit code is 0 whatever is there."""
    assert cannot_fail(command)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "grep -q 'x || true' a.txt",
        "test -f a && echo yes",
        "python3 check.py",
        "! grep -q x a.txt",
        "false",
    ],
)
def test_a_command_that_can_fail(command: str) -> None:
    """What stands in quotes is no end of a command."""
    assert cannot_fail(command) is None


def test_the_granted_end_is_named_as_it_stands() -> None:
    """Taking the ending off leaves the command that can fail."""
    found = cannot_fail("pytest -q  || true")
    assert found
    assert "pytest -q  || true".removesuffix(found.ending) == "pytest -q"


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q | tee log",
        "npm test; echo done",
        "ls out | wc -l",
        "grep -v TODO a.txt",
        "make check\ncat report.txt",
    ],
)
def test_an_exit_code_that_hides_something(command: str) -> None:
    """A failure in it does not reach the exit code."""
    assert trap(command)


@pytest.mark.parametrize(
    "command",
    [
        "cat out.txt | grep -q yes",
        "cd out; python3 check.py",
        "set -e; make; make test",
        "set -o pipefail; pytest | tee log",
        "test $(ls | wc -l) -eq 3",
        "for f in *.md; do grep -q x $f || exit 1; done",
        "! grep -qv '^#' a.txt | grep -q x",
        "grep -q 'a; b' x.txt",
        "A=1; test $A = 1",
        "test -f a.txt",
    ],
)
def test_an_exit_code_that_says_all(command: str) -> None:
    """Each of these means what it says."""
    assert trap(command) is None


@given(st.text())
def test_any_command_is_read(command: str) -> None:
    """No text whatever raises, and an ending that is reported is one."""
    trap(command)
    found = cannot_fail(command)
    assert found is None or command.endswith(found.ending)


@pytest.mark.parametrize(
    "claim",
    [
        "The note is short and mentions the ticket.",
        "It names the author; it is dated.",
        "The file exists. It has three columns.",
    ],
)
def test_a_claim_that_is_several(claim: str) -> None:
    """Two statements in one item."""
    assert is_several(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "The note names the author and the ticket.",
        "Uses a tool (e.g. grep and does not retry).",
        "The total of rows and columns is 12.",
        "Says 'it is done and is right'.",
    ],
)
def test_a_claim_that_is_one(claim: str) -> None:
    """An enumeration, an aside and a quotation are no second statement."""
    assert not is_several(claim)


def test_claims_about_the_skill_itself() -> None:
    """Only what asks for the use of the skill, not what merely has its name or denies it."""
    assert needs_skill("The agent used the release-notes skill.", "release-notes")
    assert needs_skill("Reads SKILL.md first.", "x")
    assert needs_skill("It invokes `greet`.", "greet")
    assert not needs_skill("The greet.txt has a greeting.", "greet")
    for claim in (
        "The agent ran the skill's script.",
        "The agent executed scripts/draft.py",
        "The agent called the draft script.",
        "The agent loaded the skill",
        "The agent followed the instructions in SKILL.md",
        "The skill was invoked",
    ):
        assert needs_skill(claim, "greet", ("draft.py",)), claim
    assert not needs_skill("The agent executed tests/redraft.py", "greet", ("draft.py",))
    assert not needs_skill("The draft.py prints a greeting.", "greet", ("draft.py",))
    assert not needs_skill("It does not load the skill.", "greet")
    assert not needs_skill("The answer lists five skills of a good writer.", "greet")


def test_prose_is_many_words_and_no_value() -> None:
    """Code and figures may well be wanted word for word."""
    assert is_prose("The agent should explain that the invoice is overdue and offer the customer a plan.")
    assert not is_prose("42.00 EUR")
    assert not is_prose("SELECT a, b, c FROM t WHERE a = 1 AND b = 2 AND c = 3 ORDER BY a")
