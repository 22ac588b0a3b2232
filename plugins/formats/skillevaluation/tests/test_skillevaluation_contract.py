"""The contracts of formats and reporters."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge_testkit import FORMATS, REPORTERS, Maker, check_format, check_light_import, check_plugin, check_reporter

FORMAT = "skillgauge_format_skillevaluation.plugin"
REPORTER = "skillgauge_format_skillevaluation.reporter_plugin"
SKILL = "---\nname: tables\ndescription: Tables.\n---\n\nMake tables.\n"


@pytest.mark.requirement("SE-FORMAT-001", "SE-HOST-004")
def test_format(tmp_path: Path) -> None:
    """Suites beside SKILL.md are recognised from the skill's folder, read, refused when broken, and written again."""
    suite = tmp_path / "tables/eval.yaml"
    suite.parent.mkdir()
    (suite.parent / "SKILL.md").write_text(SKILL)
    (suite.parent / "scripts").mkdir()
    (suite.parent / "scripts/grade.py").write_text("print(1)")
    suite.write_text(
        """
cases:
- name: one
  prompt: "Make a table.\\n"
  setup: {files: {in.csv: "a,b\\n"}, commands: [cp in.csv b.csv]}
  validators: [{cmd: python3 scripts/grade.py, expect_exit_code: 3, label: three}, {cmd: "true"}]
  expectations: [It is a table., It is a table.]
  max_turns: 4
  tags: [a]
  description: d
- {name: two, prompt: p, should_trigger: false}
- {name: three, prompt: p, should_trigger: true, setup: [touch x], expectations: [e]}
"""
    )
    unrelated, other = tmp_path / "other/eval.yaml", tmp_path / "tables/data.yaml"
    unrelated.parent.mkdir()
    unrelated.write_text("tasks: [{name: a, instruction: b}]")
    other.write_text("cases: [1]")
    check_format(
        Maker(FORMATS, FORMAT),
        samples=[suite.parent, suite],
        foreign=[unrelated, other, tmp_path / "tables/SKILL.md"],
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
