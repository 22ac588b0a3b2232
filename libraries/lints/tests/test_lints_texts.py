"""What words and commands tell: pure functions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_lints.claims import is_prose, is_several
from skillgauge_lints.commands import cannot_fail, trap
from skillgauge_lints.own_skill import OwnSkill, Patterns

GREET = OwnSkill("greet", ("SKILL.md", "README.md", "scripts/draft.py", "scripts/send_email.sh", "references/style.md"))


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


@pytest.mark.parametrize(
    "claim",
    [
        "The agent ran the skill's script.",
        "The agent executed scripts/draft.py",
        "The agent called the draft script.",
        "The agent called the send email script and got an answer",
        "The agent ran `python3 scripts/draft.py --all` without errors.",
        "scripts/draft.py was executed before the answer was given",
        "draft.py is run first.",
        "The skill's script was called.",
        "It has used a script that comes with the skill.",
        "The agent loaded the skill",
        "The agent starts by loading the `greet` skill.",
        "The agent followed the instructions in SKILL.md",
        "The agent read .claude/skills/greet/SKILL.md",
        "Reads SKILL.md first.",
        "SKILL.md was read, then followed",
        "The skill was invoked",
        "The skill has been successfully activated.",
        "The skill fires.",
        "The greet skill triggered",
        "It invokes `greet`.",
        "Invoked greet to write the letter",
        "The agent consulted references/style.md",
        "The tone follows style.md",
        "references/style.md is cited.",
        "It does not guess, but reads SKILL.md.",
    ],
)
def test_claims_about_the_skill_itself(claim: str) -> None:
    """R3-M4: verbs are known in their tenses, and the files of the skill by their names."""
    assert GREET.is_needed(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "The greet.txt has a greeting.",
        "The agent executed tests/redraft.py",
        "The draft.py prints a greeting.",
        "It does not load the skill.",
        "The agent never ran scripts/draft.py.",
        "The answer was written without reading SKILL.md.",
        "The agent didn't open references/style.md",
        "The answer lists five skills of a good writer.",
        "The agent read README.md.",
        "The agent opens greet and prints it",
        "The agent created a SKILL.md with a name and a description.",
        "The agent reads the notes and writes a SKILL.md.",
        "The agent reads the notes. SKILL.md has a name.",
        "The style of the letter is that of a friend.",
    ],
)
def test_claims_about_the_result(claim: str) -> None:
    """What denies the use of the skill, or merely has words of it, can be met by any agent."""
    assert not GREET.is_needed(claim)


def test_names_that_are_words_and_files_that_all_agents_get() -> None:
    """A skill may be called as what its answers are made of, and a file of a case may be called as one of a skill."""
    tables = OwnSkill("tables")
    assert not tables.is_needed("The answer uses tables for figures.")
    assert tables.is_needed("The agent used the tables skill.")
    assert OwnSkill("pdf-forms").is_needed("The agent used pdf-forms to fill the form.")
    assert not GREET.is_needed("The agent read style.md.", ("style.md",))
    assert not GREET.is_needed("The agent read SKILL.md.", ("SKILL.md",))


def test_patterns_are_compiled_for_a_claim_with_their_word() -> None:
    """A suite whose claims name no skill pays for none of the patterns."""
    patterns = Patterns("skill", (r"\bthe skill\b", r"\bskill ran\b"))
    assert not list(patterns.matches("The box has a label."))
    assert "compiled" not in vars(patterns)
    assert [match[0] for match in patterns.matches("The SKILL ran.")] == ["The SKILL", "SKILL ran"]
    assert "compiled" in vars(patterns)


@given(st.text())
def test_any_claim_is_read(claim: str) -> None:
    """No text whatever raises, nor does any name of a file."""
    OwnSkill(claim, (f"scripts/{claim}", claim)).is_needed(claim, (claim,))


def test_prose_is_many_words_and_no_value() -> None:
    """Code and figures may well be wanted word for word."""
    assert is_prose("The agent should explain that the invoice is overdue and offer the customer a plan.")
    assert not is_prose("42.00 EUR")
    assert not is_prose("SELECT a, b, c FROM t WHERE a = 1 AND b = 2 AND c = 3 ORDER BY a")
