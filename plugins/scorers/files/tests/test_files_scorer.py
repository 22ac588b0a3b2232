"""Files that an agent left, in real workspaces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Case, Execution, FileChange, FileSpec, SandboxSpec, Score, ScoreStatus
from skillgauge_scorer_files.content import differences
from skillgauge_scorer_files.globs import glob
from skillgauge_scorer_files.options import FilesOptions
from skillgauge_scorer_files.scorer import FilesScorer
from skillgauge_testkit import TemporarySandbox, score_context

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def score(
    options: dict[str, Any],
    made: dict[str, str] | None = None,
    *,
    changes: dict[str, str] | None = None,
    case: Case | None = None,
    prepare: Callable[[Path], None] | None = None,
) -> Score:
    """The score in a workspace with these files, which the session made unless `changes` says otherwise."""

    async def run() -> Score:
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            await workspace.put([FileSpec(path=path, text=text) for path, text in (made or {}).items()])
            if prepare:
                prepare(workspace.root)
            told = changes if changes is not None else dict.fromkeys(made or {}, "created")
            files = tuple(FileChange(path=path, change=change) for path, change in told.items())
            context = score_context(execution=Execution(text="", files=files), case=case)
            return await scorer(options).score(replace(context, workspace=workspace))

    return asyncio.run(run())


def scorer(options: dict[str, Any]) -> FilesScorer:
    """A scorer with these options."""
    return FilesScorer(FilesOptions.model_validate(options))


@pytest.mark.parametrize(
    ("state", "change", "passes"),
    [
        ("created", "created", True),
        ("created", "modified", False),
        ("changed", "created", True),
        ("changed", "modified", True),
        ("changed", "deleted", False),
        ("deleted", "deleted", True),
        ("deleted", "created", False),
        ("not-created", "created", False),
        ("not-created", "modified", True),
        ("not-created", "deleted", True),
        ("untouched", "created", False),
        ("untouched", "modified", False),
        ("untouched", "deleted", False),
    ],
)
def test_changes(state: str, change: str, passes: bool) -> None:
    """Each state is about its own kinds of change, and is known without the workspace."""
    context = score_context(execution=Execution(files=(FileChange(path="a/b.txt", change=change),)))
    found = asyncio.run(scorer({"path": "a/*", "state": state}).score(context))
    assert (found.status is ScoreStatus.PASSED) is passes
    other = asyncio.run(scorer({"path": "z/*", "state": state}).score(context))
    assert (other.status is ScoreStatus.PASSED) is (state in ("untouched", "not-created"))


def test_what_graders_put_there_does_not_count() -> None:
    """A file of a grader is no file of the agent's, unless the agent had made or was given one of that name."""
    case = Case(id="c", grader_files=(FileSpec(path="check.py", text=""),))
    made = {"check.py": "", "response.txt": "x"}
    for path in made:
        assert score({"path": path}, made, changes={}, case=case).status is ScoreStatus.FAILED
        assert score({"path": path, "state": "absent"}, made, changes={}, case=case).status is ScoreStatus.PASSED
    assert score({"path": "check.py"}, made, case=case).status is ScoreStatus.PASSED


def test_one_file_needs_to_have_it_all() -> None:
    """Contents are not put together from several files, and the reason says what each lacks."""
    options = {"path": "*.md", "contains": ["one", "two"]}
    assert score(options, {"a.md": "one", "b.md": "one two"}).status is ScoreStatus.PASSED
    found = score(options, {"a.md": "one", "b.md": "two"})
    assert found.status is ScoreStatus.FAILED
    assert found.reason == 'a.md: "two" is missing; b.md: "one" is missing'


def test_content() -> None:
    """Each condition decides by itself."""
    made = {"a.txt": "Hello\r\nWorld\r\n"}
    for options, passes in (
        ({"contains": ["hello"]}, False),
        ({"contains": ["hello"], "case_sensitive": False}, True),
        ({"lacks": ["World"]}, False),
        ({"lacks": ["world"]}, True),
        ({"equals": "Hello\nWorld"}, True),
        ({"equals": "Hello"}, False),
        ({"patterns": ["^Hel+o"]}, True),
        ({"patterns": ["^World$"]}, False),
        ({"patterns": [r"\AHello"]}, True),
        ({"patterns": [r"\AHello"], "syntax": "javascript"}, False),
        ({"patterns": ["(?m:^World$)"], "syntax": "javascript"}, True),
        ({"json": None}, False),
        ({"max_bytes": 5, "contains": ["H"]}, False),
    ):
        assert (score({"path": "a.txt", **options}, made).status is ScoreStatus.PASSED) is passes, options


def test_links_out_of_the_workspace_have_no_content(tmp_path: Path) -> None:
    """A link that leads outside is a failed check, and nothing of what it leads to is told."""
    secret = tmp_path / "secret.txt"
    secret.write_text("canary-9876")
    found = score(
        {"path": "out.txt", "patterns": ["canary"]},
        changes={"out.txt": "created"},
        prepare=lambda root: (root / "out.txt").symlink_to(secret),
    )
    assert found.status is ScoreStatus.FAILED
    assert "canary" not in found.reason.replace('"canary"', "")


def test_a_pattern_that_backtracks_is_ungraded() -> None:
    """A pattern that takes too long proves nothing."""
    found = score({"path": "a", "patterns": ["(x+x+)+y"], "timeout_s": 0.05}, {"a": "x" * 5000})
    assert (found.status, "takes too long" in found.reason) == (ScoreStatus.UNGRADED, True)


def test_without_workspace() -> None:
    """What cannot be known any more is ungraded; what the record tells is decided."""
    context = score_context(execution=Execution(files=(FileChange(path="a.md", change="created"),)))
    for options, status in (
        ({"path": "a.md"}, ScoreStatus.PASSED),
        ({"path": "b.md"}, ScoreStatus.UNGRADED),
        ({"path": "a.md", "state": "absent"}, ScoreStatus.FAILED),
        ({"path": "b.md", "state": "absent"}, ScoreStatus.UNGRADED),
        ({"path": "a.md", "contains": ["x"]}, ScoreStatus.UNGRADED),
    ):
        assert asyncio.run(scorer(options).score(context)).status is status, options


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("a.md", "a.md", True),
        ("./a.md", "a.md", True),
        ("*.md", "a/b.md", False),
        ("**/*.md", "b.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("a/**", "a/b/c", True),
        ("a/**/c", "a/c", True),
        ("a?c", "a/c", False),
        ("[ab]", "a", False),
        ("[ab]", "[ab]", True),
        ("a.md", "axmd", False),
    ],
)
def test_globs(pattern: str, path: str, matches: bool) -> None:
    """Stars stay in a folder unless there are two; brackets and dots are themselves."""
    assert glob(pattern)(path) is matches


@given(JSON)
def test_a_value_has_no_differences_from_itself(value: Any) -> None:
    """Equal values are equal."""
    assert not list(differences(value, value))


@given(st.dictionaries(st.text(max_size=2), JSON, max_size=3), st.text(min_size=3, max_size=4), JSON)
def test_more_keys_are_allowed(value: dict[str, Any], key: str, more: Any) -> None:
    """An object may have a key that nobody asked for, but not lack one that somebody did."""
    assert not list(differences(value, {**value, key: more}))
    assert list(differences({**value, key: more}, value)) == [f"$.{key} is missing"]


def test_truth_is_no_number() -> None:
    """1 is 1.0 and not true."""
    assert not list(differences(1, 1.0))
    assert list(differences(True, 1)) == ["$ is 1 instead of true"]
    assert list(differences((1, 2), (1,))) == ["$ has 1 items instead of 2"]


def test_options_are_checked() -> None:
    """Paths stay inside, patterns are valid, and content is not asked for where there is none."""
    for options in (
        {},
        {"path": "/etc/passwd"},
        {"path": "../x"},
        {"path": "a", "patterns": ["("]},
        {"path": "a", "patterns": ["(?P<x>a)"], "syntax": "javascript"},
        {"path": "a", "state": "absent", "contains": ["x"]},
        {"path": "a", "state": "gone"},
        {"path": "a", "unknown": 1},
    ):
        with pytest.raises(ValueError, match="validation error"):
            FilesOptions.model_validate(options)


def test_paths_that_are_left_out_of_account() -> None:
    """A session that wrote only there has touched nothing."""
    options = {"path": "**", "state": "untouched", "leave_out": ["out/**", ".tool/**"]}
    assert score(options, {"out/a.txt": "", ".tool/x": ""}).status is ScoreStatus.PASSED
    outside = score(options, {"out/a.txt": "", "a.txt": ""})
    assert outside.status is ScoreStatus.FAILED
    assert "a.txt (created)" in outside.reason
