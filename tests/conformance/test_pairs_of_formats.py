"""For every pair of formats: a suite of what both hold comes back equal, and nothing else is lost in silence.

A format may add something to every case that it reads: a check, or its own rule. What both hold then is the suite as
the first format reads it. What the second one adds is reported as new, and what it cannot hold of the first one's
addition as lost; all else is equal there and after the way back.
"""

from __future__ import annotations

import itertools
import re
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from skillgauge.api import Case, Check, SkillRole, Suite
from skillgauge.api.run import Invocation, invocation
from skillgauge.config.global_options import Globals
from skillgauge_command_convert.converting import Converted, convert
from skillgauge_testkit.program import Program

from .conversions import CALCULATOR, DIRECT, converted, meanings, passes, suite_about, typed_check
from .drawn_suites import Drawn, draw
from .kinds_of_checks import HELD, KINDS
from .parts_of_cases import ABOUT_ALL, ABOUT_TURN, HELD_PARTS, HELD_RULES, PARTS, RULES, TALKS, WORDS, page, value

DIALECTS = Path(__file__).parents[2] / "docs/dialects.md"
SUITES = 3 * settings().max_examples
"""60 in the fast suite, 300 in the slow one."""
PAIRS = tuple(itertools.product(sorted(HELD), repeat=2))
EACH = -(-SUITES // len(PAIRS))
"""Suites of a pair. A fast run has one of every third pair, so that each format is first and second."""
CHOSEN = PAIRS if len(PAIRS) <= SUITES else PAIRS[:: len(PAIRS) // SUITES + 1]
ADDED = {"benchflow": {("trigger", True)}, "uaaps": {("rubric", False)}}
"""By format the scorers of the checks that it adds to every case, and whether they stand beside the verdict."""


@pytest.fixture(scope="module")
def call() -> Invocation:
    """The command line's view of what is installed, made once: it does not change."""
    return invocation(Globals())


def test_the_page_shows_the_parts() -> None:
    """The page says of conversions exactly what is tested here."""
    text = DIALECTS.read_text(encoding="utf-8")
    start, end = "<!-- parts: written by tests/conformance/parts_of_cases.py -->", "<!-- end of parts -->"
    assert text.partition(start)[2].partition(end)[0].strip() == page()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HELD))
def test_parts_that_each_format_holds(name: str, call: Invocation, tmp_path: Path) -> None:
    """Each part of a case comes back as it was where the table says so; of every other part a loss is reported."""
    check = typed_check("check", _plain_kind(name), ("Ab", "c d"))
    turn = {"turn": 0} if name in ABOUT_TURN and name not in ABOUT_ALL else {}
    for part in PARTS:
        own = check.model_copy(update=turn) if part in TALKS else check
        cases = tuple(_case(name, number, own).model_copy(update=PARTS[part](Random(1), number)) for number in range(2))
        suite = suite_about(name, tmp_path, cases)
        made = convert(call, suite, name, call.suite_format(name))
        is_held = not made.refusals and _holds(part, suite, converted(call, suite, name, tmp_path / part)[1])
        losses = [one.message for one in made.losses if _speaks_of(one.message, part)]
        assert is_held is (part in HELD_PARTS[name]), f"{part} in {name}: {losses or 'nothing is reported'}"
        assert is_held is not bool(losses), f"{part} in {name}: {losses or 'nothing is reported'}"


@pytest.mark.parametrize("name", sorted(HELD))
def test_rules_that_each_format_holds(name: str, call: Invocation, tmp_path: Path) -> None:
    """Each rule comes back as it was where the table says so; of every other a loss is reported."""
    check = typed_check("check", _plain_kind(name), ("Ab", "c d"))
    for rule in RULES:
        case = _case(name, 0, check).model_copy(update={"rule": RULES[rule]})
        made, read = converted(call, suite_about(name, tmp_path, (case,)), name, tmp_path / rule)
        is_held = passes(next(iter(read.cases)).rule) == RULES[rule]
        assert is_held is (rule in HELD_RULES[name]), f"{rule} in {name}"
        assert is_held or any("rule" in loss.message for loss in made.losses), f"{rule} in {name}"


@pytest.mark.parametrize("name", sorted(HELD.keys() - {DIRECT}))
def test_a_direct_call_and_a_question_have_nothing_in_common(
    name: str, call: Invocation, program: Program, work: Path
) -> None:
    """`convert` says so in both directions, with each case: exit 2, and nothing is written."""
    check = typed_check("check", _plain_kind(name), ("Ab", "c d"))
    made, _ = converted(call, suite_about(name, work, (_case(name, 0, check),)), name, work / "asked")
    assert made.files
    for source, of, to in ((work / "asked/greet", name, DIRECT), (CALCULATOR, DIRECT, name)):
        done = program("convert", source, "--suite-format", of, "--to", to, "-o", "there")
        assert done.code == 2, done.stderr
        reason = "no SKILL.md" if to == "agent-skills" else f"cannot be written as {to!r}"  # it would ask the input
        assert reason in done.stderr
        assert not (work / "there").exists()


@pytest.mark.parametrize("pair", CHOSEN, ids="-to-".join)
@settings(
    max_examples=EACH,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # suites are small as they are
)
@given(seed=st.integers(0, 2**32))
def test_pairs_of_formats(pair: tuple[str, str], seed: int, call: Invocation) -> None:
    """There and back nothing changes that both formats hold, and every other change is reported."""
    first, second = pair
    drawn = draw(Random(f"{first} {second} {seed}"), first, second)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        suite = suite_about(first, folder, drawn.cases)
        _, own = converted(call, suite, first, folder / "own")
        _assert_equal(call, drawn, (suite, own), (first, first))
        if not drawn.has_kinds:
            _assert_told(call, own, second, folder / "there")
            return
        there, read = converted(call, own, second, folder / "there")
        _assert_equal(call, drawn, (own, read), pair, there)
        again, back = converted(call, read, first, folder / "back")
        _assert_equal(call, drawn, (own, back), (first, first), again, passed=second)


def _assert_equal(
    call: Invocation,
    drawn: Drawn,
    suites: tuple[Suite, Suite],
    pair: tuple[str, str],
    made: Converted | None = None,
    passed: str = "",
) -> None:
    """Check that all is equal of two suites but what formats add, which is reported.

    Args:
        call: the command line.
        drawn: the cases from which the first suite was made.
        suites: a suite, and the same after its conversion.
        pair: their formats.
        made: the conversion, which reports losses; `None`: the first one, after which a suite is as its format has it.
        passed: the format in between that may have added something, too.
    """
    way, messages = f"{pair} {passed}", [one.message for one in made.losses] if made else []
    first, second = ({_question(case): case for case in suite.cases} for suite in suites)
    assert first.keys() == second.keys(), way
    assert _candidates(suites[0]) == _candidates(suites[1]), way
    for question, before in first.items():
        after = second[question]
        was, now = (Counter(meanings(call, case.checks)) for case in (before, after))
        gone = [check for check in before.checks if meanings(call, [check])[0] in was - now]
        new = [check for check in after.checks if meanings(call, [check])[0] in now - was]
        assert all((one.scorer, one.beside) in ADDED.get(pair[0], ()) for one in gone), (way, gone, messages)
        adding = ADDED.get(pair[1], set()) | ADDED.get(passed, set())
        assert all((one.scorer, one.beside) in adding for one in new), (way, new, messages)
        for check in (*gone, *new) if made and not passed else gone:
            assert any(f"check {check.id!r}" in message for message in messages), (way, check.id, messages)
        adding |= ADDED.get(pair[0], set())
        kept = {check.id for check in before.checks if (check.scorer, check.beside) not in adding}
        assert not [one for one in messages if any(f"check {name!r}" in one for name in kept)], (way, messages)
        if drawn.has_rule or made is None:
            assert passes(before.rule) == passes(after.rule), way
        else:
            assert passes(before.rule) == passes(after.rule) or any("rule" in one for one in messages), way
        for part in drawn.parts:
            assert value(part, before, suites[0]) == value(part, after, suites[1]), (way, part)
            about = [one for one in messages if _speaks_of(one, part)]
            assert not about, (way, part, about)


def _assert_told(call: Invocation, own: Suite, name: str, folder: Path) -> None:
    """Check that each check that another format does not hold is named, or its case if nothing of it remains."""
    made = convert(call, own, name, call.suite_format(name))
    messages = [one.message for one in (*made.losses, *made.refusals)]
    if made.refusals:
        assert all(any(f"case {case.id!r}" in message for message in messages) for case in own.cases), messages
        return
    _, read = converted(call, own, name, folder)
    after = {_question(case): meanings(call, case.checks) for case in read.cases}
    for case in own.cases:
        remaining = after.get(_question(case))
        if remaining is None:
            assert any(f"case {case.id!r} is left out" in message for message in messages), messages
            continue
        lost = [check.id for check in case.checks if meanings(call, [check])[0] not in remaining]
        assert all(any(f"check {one!r}" in message for message in messages) for one in lost), (lost, messages)


def _candidates(suite: Suite) -> set[str]:
    """Return the names of the skills that are under test."""
    return {skill.name for arm in suite.arms for skill in arm.skills if skill.role is SkillRole.CANDIDATE}


def _question(case: Case) -> str:
    return str(case.prompt or case.input)


def _plain_kind(name: str) -> str:
    """Return a kind of check that a format holds, and that is no judged one if it can be helped."""
    return min(HELD[name], key=lambda kind: (KINDS[kind](("a", "b"))[0] == "rubric", kind))


def _case(name: str, number: int, check: Check) -> Case:
    asks = {"input": {"number": number}} if name == DIRECT else {"prompt": f"Say hello {number}."}
    return Case(id=f"case-{number}", checks=(check,), **asks)


def _holds(part: str, before: Suite, after: Suite) -> bool:
    by_id = {case.id: case for case in after.cases}
    return all(value(part, case, before) == value(part, by_id[case.id], after) for case in before.cases)


def _speaks_of(message: str, part: str) -> bool:
    """Tell whether a loss of a case is about a part of it."""
    of_case = re.match(r"(case '[^']*'|every case)(?: is left out)?: (?!check |extra )(.*)", message)
    return of_case is not None and re.search(rf"\b({WORDS.get(part, part)})", of_case[2]) is not None
