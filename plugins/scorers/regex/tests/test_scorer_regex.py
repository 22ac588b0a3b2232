"""Patterns in a text, as eval-skills has it, but for faults that it takes for answers."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import (
    DIRECT,
    Case,
    Check,
    EventKind,
    Execution,
    FileChange,
    FileSpec,
    SandboxSpec,
    Score,
    ScoreContext,
    ScoreStatus,
    Trajectory,
    TrajectoryEvent,
)
from skillgauge_scorer_regex.options import RegexOptions
from skillgauge_scorer_regex.scorer import RegexScorer
from skillgauge_testkit import TemporarySandbox, score_context

BACKTRACKS = "^(a|aa)+$"
"""Takes for ever on `HARD`."""
HARD = "a" * 60 + "b"


def context(output: Any = None, *, text: str | None = None) -> ScoreContext:
    """What a scorer is shown."""
    check = Check(id="c", scorer="regex")
    return ScoreContext(check=check, case=Case(id="c"), execution=Execution(output=output, text=text), arm=DIRECT)


def scorer(patterns: list[str], **options: Any) -> RegexScorer:
    """The scorer of a check."""
    return RegexScorer(RegexOptions.model_validate({"patterns": patterns, **options}))


def score(patterns: list[str], output: Any = None, *, text: str | None = None, **options: Any) -> Score:
    """The score of an output or an agent's text."""
    return asyncio.run(scorer(patterns, **options).score(context(output, text=text)))


@pytest.mark.parametrize(
    ("patterns", "output"),
    [
        (["P.ris"], "in Paris"),
        (["^a$"], "a"),
        ([r"\d+", "b"], "b 12"),
        (['^{"result":"x"}$'], {"result": "x"}),
        (["日本$"], "日本"),
        (['"日本"'], {"result": "日本"}),
        ([":25,"], {"a": 25, "b": (1.0, 2.5)}),
        (["^$"], None),
        (["^true$"], True),
        (["(?m)^b$"], "a\nb"),
        (["(?<year>[0-9]{4})-(?P=year)"], "2024-2024"),
        ([r"^\p{Lu}"], "Éa"),
        ([""], ""),
    ],
)
def test_found(patterns: list[str], output: object) -> None:
    """Text is searched as it is, anything else as compact JSON; JavaScript's named groups and classes are known."""
    found = score(patterns, output)
    assert (found.status, found.value) == (ScoreStatus.PASSED, 1)


def test_partial_credit() -> None:
    """The value is the share of patterns found; only all of them pass."""
    found = score(["red", "gr..n", "blue$"], "red green")
    assert found.status is ScoreStatus.FAILED
    assert found.value == pytest.approx(2 / 3)
    assert found.reason == 'Patterns not found: "blue$" (2/3 matched), got "red green"'
    assert found.evidence == {"missing": ("blue$",), "matched": 2, "total": 3}


def test_case_counts_unless_the_check_says_otherwise() -> None:
    """Upper and lower case differ by default."""
    assert score(["PARIS"], "Paris").status is ScoreStatus.FAILED
    assert score(["PARIS"], "Paris", case_sensitive=False).status is ScoreStatus.PASSED


def test_answer_of_an_agent_is_its_text() -> None:
    """Where there is no output, the final text is searched; an output rules over it."""
    assert score(["^All"], text="All done.").status is ScoreStatus.PASSED
    assert score(["done"], "no", text="done").status is ScoreStatus.FAILED


def test_long_lists_and_patterns_are_cut() -> None:
    """A reason stays readable."""
    found = score(["k" * 150, *(f"absent{n}" for n in range(30))], "x")
    assert f'"{"k" * 100}… (50 more characters)"' in found.reason
    assert found.reason.endswith(' and 11 more (0/31 matched), got "x"')


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("ab(", "pattern 'ab(' is not valid: missing ) at position 3"),
        ("*", "pattern '*' is not valid: nothing to repeat at position 0"),
        ("(" * 5000 + ")" * 5000, "it asks for too much"),
    ],
)
def test_invalid_patterns_are_refused(pattern: str, told: str) -> None:
    """A fault in a pattern is found before anything runs, with its pattern and its place in it."""
    with pytest.raises(ValidationError) as raised:
        RegexOptions.model_validate({"patterns": [pattern]})
    (detail,) = raised.value.errors()
    assert detail["loc"] == ("patterns", 0)
    assert told in detail["msg"]


def test_options_are_checked() -> None:
    """At least one pattern is required, and nothing unknown is accepted."""
    wrong: tuple[dict[str, Any], ...] = (
        {},
        {"patterns": []},
        {"patterns": "a"},
        {"patterns": [1]},
        {"patterns": ["a"], "value": 1},
        {"patterns": ["a"], "timeout_s": 0},
    )
    for options in wrong:
        with pytest.raises(ValidationError):
            RegexOptions.model_validate(options)


def test_a_pattern_that_backtracks_is_ungraded() -> None:
    """It is given up in time, with the reason, and is no fault of what was answered."""
    found = score(["a", BACKTRACKS, "b"], HARD, timeout_s=0.05)
    assert found.status is ScoreStatus.UNGRADED
    told = "was given up after 0.05 s: it backtracks too much on this output; make it simpler"
    assert found.reason == f'Pattern "{BACKTRACKS}" {told}'


def test_a_search_that_takes_a_while_is_brought_to_its_end() -> None:
    """What is too long for doing it at once is found all the same."""
    assert score(["^(?:(?:a|aa)+$|.*b$)"], "a" * 28 + "b", timeout_s=30).status is ScoreStatus.PASSED


def test_others_work_while_a_pattern_backtracks() -> None:
    """The event loop turns while a hard pattern is searched for."""

    async def both() -> tuple[Score, int]:
        hard = asyncio.create_task(scorer([BACKTRACKS], timeout_s=0.3).score(context(HARD)))
        turns = 0
        while not hard.done():
            await asyncio.sleep(0.005)
            turns += 1
        return hard.result(), turns

    found, turns = asyncio.run(both())
    assert found.status is ScoreStatus.UNGRADED
    assert turns >= 3


@pytest.mark.slow
def test_scoring_can_be_cancelled() -> None:
    """Who does not want the score any more does not wait for it."""

    async def cancel() -> None:
        task = asyncio.create_task(scorer([BACKTRACKS], timeout_s=0.5).score(context(HARD)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(cancel())
    assert time.monotonic() - started < 30


PIECES = st.sampled_from(["a", "b", ".", "[ab]", "a?", "b*", "(a|b)", "^", "$", r"\w", r"\s"])


@given(st.lists(PIECES, min_size=1, max_size=5).map("".join), st.text("ab \n", max_size=10))
def test_patterns_mean_what_they_mean_in_python(pattern: str, text: str) -> None:
    """On plain patterns the verdict agrees with that of `re`."""
    assert (score([pattern], text, timeout_s=10).status is ScoreStatus.PASSED) is bool(re.search(pattern, text))


@pytest.mark.parametrize(
    ("patterns", "text", "status", "value"),
    [
        (["TODO", "FIXME"], "all done", ScoreStatus.PASSED, 1.0),
        (["TODO", "FIXME"], "TODO: more", ScoreStatus.FAILED, 0.5),
        (["todo"], "TODO", ScoreStatus.PASSED, 1.0),
        (["a.c"], "a\nc", ScoreStatus.PASSED, 1.0),
        (["a.c"], "first\nabc", ScoreStatus.FAILED, 0.0),
        ([BACKTRACKS], HARD, ScoreStatus.UNGRADED, None),
    ],
)
def test_what_may_not_be_there(patterns: list[str], text: str, status: ScoreStatus, value: float | None) -> None:
    """With `absent` each pattern that is found is a fault; one that takes too long is still no verdict."""
    found = score(patterns, text=text, absent=True, timeout_s=0.05)
    assert (found.status, found.value) == (status, value)


SESSION = Execution(
    text="Folded a boat.",
    files=(FileChange(path="b.txt", change="created"), FileChange(path="a.md", change="created")),
    trajectory=Trajectory(
        events=(
            TrajectoryEvent(kind=EventKind.MESSAGE, text="I begin with a crease."),
            TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Write", text="keel"),
        ),
        raw='{"type":"init"}\n{"type":"result"}',
    ),
)


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({"patterns": ["crease"]}, False),
        ({"patterns": ["crease"], "source": "messages"}, True),
        ({"patterns": ["boat"], "source": "messages"}, True),
        ({"patterns": ["keel"], "source": "messages"}, False),
        ({"patterns": [r"^a\.md\nb\.txt$"], "source": "created"}, True),
        ({"patterns": [r"c\.txt"], "source": "created", "absent": True}, True),
        ({"patterns": ['"type"'], "source": "events", "at_least": 2, "at_most": 2}, True),
        ({"patterns": ['"type"'], "source": "events", "at_least": 3}, False),
        ({"patterns": ['"type"', "init"], "source": "events", "at_most": 1}, False),
        ({"patterns": ["z"], "at_most": 0}, True),
    ],
)
def test_where_it_looks_and_how_often(options: dict[str, Any], passes: bool) -> None:
    """Each source is another text, and numbers of matches bound each pattern."""
    context_ = ScoreContext(check=Check(id="c", scorer="regex"), case=Case(id="c"), execution=SESSION, arm=DIRECT)
    found = asyncio.run(RegexScorer(RegexOptions.model_validate(options)).score(context_))
    assert (found.status is ScoreStatus.PASSED) is passes


def test_numbers_of_matches_are_told() -> None:
    """The reason has the bound and what came."""
    found = score(["a", "z"], "banana", at_least=2, at_most=3)
    assert found.reason == 'Matches, where at least 2 and at most 3 were expected: "z" 0'
    assert found.value == 0.5


@pytest.mark.parametrize(("source", "why"), [("messages", "no record"), ("events", "keeps no events")])
def test_what_an_engine_does_not_tell_is_ungraded(source: str, why: str) -> None:
    """Silence is no verdict, whichever way the pattern is asked."""
    for absent in (False, True):
        found = score(["a"], text="a", source=source, absent=absent)
        assert found.status is ScoreStatus.UNGRADED
        assert why in found.reason


def test_a_file_of_the_workspace() -> None:
    """What is in it decides; without it the check fails, and without the workspace nobody knows."""

    async def run(files: dict[str, str] | None, options: dict[str, Any]) -> Score:
        shown = score_context(execution=Execution(text="x"))
        check = scorer(["twice"], file="out/a.md", **options)
        if files is None:
            return await check.score(shown)
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            await workspace.put([FileSpec(path=path, text=text) for path, text in files.items()])
            return await check.score(replace(shown, workspace=workspace))

    def found(files: dict[str, str] | None, **options: Any) -> ScoreStatus:
        return asyncio.run(run(files, options)).status

    assert found({"out/a.md": "crease twice"}) is ScoreStatus.PASSED
    assert found({"out/a.md": "crease"}) is ScoreStatus.FAILED
    assert found({"out/a.md": "crease"}, absent=True) is ScoreStatus.PASSED
    assert found({}, absent=True) is ScoreStatus.FAILED
    assert found(None, absent=True) is ScoreStatus.UNGRADED


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "passes"),
    [
        ("boat$", "", "a boat\n", False),
        ("boat$", "m", "a boat\n", True),
        ("^BOAT", "im", "a\nboat", True),
        (r"\d", "", "٣", False),
        (r"\Aboat", "", "boat", False),
    ],
)
def test_javascript(pattern: str, flags: str, text: str, passes: bool) -> None:
    """A pattern of JavaScript means what it means there, and is shown as it was written."""
    found = score([pattern], text, syntax="javascript", flags=flags)
    assert (found.status is ScoreStatus.PASSED) is passes
    assert passes or f'"{pattern}"' in found.reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"patterns": ["(?i)x"], "syntax": "javascript"}, "flags stand apart"),
        ({"patterns": ["x"], "syntax": "javascript", "flags": "ii"}, "are not those of a pattern"),
        ({"patterns": ["x"], "flags": "i"}, "flags stand in the pattern itself"),
    ],
)
def test_what_javascript_refuses(options: dict[str, Any], message: str) -> None:
    """It is refused before anything runs."""
    with pytest.raises(ValidationError, match=message):
        RegexOptions.model_validate(options)


@pytest.mark.parametrize(
    "options",
    [
        {"absent": True, "at_most": 1},
        {"at_least": 2, "at_most": 1},
        {"file": "a", "source": "events"},
        {"file": "../a"},
        {"source": "elsewhere"},
    ],
)
def test_options_that_do_not_fit_together(options: dict[str, Any]) -> None:
    """They are refused before anything runs."""
    with pytest.raises(ValidationError):
        scorer(["a"], **options)


def test_calls_that_stand_ins_answered() -> None:
    """Each is a line of JSON; other calls are none of them, and without a record it cannot be told."""
    events = [
        TrajectoryEvent(kind=EventKind.TOOL_CALL, name="mcp__sea__tide", call_id="1", data={"port": "Bar"}),
        TrajectoryEvent(kind=EventKind.TOOL_RESULT, call_id="1", text="high", data={"verdict": "ok"}),
        TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", call_id="2", data={"command": "ls"}),
        TrajectoryEvent(kind=EventKind.TOOL_RESULT, call_id="2", text="high"),
    ]
    told = replace(context(), execution=Execution(trajectory=Trajectory(events=tuple(events))))
    line = r'^\{"tool":"mcp__sea__tide","input":\{"port":"Bar"\},"output":"high","verdict":"ok"\}$'
    assert asyncio.run(scorer([line], source="mocked").score(told)).status is ScoreStatus.PASSED
    assert asyncio.run(scorer(["Bash"], source="mocked", absent=True).score(told)).status is ScoreStatus.PASSED
    assert score(["a"], "x", source="mocked").status is ScoreStatus.UNGRADED
