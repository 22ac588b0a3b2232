"""What the distribution announces."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skillgauge.api import LoadOption, Suite, SuiteHead
from skillgauge.api.report import Counts, GroupSummary, SuiteSummary
from skillgauge.stats import RateInterval
from skillgauge_format_eval_skills import plugin, reporter_plugin
from skillgauge_format_eval_skills.files import schemas
from skillgauge_format_eval_skills.options import EvalSkillsOptions


def test_format_is_announced() -> None:
    """One format with its options, its schemas and a factory that works."""
    (provider,) = plugin.skillgauge_formats()
    assert (provider.name, provider.options) == ("eval-skills", EvalSkillsOptions)
    made = provider.make(provider.options())
    assert made.claim(Path("absent")) is None
    nothing = RateInterval(rate=None, n=0)
    blank = GroupSummary(suite_id="", target_id=None, arm="", runner="", model=None, counts=Counts(), pass_rate=nothing)
    head = SuiteHead(id="", format="f", root="/", content_digest="", case_count=0, targets=(), arms=())
    figures = made.figures(SuiteSummary(suite=head, groups=(blank,)))
    assert figures[blank.key][0].name == "completionRate"
    assert made.dump(Suite(id="s", format="f", root="/")).losses == ()
    assert provider.schemas == "skillgauge_format_eval_skills.files:schemas"
    assert set(schemas()) == {"eval-skills-skill", "eval-skills-benchmark"}
    assert "entrypoint" in str(schemas()["eval-skills-skill"])


def test_reporter_is_announced() -> None:
    """One reporter with a factory that works."""
    (provider,) = reporter_plugin.skillgauge_reporters()
    assert provider.name == "eval-skills"
    assert provider.make(provider.options()).suffix == "json"


def test_load_options_are_marked() -> None:
    """Every option has its flag and a help text; only the skills take several words and are paths."""
    marks = {}
    for name, info in EvalSkillsOptions.model_fields.items():
        (mark,) = [one for one in info.metadata if isinstance(one, LoadOption)]
        assert info.description
        marks[name] = (mark.flag, mark.several_words, mark.paths)
    assert marks == {
        "skills": ("--skills", True, True),
        "benchmark": ("--benchmark", False, False),
        "tasks": ("--tasks", False, False),
        "benchmarks_dir": ("--benchmarks-dir", False, False),
        "evaluator": ("--evaluator", False, False),
    }


@pytest.mark.slow
@pytest.mark.parametrize("module", ["plugin", "reporter_plugin"])
def test_announcing_is_cheap(module: str) -> None:
    """Importing a hook module loads none of the modules that do the work."""
    package = "skillgauge_format_eval_skills"
    code = f"import sys, {package}.{module}; print(*(name for name in sys.modules if name.startswith('{package}.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {f"{package}.{module}", f"{package}.options"}
