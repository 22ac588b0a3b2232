"""The names of `skillgauge.api`, for type checkers and editors; a test compares them with what the module finds."""

# ruff: noqa: I001
from ..errors import (
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
from ..log import (
    get_logger as get_logger,
    without_secrets as without_secrets,
)
from ..contract.adapters import (
    Adapter as Adapter,
    CallRequest as CallRequest,
    Session as Session,
)
from ..contract.engines import (
    Emit as Emit,
    Engine as Engine,
    FoundSession as FoundSession,
    InstalledSkill as InstalledSkill,
    RunRequest as RunRequest,
    SessionReader as SessionReader,
)
from ..contract.executors import (
    Executor as Executor,
    Keeper as Keeper,
    PortableRunTrial as PortableRunTrial,
    Results as Results,
    RunFiles as RunFiles,
    RunTrial as RunTrial,
)
from ..contract.format_parts import (
    format_of as format_of,
)
from ..contract.formats import (
    Claim as Claim,
    Dumped as Dumped,
    LoadOption as LoadOption,
    LoadRequest as LoadRequest,
    Loaded as Loaded,
    FormatWithFolders as FormatWithFolders,
    FormatWithHeadlines as FormatWithHeadlines,
    SuiteFormat as SuiteFormat,
)
from ..contract.judges import (
    Judge as Judge,
    JudgeReply as JudgeReply,
    JudgeRequest as JudgeRequest,
)
from ..contract.providers import (
    HARMLESS as HARMLESS,
    MACHINE_PLACE as MACHINE_PLACE,
    RUN_PLACE as RUN_PLACE,
    Fact as Fact,
    NoOptions as NoOptions,
    Peers as Peers,
    Provider as Provider,
    Traits as Traits,
    hookimpl as hookimpl,
)
from ..contract.redirects import (
    Redirect as Redirect,
)
from ..contract.reporters import (
    Artifact as Artifact,
)
from ..contract.sandboxes import (
    ALLOWED_ENV as ALLOWED_ENV,
    Command as Command,
    Finished as Finished,
    ImagePlan as ImagePlan,
    ImageSandbox as ImageSandbox,
    ModelRoute as ModelRoute,
    NoRoomError as NoRoomError,
    PackedFile as PackedFile,
    PackedKind as PackedKind,
    PackingWorkspace as PackingWorkspace,
    Running as Running,
    Sandbox as Sandbox,
    SandboxReport as SandboxReport,
    SandboxSpec as SandboxSpec,
    SpoiledError as SpoiledError,
    Tier as Tier,
    Workspace as Workspace,
)
from ..contract.scorers import (
    ScoreContext as ScoreContext,
    Scorer as Scorer,
)
from ..contract.shared_options import (
    Shared as Shared,
)
from ..contract.stores import (
    BudgetingStore as BudgetingStore,
    Archive as Archive,
    Claimed as Claimed,
    KeepingLog as KeepingLog,
    LimitingStore as LimitingStore,
    NotedStore as NotedStore,
    RunLog as RunLog,
    RunNotes as RunNotes,
    RunQuery as RunQuery,
    Store as Store,
    TrialNotedStore as TrialNotedStore,
    TrialNotes as TrialNotes,
)
from ..config.documents import (
    Document as Document,
    locate as locate,
    located_all as located_all,
    parse_document as parse_document,
    read_document as read_document,
)
from ..environment import (
    host_environment as host_environment,
    keep_secret as keep_secret,
    secret as secret,
)
from skillgauge_documents.frozen import (
    Frozen as Frozen,
    Json as Json,
    JsonObject as JsonObject,
)
from ..types.plan import (
    Plan as Plan,
)
from ..types.inputs import (
    FileSpec as FileSpec,
    HostVariable as HostVariable,
)
from ..types.gate import (
    RepeatRule as RepeatRule,
)
from ..types.kept import (
    KeptExecution as KeptExecution,
    KeptFile as KeptFile,
)
from ..report.progress import (
    Followed as Followed,
    Parted as Parted,
    UnderWay as UnderWay,
)
from ..types.results.runs import (
    Kept as Kept,
    ResultOrder as ResultOrder,
)
from ..types.results.trials import (
    GivenUp as GivenUp,
    TrialResult as TrialResult,
    Unfinished as Unfinished,
    Verdict as Verdict,
)
from ..types.score import (
    Score as Score,
    ScoreStatus as ScoreStatus,
)
from ..types.arms import (
    DIRECT as DIRECT,
    Arm as Arm,
    ArmKind as ArmKind,
    Comparison as Comparison,
    Install as Install,
    SkillRef as SkillRef,
    SkillRole as SkillRole,
)
from ..types.suite import (
    ALL_PASSED as ALL_PASSED,
    NO_LIMITS as NO_LIMITS,
    Case as Case,
    Check as Check,
    LimitOutcome as LimitOutcome,
    Limits as Limits,
    SimulatedUser as SimulatedUser,
    Suite as Suite,
    SuiteDefaults as SuiteDefaults,
    Target as Target,
    TargetHead as TargetHead,
    TargetKind as TargetKind,
    VerdictMode as VerdictMode,
    VerdictRule as VerdictRule,
)
from ..types.trajectory import (
    Block as Block,
    EventKind as EventKind,
    FiredSkill as FiredSkill,
    RefusedSkill as RefusedSkill,
    Trajectory as Trajectory,
    TrajectoryEvent as TrajectoryEvent,
)
from ..types.trial import (
    LONGEST_PAUSE_S as LONGEST_PAUSE_S,
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
)
from ..types.usage import (
    BudgetPeriod as BudgetPeriod,
    BudgetShare as BudgetShare,
    BudgetStanding as BudgetStanding,
    ServiceShare as ServiceShare,
    ServiceStanding as ServiceStanding,
    SharedBudget as SharedBudget,
    SharedService as SharedService,
    Usage as Usage,
)
from skillgauge_documents import (
    EMPTY as EMPTY,
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
)
from skillgauge_documents.redaction import (
    Redactor as Redactor,
)
