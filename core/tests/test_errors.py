"""What can go wrong: one tree of errors, each with its exit code, each able to say where and what next."""

from __future__ import annotations

import copy
import pickle

import pytest

from skillgauge import errors
from skillgauge.errors import (
    EmptySelection,
    ExitCode,
    LaunchError,
    Origin,
    PluginError,
    PolicyError,
    Problem,
    Severity,
    SkillgaugeError,
    SourceSpan,
    StoreError,
    SuiteError,
    UsageError,
    did_you_mean,
    errors_among,
)

TREE: dict[type[SkillgaugeError], tuple[type[SkillgaugeError], ExitCode]] = {
    UsageError: (SkillgaugeError, ExitCode.USAGE),
    EmptySelection: (UsageError, ExitCode.NOTHING_SELECTED),
    SuiteError: (SkillgaugeError, ExitCode.USAGE),
    PluginError: (SkillgaugeError, ExitCode.USAGE),
    PolicyError: (SkillgaugeError, ExitCode.USAGE),
    StoreError: (SkillgaugeError, ExitCode.INVALID_RUN),
}


def test_the_tree_is_complete() -> None:
    """Every error of the module has its place and exit code in the table above."""
    defined = {
        value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, SkillgaugeError)
    }
    assert defined - {SkillgaugeError} == set(TREE)


@pytest.mark.parametrize("error", TREE, ids=lambda error: error.__name__)
def test_an_error_has_its_parent_and_exit_code(error: type[SkillgaugeError]) -> None:
    """Scripts depend on the exit codes, callers on what they catch."""
    parent, code = TREE[error]
    assert error.__bases__ == (parent,)
    assert error.exit_code is code


def test_the_exit_codes_are_published_numbers() -> None:
    """The numbers of the command line never change."""
    assert {code.name: int(code) for code in ExitCode} == {
        "OK": 0,
        "GATE_MISSED": 1,
        "USAGE": 2,
        "INVALID_RUN": 3,
        "BUDGET": 4,
        "NOTHING_SELECTED": 5,
        "INTERRUPTED": 130,
    }


def test_an_unexpected_error_counts_as_invalid() -> None:
    """The root's exit code says that skillgauge itself failed."""
    assert SkillgaugeError(Problem("x.y", "m")).exit_code is ExitCode.INVALID_RUN


@pytest.mark.parametrize("error", [SkillgaugeError, *TREE], ids=lambda error: error.__name__)
def test_an_error_carries_all_problems(error: type[SkillgaugeError]) -> None:
    """One problem or many, from any iterable: each is kept, in order, and shown in the text."""
    one, two = Problem("a.b", "first"), Problem("c.d", "second")
    assert error(one).problems == (one,)
    both = error(iter([one, two]))
    assert both.problems == (one, two)
    assert str(both) == "error[a.b]: first\nerror[c.d]: second"


@pytest.mark.parametrize("error", [SkillgaugeError, *TREE], ids=lambda error: error.__name__)
def test_an_error_can_cross_processes(error: type[SkillgaugeError]) -> None:
    """Pickled or copied, an error keeps its type, problems and text."""
    raised = error([Problem("a.b", "m", origin=Origin("f", ("k", 0)), hint="Do it."), Problem("c.d", "n")])
    for twin in (pickle.loads(pickle.dumps(raised)), copy.copy(raised), copy.deepcopy(raised)):
        assert type(twin) is error
        assert twin.problems == raised.problems
        assert str(twin) == str(raised)


def test_one_problem_is_enough() -> None:
    """A single problem need not be put into a list."""
    origin = Origin("f", ("a",))
    error = StoreError(Problem("store.full", "no space", hint="Delete something.", origin=origin))
    assert type(error) is StoreError
    assert error.problems == (Problem("store.full", "no space", origin=origin, hint="Delete something."),)


@pytest.mark.parametrize("error", [SkillgaugeError, *TREE], ids=lambda error: error.__name__)
def test_an_error_is_raised_for_problems_and_for_none_it_is_not(error: type[SkillgaugeError]) -> None:
    """What collects problems goes on if it has found none, and else says all of them."""
    error.raise_for([])
    problems = [Problem("a.b", "first"), Problem("c.d", "second")]
    with pytest.raises(error) as caught:
        error.raise_for(problems)
    assert (type(caught.value), caught.value.problems) == (error, tuple(problems))


def test_warnings_do_not_stop_a_run() -> None:
    """Of problems only the errors stop a run, in their order."""
    first, second = Problem("a.b", "first"), Problem("c.d", "second")
    warning = Problem("e.f", "mere warning", severity=Severity.WARNING)
    assert errors_among([first, warning, second]) == [first, second]
    assert errors_among([warning]) == []


def test_a_policy_may_refuse_with_a_sentence() -> None:
    """The author of an extension need not know codes."""
    assert PolicyError("too expensive").problems == (Problem("policy.refused", "too expensive"),)


def test_a_process_that_cannot_start_is_an_os_error() -> None:
    """It is a fact of the system, not a mistake of the user."""
    assert issubclass(LaunchError, OSError)
    assert not issubclass(LaunchError, SkillgaugeError)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (SourceSpan("f"), "f"),
        (SourceSpan("f", 3), "f:3"),
        (SourceSpan("f", 3, 7), "f:3:7"),
    ],
)
def test_a_span_reads_as_editors_write_it(span: SourceSpan, text: str) -> None:
    """Unknown parts are left out."""
    assert str(span) == text


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("a.b", "m"), "error[a.b]: m"),
        (Problem("a.b", "m", hint="Do it."), "error[a.b]: m\n  next: Do it."),
        (Problem("a.b", "m", severity=Severity.WARNING), "warning[a.b]: m"),
        (Problem("a.b", "m", origin=Origin("f", ("k",))), "f: error[a.b]: m"),
        (Problem("a.b", "m", origin=Origin("f"), span=SourceSpan("g", 1, 2)), "g:1:2: error[a.b]: m"),
    ],
    ids=["bare", "hint", "warning", "origin", "span"],
)
def test_a_problem_says_where_what_and_what_next(problem: Problem, text: str) -> None:
    """The best known place comes first, the next step last."""
    assert str(problem) == text


def test_a_problem_gets_its_place_later() -> None:
    """Looking a line up changes nothing else of the problem, and not the problem itself."""
    problem = Problem("a.b", "m", origin=Origin("f"), hint="Do it.", severity=Severity.WARNING)
    placed = problem.at(SourceSpan("f", 1))
    assert placed == Problem("a.b", "m", Origin("f"), SourceSpan("f", 1), "Do it.", Severity.WARNING)
    assert problem.span is None


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("exat", " (did you mean exact?)"),
        ("jsonschema", " (did you mean json-schema?)"),
        ("entirely-else", ""),
    ],
)
def test_near_names_are_suggested(name: str, phrase: str) -> None:
    """A typing error is answered with the name that was probably meant; a far one with nothing."""
    assert did_you_mean(name, ("exact", "json-schema", "regex")) == phrase


def test_several_near_names_are_all_suggested() -> None:
    """The nearest comes first, three at most."""
    assert did_you_mean("abcd", ("abcx", "abcde", "abxx", "abcdef", "zzzz")) == (
        " (did you mean abcde or abcdef or abcx?)"
    )


@pytest.mark.parametrize("value", [Origin("f", ("k",)), SourceSpan("f", 1), Problem("a.b", "m")])
def test_problems_and_places_are_values(value: Origin | SourceSpan | Problem) -> None:
    """They are shared between errors, sets and threads, so nobody may change them."""
    assert {value: 1}[copy.copy(value)] == 1
    for name in value.__slots__:
        with pytest.raises(AttributeError):
            setattr(value, name, "other")
    with pytest.raises((AttributeError, TypeError)):
        value.other = 1  # type: ignore[union-attr]  # the point


def test_a_name_that_denies_is_never_answered_with_its_contrary() -> None:
    """R3-W-13: what excludes is answered with what excludes, or with nothing."""
    names = ("output_contains", "output_not_contains", "behavior")
    assert did_you_mean("output_excludes", names) == " (did you mean output_not_contains?)"
    assert did_you_mean("output_excludes", names[:1]) == ""
    assert did_you_mean("output_contain", names).startswith(" (did you mean output_contains")
