"""Reading eval.yaml: what is accepted, and everything that is wrong, each with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import Problem, located_all, read_document
from skillgauge_skillevaluation import EvalCase, read_cases

Read = Callable[[str], tuple[tuple[EvalCase, ...], tuple[Problem, ...]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a text as a file: its cases, and what is wrong with it, each with its place."""

    def call(text: str) -> tuple[tuple[EvalCase, ...], tuple[Problem, ...]]:
        path = tmp_path / "eval.yaml"
        path.write_text(text, encoding="utf-8")
        document = read_document(path)
        cases, problems = read_cases(document.value, document.origin)
        return cases, located_all(problems)

    return call


def case(more: str) -> str:
    """A file with one good case and more keys."""
    return f"cases:\n  - name: a\n    prompt: p\n    expectations: [x]\n    {more}\n"


@pytest.mark.parametrize(
    "more",
    [
        "should_trigger: yes",
        "setup: {}",
        "setup: []",
        "setup: {files: {a/b.txt: ''}}",
        "validators: [{cmd: 'true', label: ''}]",
        "validators: []",
        "max_turns: 1",
        "tags: [a, a]",
        "description: ''",
    ],
)
def test_accepted(read: Read, more: str) -> None:
    """What parser and schema of the reference both accept."""
    assert read(case(more))[1] == ()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("should_trigger: 1", "true or false"),
        ("should_trigger: null", "true or false"),
        ("max_turns: null", "at least 1"),
        ("max_turns: 0", "at least 1"),
        ("max_turns: true", "at least 1"),
        ("max_turns: 1.0", "at least 1"),
        ("setup: ''", "'setup' must be"),
        ("setup: null", "'setup' must be"),
        ("setup: {env: {}}", "unknown key 'env'"),
        ("setup: {commands: make}", "'commands' must be a list"),
        ("setup: {files: [a]}", "must map paths to texts"),
        ("setup: {files: {/etc/x: a}}", "does not stay inside"),
        ("setup: {files: {a/../../x: a}}", "does not stay inside"),
        ("setup: {files: {' ': a}}", "does not stay inside"),
        ("setup: {files: {a: 5}}", "must be text"),
        ("setup: [' ']", "must not be blank"),
        ("tags: 0", "'tags' must be a list"),
        ("tags: [1]", "a tag must be text"),
        ("description: 5", "'description' must be text"),
        ("validators: null", "'validators' must be a list"),
        ("validators: ['true']", "must be an object with 'cmd'"),
        ("validators: [{}]", "'cmd' is missing"),
        ("validators: [{cmd: ' '}]", "must be a shell command"),
        ("validators: [{cmd: a, label: 5}]", "'label' must be text"),
        ("validators: [{cmd: a, exit_code: 1}]", "unknown key 'exit_code'"),
        ("validators: [{cmd: a, expect_exit_code: true}]", "must be an integer"),
        ("validators: [{cmd: a, expect_exit_code: 3.0}]", "must be an integer"),
        ("validators: [{cmd: a, expect_exit_code: null}]", "must be an integer"),
        ("validators: [{cmd: a, expect_exit_code: 300}]", "no command ends with that"),
        ("validators: [{cmd: a, expect_exit_code: -1}]", "no command ends with that"),
        ("trials: 3", "removed in schema rev 2"),
        ("expectation: [y]", "did you mean expectations"),
    ],
)
def test_refused(read: Read, more: str, told: str) -> None:
    """What either of them refuses, with the name of the case and the place."""
    _, problems = read(case(more))
    assert len(problems) == 1
    (placed,) = problems
    assert told in placed.message
    assert "case 'a'" in placed.message
    assert placed.span is not None
    assert placed.span.line == 5


def test_everything_at_once(read: Read) -> None:
    """Nobody mends a file fault by fault."""
    text = "extra: 1\ncases:\n  - {name: ' ', prompt: ''}\n  - 5\n  - {name: b, prompt: p, expectations: ['']}\n"
    _, problems = read(f"{text}  - {{name: ' b ', prompt: p, should_trigger: true}}\nmode: x\n")
    lines = [(one.span.line if one.span else None, one.code) for one in problems]
    assert lines == [
        (1, "suite.unknown-key"),
        (7, "suite.removed-key"),
        (3, "suite.value"),
        (3, "suite.value"),
        (3, "suite.no-check"),
        (4, "suite.wrong-type"),
        (5, "suite.value"),
        (6, "suite.duplicate-id"),
    ]


def test_removed_keys_say_what_to_do_instead(read: Read) -> None:
    """Also when other keys are unknown, and only those that were removed are named."""
    _, problems = read(case("mode: agentic\n    trials: 3\n    odd: 1"))
    (removed,) = (one for one in problems if one.code == "suite.removed-key")
    assert "'mode', 'trials'" in removed.message
    assert "odd" not in removed.message
    assert "--runs" in str(removed.hint)


@pytest.mark.parametrize("text", ["5", "[]", "cases: {}", "cases: []", "case: []", "null", "cases: 1"])
def test_no_cases(read: Read, text: str) -> None:
    """A file without cases is no suite."""
    cases, problems = read(text)
    assert not cases
    assert problems


def test_labels_and_prompts(read: Read) -> None:
    """A label falls back to the command; a prompt is kept as it is written."""
    command = "echo " + "x" * 100
    (one,), problems = read(f'cases: [{{name: " a ", prompt: " p\\n", validators: [{{cmd: "{command}"}}]}}]')
    assert problems == ()
    assert (one.name, one.prompt, one.validators[0].label) == ("a", " p\n", command[:80])
