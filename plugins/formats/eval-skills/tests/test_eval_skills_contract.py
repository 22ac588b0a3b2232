"""The contracts of formats and reporters."""

from __future__ import annotations

import json
from pathlib import Path

from skillgauge_testkit import FORMATS, REPORTERS, Maker, check_format, check_light_import, check_plugin, check_reporter

FORMAT, REPORTER = "skillgauge_format_eval_skills.plugin", "skillgauge_format_eval_skills.reporter_plugin"
CALCULATOR = Path(__file__).parents[4] / "examples/skills/calculator"


def test_format(tmp_path: Path) -> None:
    """Skills and benchmarks are recognised, read, refused when broken, and written again."""
    bench, packaged, notes = tmp_path / "bench.json", tmp_path / "packaged", tmp_path / "skill.json"
    task = {"id": "t", "inputData": {"a": 1}, "expectedOutput": {"value": "x"}, "tags": ["p"], "timeoutMs": 1000}
    bench.write_text(json.dumps({"id": "b", "version": "1.0.0", "tasks": [task]}))
    packaged.mkdir()
    (packaged / "package.agent.json").write_text("{}")
    (packaged / "skill.json").write_text((CALCULATOR / "skill.json").read_text())
    notes.write_text('{"name": "of another tool"}')
    check_format(
        Maker(FORMATS, FORMAT),
        samples=[CALCULATOR, CALCULATOR / "skill.json", bench],
        foreign=[packaged, notes, Path(__file__).parent / "data/h3-schema.json"],
        options={"skills": (str(CALCULATOR),)},
    )


def test_reporter() -> None:
    """Runs of every sort can be written; that documents are read back is tested on real ones."""
    check_reporter(Maker(REPORTERS, REPORTER), reads_back=False)


def test_announcements() -> None:
    """Hooks, providers and entry points fit together."""
    check_plugin(FORMAT, "formats")
    check_plugin(REPORTER, "reporters")
    check_light_import(FORMAT)
    check_light_import(REPORTER)
