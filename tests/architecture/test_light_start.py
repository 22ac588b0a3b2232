"""The command line starts without what it does not need."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HEAVY = ("pydantic", "yaml", "httpx", "mcp", "structlog", "stevedore", "pluggy", "asyncio", "sqlite3")
SCRIPT = """
import json, sys
sys.argv = ["skillgauge", *{arguments!r}]
from skillgauge.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
DRY_RUN_NEEDS_NONE = {
    "pickle",
    "rich",
    "skillgauge.contract.recipe",
    "skillgauge.evaluation.conclusion",
    "skillgauge.decide.decision",
    "skillgauge.evaluation.eval_document",
    "skillgauge.evaluation.planned.document",
    "skillgauge.evaluation.stored",
    "skillgauge.decide.at_best",
    "skillgauge.decide.failing",
    "skillgauge.stats",
    "skillgauge.types.comparison",
    "skillgauge.types.results.summaries",
    "skillgauge.terminal.progress",
    "skillgauge.report.answer",
    "skillgauge.run.agents",
    "skillgauge.run.grading",
    "skillgauge.run.pipeline",
    "skillgauge_format_agent_skills.suite_format",
    "skillgauge_reporter_markdown.reporter",
    "skillgauge_run_views",
    "yaml",
}
"""How a run ends, what comes of it, is reported or runs elsewhere, and the format that nothing was given to."""

VALIDATE_NEEDS_NONE = DRY_RUN_NEEDS_NONE - {"skillgauge_format_agent_skills.suite_format", "yaml"} | {
    "httpx",
    "skillgauge.evaluation.evaluation",
    "skillgauge.evaluation.planned.text",
    "skillgauge.plan.job",
    "skillgauge.report.summary",
    "skillgauge_engine_api.session",
    "skillgauge_format_agent_skills.suites.cases",
    "skillgauge_judges.anthropic",
    "skillgauge_processes",
    "skillgauge_sandbox_bubblewrap.sandbox",
    "skillgauge_sandbox_local.sandbox",
    "skillgauge_skillevaluation.aggregation",
}
"""Besides, what agents and judges ask, how one run is carried out, and the sandbox, which is tried with a process."""

FOUNDATION = {"skillgauge_documents"}
"""No plugin, but what the core stands on; of it a start needs the filter for hostile text alone."""


def imported(*arguments: str) -> set[str]:
    """Top-level modules that a command line imports."""
    return {name.partition(".")[0] for name in all_imported(*arguments)}


@pytest.fixture(scope="module", autouse=True)
def _installed_is_known() -> None:
    """What is installed was looked up before, as by every start but the first after an installation."""
    imported("plugins", "list")


def all_imported(*arguments: str) -> set[str]:
    """Modules that a command line imports."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", SCRIPT.format(arguments=list(arguments))], capture_output=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["plugins", "--help"]])
def test_help_imports_no_plugin_and_nothing_heavy(arguments: list[str]) -> None:
    """The help of the program names every command without importing one, nor any plugin."""
    names = imported(*arguments)
    assert not names & {"pathlib", "shlex", "unicodedata"}
    heavy = HEAVY if "plugins" not in arguments else ("httpx", "mcp", "sqlite3", "yaml")
    assert not names & set(heavy)
    assert not {name for name in names if name.startswith("skillgauge_")} - FOUNDATION


def test_version_imports_next_to_nothing() -> None:
    """The version is printed before even click is imported, and without what is half of a start: `typing`."""
    assert not {"click", "typing"} & imported("--version")


def test_listing_plugins_imports_none() -> None:
    """`plugins list` answers from the index."""
    modules = all_imported("plugins", "list")
    light = {"skillgauge_documents.characters", "skillgauge_documents.immutables"}
    assert {name for name in modules if name.startswith("skillgauge_documents.")} == light
    names = imported("plugins", "list")
    assert not names & {"pathlib", "shutil", "urllib", "unicodedata"}
    assert not {name for name in names if name.startswith("skillgauge_")} - FOUNDATION


def test_a_dry_run_imports_nothing_of_a_run_that_ends(tmp_path: Path) -> None:
    """A dry run ends before decision and reports, and shows a path that is given for one format to no other."""
    skill = tmp_path / "skill.json"
    facts = {"id": "s", "name": "S", "version": "1.0.0", "description": "", "adapterType": "subprocess"}
    skill.write_text(json.dumps(facts | {"entrypoint": "true"}))
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([{"id": "one", "inputData": {}, "expectedOutput": {"type": "exact", "value": "1"}}]))
    paths = ["--skills", str(skill), "--tasks", str(tasks)]
    names = all_imported("eval", "--dry-run", "--store", "none", "--sandbox", "local", *paths)
    assert "skillgauge_format_eval_skills.loading" in names
    assert not names & DRY_RUN_NEEDS_NONE


def test_validate_imports_nothing_that_carries_out(tmp_path: Path) -> None:
    """R3-V6: a suite is checked without a run, its reports and its figures, and without what agents and judges ask."""
    (tmp_path / "SKILL.md").write_text("---\nname: labels\ndescription: Writes labels.\n---\n\nWrite the label.\n")
    case = {"name": "one", "prompt": "label a box", "expectations": ["it is labelled"]}
    (tmp_path / "eval.yaml").write_text(json.dumps({"cases": [case]}))
    names = all_imported("validate", str(tmp_path))
    assert {"skillgauge_format_skillevaluation.loading", "skillgauge_engine_api.engine"} <= names
    assert not names & VALIDATE_NEEDS_NONE


def test_the_default_set_has_the_live_display() -> None:
    """Whoever installs `skillgauge` sees how far a run is, with every extra as well; the core alone needs no rich."""
    root = Path(__file__).resolve().parents[2]
    told = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert any(one.startswith("rich") for one in told["dependencies"])
    core = tomllib.loads((root / "core/pyproject.toml").read_text("utf-8"))["project"]
    assert not any(one.startswith("rich") for one in core["dependencies"])


def test_models_are_built_when_they_are_used() -> None:
    """To import the models of the pipeline builds none of those that nobody has made yet, not for a default either."""
    script = """
from skillgauge.api import Case, TrialResult
from skillgauge.api.report import Summary
from skillgauge_documents.frozen import Frozen
def below(kind):
    return {part for one in kind.__subclasses__() for part in (one, *below(one))}
assert {Summary, TrialResult, Case} < below(Frozen)
assert not [kind for kind in below(Frozen) if kind.__pydantic_complete__]
Case(id="one")
assert [model.__pydantic_complete__ for model in (Summary, TrialResult, Case)] == [False, False, True]
"""
    subprocess.run([sys.executable, "-I", "-c", script], check=True)


def test_a_scorer_imports_no_statistics_and_no_results() -> None:
    """What announces a scorer knows cases and scores, and nothing that is computed of them."""
    script = """
import sys
import skillgauge_scorer_exact.plugin, skillgauge_scorer_exact.scorer
assert "skillgauge.types.score" in sys.modules
assert not [name for name in sys.modules if name.startswith(("skillgauge.stats", "skillgauge.types.result"))]
"""
    subprocess.run([sys.executable, "-I", "-c", script], check=True)


def test_models_of_files_are_built_when_one_is_read() -> None:
    """To import the format eval-skills builds no model of its files."""
    script = """
from skillgauge_format_eval_skills import files
models = [files.SkillFile, files.AdapterConfig, files.TaskFile, files.BenchmarkFile]
assert not any(model.__pydantic_complete__ for model in models), models
"""
    subprocess.run([sys.executable, "-I", "-c", script], check=True)


def test_the_command_line_seldom_looks_for_cycles() -> None:
    """Neither a start nor a command of thousands of cases goes through all it has again and again, nor does its end."""
    script = """
import atexit, gc, sys
searched = []
gc.callbacks.append(lambda phase, _: searched.append(phase))
atexit.register(lambda: print(len(searched) < 10, gc.isenabled(), gc.get_freeze_count() > 10_000, file=sys.stderr))
sys.argv = ["skillgauge", "plugins", "list"]
from skillgauge.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, check=True, text=True)
    assert done.stderr.split() == ["True"] * 3
