"""What plugin authors import: complete, documented, and nothing by accident."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge import api, errors
from skillgauge.api import (
    adapters,
    artifacts,
    engines,
    executors,
    formats,
    judges,
    providers,
    reporters,
    sandboxes,
    scorers,
    stores,
)
from skillgauge.types import frozen, result, suite, trial

CONTRACT = (adapters, artifacts, engines, executors, formats, judges, providers, reporters, sandboxes, scorers, stores)

DOCUMENTED = """
ALLOWED_ENV ALL_PASSED Adapter Archive Arm ArmKind Artifact Blame Block CallRequest Case Cases Check Claim Claimed
Clean Command Comparison Counts DIRECT Document Dumped EMPTY Emit EmptySelection Engine Evaluation EvaluationCommand
EventKind Execution Executor ExitCode Fact Failure FailureClass Figure FileChange FileSpec Finished FiredSkill Frozen
FrozenDict GivenUp Globals GlobalsCommand GlobalsGroup GroupSummary Identity InstalledSkill InvalidRunError Invocation
Json JsonObject JsonValue Judge JudgeReply JudgeRequest Latency LaunchError LimitOutcome Limits LoadOption LoadRequest
Loaded MAX_DEPTH ModelRoute NO_LIMITS NoOptions Number Origin Outcome Output PlanHead PluginError PolicyError Problem
Provider RateInterval Recorder Redactor Reporter ResultOrder Results RunInfo RunLog RunQuery RunRequest RunState
RunTrial RunView Running Sandbox SandboxReport SandboxSpec Score ScoreContext ScoreStatus Scorer Session SeveralWords
Severity SkillRef SkillRole SkillgaugeError SourceSpan Store StoreError Suite SuiteDefaults SuiteError SuiteFormat
SuiteHead SuiteValidity Summary TagSummary Target TargetHead TargetKind Tier Traits Trajectory TrajectoryEvent Trial
TrialResult Usage UsageError Verdict VerdictMode VerdictRule Workspace canonical_json configured consistency
did_you_mean digest digest_text eval_options evaluation_options freeze get_logger hookimpl host_environment
human_lines invocation locate located located_all nearest_rank parse_document pass_at_k problem_document rate_interval
read_document thaw
validate wilson write_report write_whole
"""

NOT_FOR_PLUGINS = {"TYPE_CHECKING", "T"}
"""Names that a module of values needs for itself."""


def test_documented_names() -> None:
    """Every public name was decided on; a new one, or a lost one, is decided on here."""
    assert sorted(api.__all__) == DOCUMENTED.split()


def test_type_checkers_see_the_same() -> None:
    """The stub names what the module finds, each in the module where it is."""
    tree = ast.parse(Path(api.__file__).with_suffix(".pyi").read_text())
    stub = {alias.asname: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert stub == api._MODULES


def test_every_name_exists_and_is_explained() -> None:
    """Each name can be imported, and each class and function has a docstring of its own."""
    for name in api.__all__:
        value = getattr(api, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name


@pytest.mark.parametrize("module", [errors, *CONTRACT, frozen, suite, trial, result], ids=lambda one: one.__name__)
def test_nothing_is_forgotten(module: ModuleType) -> None:
    """Every public class, function and constant of the values, the protocols and the errors is exported."""
    own = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and ((getattr(value, "__module__", None) or "").startswith(module.__name__) or name.isupper())
    }
    assert own
    assert own - NOT_FOR_PLUGINS <= set(api.__all__)


def test_importing_is_light() -> None:
    """A plugin that announces itself pays for pydantic and pluggy, and for nothing that loads, logs or runs."""
    code = "import sys, skillgauge.api; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert {"stevedore", "structlog", "click", "yaml", "sqlite3"}.isdisjoint(done.stdout.split())
