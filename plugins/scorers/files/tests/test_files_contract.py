"""The contract of scorers."""

from __future__ import annotations

from typing import Any

from skillgauge.api import Case, Execution, FileChange, FileSpec, JsonObject, ScoreContext
from skillgauge_testkit import (
    SCORERS,
    Maker,
    TemporarySandbox,
    check_light_import,
    check_plugin,
    check_scorer,
    score_context,
)

MODULE = "skillgauge_scorer_files.plugin"
TEXT = '# Report\n\n{"total": 3}\n'


def session(options: JsonObject, *, made: str = "docs/report.md", text: str = TEXT) -> ScoreContext:
    """A session that left one file behind."""
    files: dict[str, Any] = {"files": (FileChange(path=made, change="created"),)}
    case = Case(id="case", files=(FileSpec(path=made, text=text),))
    return score_context(options=options, execution=Execution(text="done", **files), case=case)


def test_scorer() -> None:
    """The same files have the same score; what is gone with the workspace is ungraded then."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[
            session({"path": "docs/*.md"}),
            session({"path": "**/*.md", "state": "created", "contains": ("# Report",), "lacks": ("TODO",)}),
            session({"path": "docs/report.md", "state": "changed", "equals": TEXT.rstrip(), "patterns": (r"\d",)}),
            session({"path": "out.json", "json": {"a": (1,)}}, made="out.json", text='{"a": [1.0], "b": null}'),
            session({"path": "*.md", "state": "absent"}),
            session({"path": "src/**", "state": "untouched"}),
        ],
        failing=[
            session({"path": "docs/*.txt", "state": "created"}),
            session({"path": "docs/*.md", "contains": ("Summary",)}),
            session({"path": "docs/*.md", "state": "absent"}),
            session({"path": "docs/*.md", "state": "deleted"}),
            session({"path": "out.json", "json": {"a": (2,)}}, made="out.json", text='{"a": [1]}'),
        ],
        sandbox=TemporarySandbox(),
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"files": {"path": "a"}})
    check_light_import(MODULE)
