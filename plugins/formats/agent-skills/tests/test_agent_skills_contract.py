"""The contracts of formats and reporters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge_testkit import FORMATS, REPORTERS, Maker, check_format, check_light_import, check_plugin, check_reporter

FORMAT, REPORTER = "skillgauge_format_agent_skills.plugin", "skillgauge_format_agent_skills.reporter_plugin"
WORKSPACE = "skillgauge_format_agent_skills.workspace_plugin"
EXAMPLE = Path(__file__).parents[4] / "examples/agent/release-notes"
SHAPES = Path(__file__).parent / "data/shapes"


def test_format(tmp_path: Path) -> None:
    """Suites of skills are recognised, read, refused when broken, and written again."""
    lines, queries = tmp_path / "tables/evals/evals.jsonl", tmp_path / "tables/evals/queries.yaml"
    lines.parent.mkdir(parents=True)
    (tmp_path / "tables/SKILL.md").write_text("---\nname: tables\ndescription: Tables.\n---\n")
    evals = [{"prompt": "one", "assertions": ["a"]}, {"id": "b", "prompt": "two", "expected_output": {"n": 2}}]
    lines.write_text("\n".join(map(json.dumps, evals)))
    queries.write_text("should_trigger_prompts:\n- prompt: a\n  reason: b\nshould_not_trigger_prompts: []")
    unrelated, package = tmp_path / "evals.json", tmp_path / "package.json"
    unrelated.write_text('{"evals": "none"}')
    package.write_text('{"name": "tables", "scripts": {"test": "evals"}}')
    check_format(
        Maker(FORMATS, FORMAT),
        samples=[EXAMPLE, EXAMPLE / "evals/evals.json", SHAPES / "ship-log", lines, queries],
        foreign=[unrelated, package, SHAPES / "invoice-totals/evals/files"],
    )


@pytest.mark.slow
def test_reporter() -> None:
    """Runs of every sort can be written; that documents are read back is tested on real ones."""
    check_reporter(Maker(REPORTERS, REPORTER), reads_back=False)
    check_reporter(Maker(REPORTERS, WORKSPACE), reads_back=False)


def test_announcements() -> None:
    """Hooks, providers and entry points fit together."""
    check_plugin(FORMAT, "formats")
    check_plugin(REPORTER, "reporters")
    check_plugin(WORKSPACE, "reporters")
    check_light_import(FORMAT)
    check_light_import(REPORTER)
    check_light_import(WORKSPACE)
