"""Everything that a plugin imports, besides `skillgauge_testkit`; whatever is not here may change without notice."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# A line for each name, twice, would be five times as long and no easier to read.
# fmt: off
# isort: off
from .errors import (
    EmptySelection, ExitCode, InvalidRunError, LaunchError, Origin, PluginError, PolicyError, Problem, Severity,
    SkillgaugeError, SourceSpan, StoreError, SuiteError, UsageError, did_you_mean,
)
from .hooks import hookimpl
from .log import get_logger
from .protocols import (
    ALLOWED_ENV, Adapter, Archive, Artifact, CallRequest, Claim, Claimed, Clean, Command, Dumped, Emit, Engine,
    Executor, Fact, Finished, InstalledSkill, Judge, JudgeReply, JudgeRequest, LoadOption, LoadRequest, Loaded,
    ModelRoute, NoOptions, Provider, Recorder, Reporter, ResultOrder, Results, RunLog, RunQuery, RunRequest,
    RunTrial, Running, Sandbox, SandboxReport, SandboxSpec, ScoreContext, Scorer, Session, Store, SuiteFormat, Tier,
    Traits, Workspace,
)
from .surroundings import host_environment
from .types.frozen import (
    EMPTY, Frozen, FrozenDict, Json, JsonObject, JsonValue, MAX_DEPTH, canonical_json, digest, digest_text, freeze,
    thaw,
)
from .types.suite import (
    ALL_PASSED, Arm, ArmKind, Case, Cases, Check, Comparison, DIRECT, FileSpec, LimitOutcome, Limits, NO_LIMITS,
    SkillRef, SkillRole, Suite, SuiteDefaults, Target, TargetKind, VerdictMode, VerdictRule,
)
from .types.trial import (
    Blame, Block, EventKind, Execution, Failure, FailureClass, FileChange, FiredSkill, Identity, PlanHead,
    SuiteHead, TargetHead, Trajectory, TrajectoryEvent, Trial, Usage,
)
from .types.result import (
    Counts, Figure, GivenUp, GroupSummary, Latency, RateInterval, RunInfo, RunState, RunView, Score, ScoreStatus,
    SuiteValidity, Summary, TagSummary, TrialResult, Verdict,
)

if TYPE_CHECKING:
    from .artifacts import write_report, write_whole
    from .cli.eval_document import human_lines
    from .cli.evaluation import Evaluation, EvaluationCommand, configured, evaluation_options
    from .cli.invocation import Invocation, invocation
    from .cli.options import Globals, GlobalsCommand, GlobalsGroup, Number, SeveralWords
    from .cli.output import Output, problem_document
    from .documents import Document, locate, located, located_all, parse_document, read_document, validate
    from .pipeline import Outcome
    from .secrets import Redactor
    from .stats import consistency, nearest_rank, pass_at_k, rate_interval, wilson

# What announces a plugin must import quickly; these are for what its factory makes.
_LATER = {
    "artifacts": ("write_report", "write_whole"),
    "cli.eval_document": ("human_lines",),
    "cli.evaluation": ("Evaluation", "EvaluationCommand", "configured", "evaluation_options"),
    "cli.invocation": ("Invocation", "invocation"),
    "cli.options": ("Globals", "GlobalsCommand", "GlobalsGroup", "Number", "SeveralWords"),
    "cli.output": ("Output", "problem_document"),
    "documents": ("Document", "locate", "located", "located_all", "parse_document", "read_document", "validate"),
    "pipeline": ("Outcome",),
    "secrets": ("Redactor",),
    "stats": ("consistency", "nearest_rank", "pass_at_k", "rate_interval", "wilson"),
}


def __getattr__(name: str) -> object:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"{__package__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ALLOWED_ENV", "ALL_PASSED", "DIRECT", "EMPTY", "MAX_DEPTH", "NO_LIMITS", "Adapter", "Archive", "Arm",
    "ArmKind", "Artifact", "Blame", "Block", "CallRequest", "Case", "Cases", "Check", "Claim", "Claimed", "Clean",
    "Command", "Comparison", "Counts", "Document", "Dumped", "Emit", "EmptySelection", "Engine", "Evaluation",
    "EvaluationCommand", "EventKind", "Execution", "Executor", "ExitCode", "Fact", "Failure", "FailureClass",
    "Figure", "FileChange", "FileSpec", "Finished", "FiredSkill", "Frozen", "FrozenDict", "GivenUp", "Globals",
    "GlobalsCommand", "GlobalsGroup", "GroupSummary", "Identity", "InstalledSkill", "InvalidRunError", "Invocation",
    "Json", "JsonObject", "JsonValue", "Judge", "JudgeReply", "JudgeRequest", "Latency", "LaunchError",
    "LimitOutcome", "Limits", "LoadOption", "LoadRequest", "Loaded", "ModelRoute", "NoOptions", "Number", "Origin",
    "Outcome", "Output", "PlanHead", "PluginError", "PolicyError", "Problem", "Provider", "RateInterval",
    "Recorder", "Redactor", "Reporter", "ResultOrder", "Results", "RunInfo", "RunLog", "RunQuery", "RunRequest",
    "RunState", "RunTrial", "RunView", "Running", "Sandbox", "SandboxReport", "SandboxSpec", "Score",
    "ScoreContext", "ScoreStatus", "Scorer", "Session", "SeveralWords", "Severity", "SkillRef", "SkillRole",
    "SkillgaugeError", "SourceSpan", "Store", "StoreError", "Suite", "SuiteDefaults", "SuiteError", "SuiteFormat",
    "SuiteHead", "SuiteValidity", "Summary", "TagSummary", "Target", "TargetHead", "TargetKind", "Tier", "Traits",
    "Trajectory", "TrajectoryEvent", "Trial", "TrialResult", "Usage", "UsageError", "Verdict", "VerdictMode",
    "VerdictRule", "Workspace", "canonical_json", "configured", "consistency", "did_you_mean", "digest",
    "digest_text", "evaluation_options", "freeze", "get_logger", "hookimpl", "host_environment", "human_lines",
    "invocation", "locate", "located", "located_all", "nearest_rank", "parse_document", "pass_at_k",
    "problem_document", "rate_interval", "read_document", "thaw", "validate", "wilson", "write_report",
    "write_whole",
]
