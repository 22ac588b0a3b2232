"""The contracts of the format and its reporters."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from skillgauge.api import Comparison
from skillgauge.api.report import RunView
from skillgauge_testkit import FORMATS, REPORTERS, Maker, check_format, check_light_import, check_plugin, check_reporter

from .conftest import ANSWER, RUBRIC

FORMAT, REPORTER = "skillgauge_format_benchflow.plugin", "skillgauge_format_benchflow.reporter_plugin"
JOBS = "skillgauge_format_benchflow.jobs_plugin"


def test_format(skill: Callable[..., Path], tmp_path: Path) -> None:
    """Suites of skills are recognised, read, refused when broken, and written again."""
    root = skill(ANSWER, RUBRIC, defaults={"timeout_sec": 60})
    evals, package = tmp_path / "evals.json", tmp_path / "package.json"
    evals.write_text(json.dumps({"evals": [{"question": "q", "prompt": "p"}], "cases": 1}))
    package.write_text('{"name": "tables", "cases": "question"}')
    check_format(
        Maker(FORMATS, FORMAT),
        samples=[root, root / "evals/evals.json"],
        foreign=[evals, package, root / "SKILL.md", root / "evals"],
    )


def _compared(view: RunView) -> RunView:
    """The kit's runs as runs of this format: the second arm is the baseline, where there are two."""
    suites = tuple(
        suite.model_copy(update={"comparisons": (Comparison(candidate=suite.arms[0], baseline=suite.arms[1]),)})
        if len(suite.arms) == 2
        else suite
        for suite in view.head.suites
    )
    return replace(view, head=view.head.model_copy(update={"suites": suites}))


def test_reporters() -> None:
    """Runs of every sort can be written; that they are read back is tested on runs of this format."""
    check_reporter(Maker(REPORTERS, REPORTER, "benchflow"), reads_back=False, adapt=_compared)
    check_reporter(Maker(REPORTERS, JOBS, "benchflow-jobs"), reads_back=False, adapt=_compared)


def test_announcements() -> None:
    """Hooks, providers and entry points fit together."""
    check_plugin(FORMAT, "formats")
    check_plugin(REPORTER, "reporters")
    check_plugin(JOBS, "reporters")
    check_light_import(FORMAT)
    check_light_import(REPORTER)
    check_light_import(JOBS)
