"""What `skillgauge.api` holds, for type checkers and editors; a test compares it with what the module finds."""

# ruff: noqa: I001
from .errors import (
    EmptySelection as EmptySelection,
    ExitCode as ExitCode,
    LaunchError as LaunchError,
    Origin as Origin,
    PluginError as PluginError,
    PolicyError as PolicyError,
    Problem as Problem,
    Severity as Severity,
    SkillgaugeError as SkillgaugeError,
    SourceSpan as SourceSpan,
    StoreError as StoreError,
    SuiteError as SuiteError,
    UsageError as UsageError,
    did_you_mean as did_you_mean,
)
from .log import (
    get_logger as get_logger,
    without_secrets as without_secrets,
)
from .evaluation.stored import (
    baseline_file as baseline_file,
    baseline_files as baseline_files,
    cache_folder as cache_folder,
    find_run as find_run,
    opened_store as opened_store,
    run_reports as run_reports,
    store_place as store_place,
    tell_foreign as tell_foreign,
)
from .decide.against import (
    why_unusable as why_unusable,
)
from .evaluation.eval_document import (
    human_lines as human_lines,
)
from .decide.failing import (
    case_name as case_name,
    differing as differing,
    passed_text as passed_text,
)
from .evaluation.conclusion import (
    conclude as conclude,
)
from .decide.decision import (
    judge_notes as judge_notes,
    run_notes as run_notes,
    score_text as score_text,
)
from .evaluation.evaluation import (
    EndedRun as EndedRun,
    Evaluation as Evaluation,
)
from .evaluation.options import (
    Asked as Asked,
    eval_options as eval_options,
)
from .evaluation.arguments import (
    configured as configured,
)
from .cli.evaluation_options import (
    EvaluationCommand as EvaluationCommand,
    Number as Number,
    evaluation_options as evaluation_options,
)
from .types.judged_gates import (
    JUDGED as JUDGED,
)
from .evaluation.invocation import (
    Invocation as Invocation,
    invocation as invocation,
)
from .decide.leaderboard import (
    Board as Board,
    Standing as Standing,
    boards as boards,
)
from .evaluation.linting import (
    Fix as Fix,
    Lint as Lint,
    LintFinding as LintFinding,
    LintSubject as LintSubject,
)
from .config.global_options import (
    Globals as Globals,
)
from .cli.options import (
    GlobalsCommand as GlobalsCommand,
    GlobalsGroup as GlobalsGroup,
    SeveralWords as SeveralWords,
)
from .terminal.output import (
    Output as Output,
    problem_document as problem_document,
)
from .evaluation.preparation import (
    worker as worker,
)
from .contract.adapters import (
    Adapter as Adapter,
    CallRequest as CallRequest,
    Session as Session,
)
from .contract.engines import (
    Emit as Emit,
    Engine as Engine,
    InstalledSkill as InstalledSkill,
    Recorder as Recorder,
    RunRequest as RunRequest,
    SessionCache as SessionCache,
)
from .contract.executors import (
    Executor as Executor,
    PortableRunTrial as PortableRunTrial,
    Results as Results,
    RunTrial as RunTrial,
)
from .contract.format_parts import (
    format_of as format_of,
)
from .contract.formats import (
    Claim as Claim,
    Dumped as Dumped,
    LoadOption as LoadOption,
    LoadRequest as LoadRequest,
    Loaded as Loaded,
    SuiteFormat as SuiteFormat,
)
from .contract.judges import (
    Judge as Judge,
    JudgeReply as JudgeReply,
    JudgeRequest as JudgeRequest,
)
from .contract.providers import (
    HARMLESS as HARMLESS,
    Clean as Clean,
    Fact as Fact,
    NoOptions as NoOptions,
    Peers as Peers,
    Provider as Provider,
    Traits as Traits,
    hookimpl as hookimpl,
)
from .contract.redirects import (
    Redirect as Redirect,
)
from .contract.reporters import (
    Artifact as Artifact,
    Reporter as Reporter,
)
from .contract.sandboxes import (
    ALLOWED_ENV as ALLOWED_ENV,
    Command as Command,
    Finished as Finished,
    ImagePlan as ImagePlan,
    ImageSandbox as ImageSandbox,
    ModelRoute as ModelRoute,
    NoRoomError as NoRoomError,
    Running as Running,
    Sandbox as Sandbox,
    SandboxReport as SandboxReport,
    SandboxSpec as SandboxSpec,
    SpoiledError as SpoiledError,
    Tier as Tier,
    Workspace as Workspace,
)
from .contract.scorers import (
    ScoreContext as ScoreContext,
    Scorer as Scorer,
)
from .contract.shared_options import (
    Shared as Shared,
)
from .contract.stores import (
    Archive as Archive,
    Claimed as Claimed,
    RunLog as RunLog,
    RunQuery as RunQuery,
    Store as Store,
)
from .config.documents import (
    Document as Document,
    locate as locate,
    located_all as located_all,
    parse_document as parse_document,
    read_document as read_document,
)
from .run.stored_run import (
    why_foreign as why_foreign,
    why_summary_foreign as why_summary_foreign,
)
from .environment import (
    host_environment as host_environment,
    keep_secret as keep_secret,
    secret as secret,
)
from .report.wording import (
    figure_text as figure_text,
    headline as headline,
    interval_text as interval_text,
    labels as labels,
    rate_notes as rate_notes,
    reason_of as reason_of,
    table_texts as table_texts,
)
from .report.summary import (
    summarize as summarize,
)
from .report.answer import (
    compared as compared,
    lift_interval_text as lift_interval_text,
    sentences as sentences,
)
from .decide.case_by_case import (
    CaseReport as CaseReport,
    case_by_case as case_by_case,
)
from .evaluation.reports import (
    write_report as write_report,
)
from .config.whole_files import (
    write_whole as write_whole,
)
from .run.executor import (
    LocalExecutor as LocalExecutor,
)
from .stats.calibration import (
    MIN_KAPPA as MIN_KAPPA,
    MIN_LABELS as MIN_LABELS,
    Labelled as Labelled,
    agreement as agreement,
    cohens_kappa as cohens_kappa,
    corrected_interval as corrected_interval,
    corrected_rate as corrected_rate,
    gwets_ac1 as gwets_ac1,
    sensitivity as sensitivity,
    specificity as specificity,
)
from .stats.intervals import (
    Interval as Interval,
    wilson as wilson,
)
from .plugins.index import (
    install_hint as install_hint,
)
from .stats.paired import (
    PairedDifference as PairedDifference,
    Spread as Spread,
)
from .stats.lift import (
    LIFT_LEVEL as LIFT_LEVEL,
    MIN_NEW_CASES as MIN_NEW_CASES,
    Evidence as Evidence,
    Finding as Finding,
    lift_interval as lift_interval,
)
from .stats.repeats import (
    Repeats as Repeats,
    least_change as least_change,
)
from .stats.exact import (
    attainable_size as attainable_size,
    chance_of_difference as chance_of_difference,
    chance_of_worse as chance_of_worse,
)
from .stats.quantiles import (
    Latency as Latency,
    nearest_rank as nearest_rank,
)
from .stats.rates import (
    RateInterval as RateInterval,
    rate_interval as rate_interval,
)
from .stats.reliability import (
    Reliability as Reliability,
    consistency as consistency,
    flip_rate as flip_rate,
    pass_at_k as pass_at_k,
    pass_hat_k as pass_hat_k,
)
from .stats.several import (
    holm as holm,
    level_of_look as level_of_look,
)
from .types.answers import (
    Answer as Answer,
    AnswerStyle as AnswerStyle,
)
from .types.comparison import (
    CasePair as CasePair,
    CaseSummary as CaseSummary,
    Counts as Counts,
    Dropped as Dropped,
    DroppedCounts as DroppedCounts,
    GroupKey as GroupKey,
    Outcome as Outcome,
    OutcomeCounts as OutcomeCounts,
    PairSummary as PairSummary,
)
from skillgauge_documents.frozen import (
    Frozen as Frozen,
    Json as Json,
    JsonObject as JsonObject,
)
from .types.gate import (
    Gate as Gate,
    GateFigure as GateFigure,
    GateScope as GateScope,
    Quarantined as Quarantined,
)
from .types.plan import (
    Plan as Plan,
)
from .types.inputs import (
    FileSpec as FileSpec,
    HostVariable as HostVariable,
)
from .types.result import (
    Figure as Figure,
    GivenUp as GivenUp,
    GroupSummary as GroupSummary,
    Kept as Kept,
    ResultOrder as ResultOrder,
    RunInfo as RunInfo,
    RunSource as RunSource,
    RunState as RunState,
    RunView as RunView,
    Spending as Spending,
    SuiteSummary as SuiteSummary,
    SuiteValidity as SuiteValidity,
    Summary as Summary,
    Table as Table,
    TagSummary as TagSummary,
    TrialResult as TrialResult,
    Unfinished as Unfinished,
    Verdict as Verdict,
    case_order as case_order,
)
from .types.score import (
    Score as Score,
    ScoreStatus as ScoreStatus,
)
from .types.suite import (
    ALL_PASSED as ALL_PASSED,
    DIRECT as DIRECT,
    NO_LIMITS as NO_LIMITS,
    Arm as Arm,
    ArmKind as ArmKind,
    Case as Case,
    Cases as Cases,
    Check as Check,
    Comparison as Comparison,
    Install as Install,
    LimitOutcome as LimitOutcome,
    Limits as Limits,
    SkillRef as SkillRef,
    SkillRole as SkillRole,
    Suite as Suite,
    SuiteDefaults as SuiteDefaults,
    Target as Target,
    TargetHead as TargetHead,
    TargetKind as TargetKind,
    VerdictMode as VerdictMode,
    VerdictRule as VerdictRule,
)
from .types.trajectory import (
    Block as Block,
    EventKind as EventKind,
    FiredSkill as FiredSkill,
    RefusedSkill as RefusedSkill,
    Trajectory as Trajectory,
    TrajectoryEvent as TrajectoryEvent,
)
from .types.trial import (
    Blame as Blame,
    CaseHead as CaseHead,
    Execution as Execution,
    Failure as Failure,
    FailureClass as FailureClass,
    FileChange as FileChange,
    Identity as Identity,
    PlanHead as PlanHead,
    RunOrigin as RunOrigin,
    SuiteHead as SuiteHead,
    Trial as Trial,
    Usage as Usage,
)
from skillgauge_documents import (
    EMPTY as EMPTY,
    MAX_DEPTH as MAX_DEPTH,
    FrozenDict as FrozenDict,
    JsonValue as JsonValue,
    TextStyle as TextStyle,
    freeze as freeze,
    text_of as text_of,
    thaw as thaw,
)
from skillgauge_documents.characters import (
    LINE as LINE,
    cut as cut,
    json_text as json_text,
    plain as plain,
    plain_lines as plain_lines,
    printed as printed,
)
from skillgauge_documents.digests import (
    canonical_json as canonical_json,
    digest as digest,
    digest_text as digest_text,
)
from skillgauge_documents.phrases import (
    UNKNOWN as UNKNOWN,
    chance_text as chance_text,
    counted as counted,
    decimal as decimal,
    duration as duration,
    listed as listed,
    milliseconds as milliseconds,
    moment as moment,
    percent as percent,
    points as points,
)
from skillgauge_documents.redaction import (
    Redactor as Redactor,
)
