"""Everything that a plugin imports; whatever is not here may change without notice.

Each name is looked up when it is first asked for, so that a module which announces a plugin pays for what it uses.
Type checkers read the same list from `api.pyi`.
"""

from __future__ import annotations

from importlib import import_module

_HOME = {
    "errors": """
        EmptySelection ExitCode InvalidRunError LaunchError Origin PluginError PolicyError Problem Severity
        SkillgaugeError SourceSpan StoreError SuiteError UsageError did_you_mean
    """,
    "log": """
        get_logger
    """,
    "cli.eval_document": """
        human_lines
    """,
    "cli.evaluation": """
        Evaluation EvaluationCommand configured eval_options evaluation_options
    """,
    "cli.invocation": """
        Invocation invocation
    """,
    "cli.options": """
        Globals GlobalsCommand GlobalsGroup Number SeveralWords
    """,
    "cli.output": """
        Output problem_document
    """,
    "contract.adapters": """
        Adapter CallRequest Session
    """,
    "contract.artifacts": """
        Artifact
    """,
    "contract.engines": """
        Emit Engine InstalledSkill Recorder RunRequest
    """,
    "contract.executors": """
        Executor Results RunTrial
    """,
    "contract.formats": """
        Claim Dumped LoadOption LoadRequest Loaded SuiteFormat
    """,
    "contract.hooks": """
        hookimpl
    """,
    "contract.judges": """
        Judge JudgeReply JudgeRequest
    """,
    "contract.providers": """
        Clean Fact NoOptions Provider Traits
    """,
    "contract.reporters": """
        Reporter
    """,
    "contract.sandboxes": """
        ALLOWED_ENV Command Finished ModelRoute Running Sandbox SandboxReport SandboxSpec Tier Workspace
    """,
    "contract.scorers": """
        ScoreContext Scorer
    """,
    "contract.stores": """
        Archive Claimed ResultOrder RunLog RunQuery Store
    """,
    "reading.documents": """
        Document parse_document read_document
    """,
    "reading.environment": """
        host_environment
    """,
    "reading.places": """
        locate located located_all
    """,
    "reading.validation": """
        validate
    """,
    "report.writing": """
        write_report write_whole
    """,
    "run.pipeline": """
        Outcome
    """,
    "run.redaction": """
        Redactor
    """,
    "stats.intervals": """
        wilson
    """,
    "stats.quantiles": """
        nearest_rank
    """,
    "stats.rates": """
        rate_interval
    """,
    "stats.reliability": """
        consistency pass_at_k
    """,
    "types.frozen": """
        EMPTY MAX_DEPTH Frozen FrozenDict Json JsonObject JsonValue canonical_json digest digest_text freeze thaw
    """,
    "types.result": """
        Counts Figure GivenUp GroupSummary Latency RateInterval RunInfo RunState RunView Score ScoreStatus
        SuiteValidity Summary TagSummary TrialResult Verdict
    """,
    "types.suite": """
        ALL_PASSED DIRECT NO_LIMITS Arm ArmKind Case Cases Check Comparison FileSpec LimitOutcome Limits SkillRef
        SkillRole Suite SuiteDefaults Target TargetKind VerdictMode VerdictRule
    """,
    "types.trial": """
        Blame Block EventKind Execution Failure FailureClass FileChange FiredSkill Identity PlanHead SuiteHead
        TargetHead Trajectory TrajectoryEvent Trial Usage
    """,
}
_MODULES = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = tuple(sorted(_MODULES))


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__package__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__]
