"""The subject of an evaluation: suites, cases, checks, targets and arms, as a format plugin loads them."""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field, PlainSerializer, WrapValidator

from skillgauge_documents.frozen import EMPTY, Frozen, Json, JsonObject, Numerous, digest, digest_text, once

from ..errors import Origin, Problem
from .answers import PLAIN, AnswerStyle
from .arms import DIRECT, Arm, Comparison, Install
from .gate import MORE_THAN_HALF, Gate, GateFigure, RepeatRule
from .inputs import FileSpec, HostVariable, content_ids


class Limits(Frozen):
    """Bounds of one execution; `None` leaves a bound to the next one who may set it."""

    timeout_s: float | None = Field(default=None, gt=0)
    """Wall-clock seconds of one attempt."""
    max_turns: int | None = Field(default=None, ge=1)
    """Turns of an agent."""
    output_bytes: int | None = Field(default=None, ge=1)
    """Bytes kept of each output stream; the rest is dropped and the cut is recorded."""

    @once
    def key(self) -> str:
        """The part of the limits that enters an id."""
        return f"{self.timeout_s}|{self.max_turns}|{self.output_bytes}"

    def over(self, fallback: "Limits") -> "Limits":
        """These limits, with unset ones taken from `fallback`."""
        if fallback.timeout_s is fallback.max_turns is fallback.output_bytes is None:
            return self
        if self.timeout_s is self.max_turns is self.output_bytes is None:
            return fallback
        unset = (name for name in Limits.model_fields if getattr(self, name) is None)
        return self.model_copy(update={name: getattr(fallback, name) for name in unset})


NO_LIMITS = Limits.model_construct()


class Check(Numerous):
    """One assertion of a case: which scorer decides it, and with which options."""

    id: str
    """Unique within its case."""
    scorer: str
    """Scorer name as a user types it; may be an alias or `distribution:name`."""
    options: JsonObject = EMPTY
    files: JsonObject = EMPTY
    """Options that are absolute paths of files of the suite: their names, each with a digest of the content, which
    stands for the path in every id."""
    weight: float = Field(default=1.0, ge=0)
    answer: AnswerStyle = PLAIN
    """How the format reads what was answered, for this check."""
    beside: bool = False
    """Whether it is a figure of its own, in no verdict and no rate: what only one of two compared arms can meet."""
    stage: int = Field(default=0, ge=0)
    """Checks of a stage are asked only if all of the stages before have passed: a judge after what costs nothing."""
    turn: int | None = Field(default=None, ge=0)
    """Which turn of a conversation it is about, from 0; `None`: all of it, with the last answer."""
    required: bool = False
    """Whether its case fails if it does not pass, whatever the rule. One of a turn ends the conversation then: the user
    says nothing more."""
    origin: Origin | None = None

    @once
    def digest(self) -> str:
        """Digest of everything that decides what it asserts."""
        more = list(self.answer.marks)
        if self.beside:
            more.append("beside")
        if self.stage:
            more.append(f"stage {self.stage}")
        if self.turn is not None:
            more.append(f"turn {self.turn}")
        if self.required:
            more.append("required")
        options = {**self.options, **self.files} if self.files else self.options
        return digest(self.id, self.scorer, options, self.weight, *more)

    @once
    def scorer_digest(self) -> str:
        """Digest of what its scorer is made from; checks that differ by id and weight only have the same."""
        return digest(self.scorer, self.options)


class SimulatedUser(Frozen):
    """A user of whom nobody has written down what is said."""

    check: Check
    """Asked after each answer of the agent, about the session so far. It passes when the user has nothing more to say;
    where it fails, `says` of its evidence is what the user says next."""
    turns: int = Field(default=10, ge=1)
    """The most turns of this user."""

    @property
    def digest(self) -> str:
        """Digest of everything that decides what the user says, but for the judge that is asked."""
        return digest(self.check.digest, self.turns)


class VerdictMode(StrEnum):
    """The way in which the scores of a case's checks make its verdict."""

    ALL = "all"
    """Every check passed."""
    EACH = "each"
    """The same, and the value is the weighted share of those that passed: partial credit counts for nothing."""
    MEAN = "mean"
    """The weighted mean of the values reaches the threshold."""


class VerdictRule(Frozen):
    """The rule a case's verdict follows. An ungraded check makes the verdict `error` in every mode."""

    mode: VerdictMode = VerdictMode.ALL
    threshold: float = Field(default=1.0, ge=0, le=1)
    """For `mean`: the least weighted mean that passes."""
    above: bool = False
    """For `mean`: the mean must exceed the threshold instead of reaching it."""

    @once
    def key(self) -> str:
        """The part of the rule that enters an id."""
        return f"{self.mode} {self.threshold} {self.above}"


ALL_PASSED = VerdictRule.model_construct()


class CaseFacts(Numerous):
    """The facts of a case that reports show, too."""

    id: str
    """Unique within its suite; what reports print and `--case` matches."""
    name: str = ""
    """A second name that `--case` matches, for example a file stem."""
    prompt: str | None = None
    """What an agent is asked, exactly as it is sent."""
    input: Json = None
    """What a skill under direct call receives."""
    tags: tuple[str, ...] = ()
    cluster: str = ""
    """Cases of one rise and fall together, as those of a template do; empty: it stands for itself."""
    origin: Origin | None = None

    @property
    def title(self) -> str:
        """Its name, else its id."""
        return self.name or self.id


class Case(CaseFacts):
    """One situation with input and checks."""

    description: str = ""
    arm_prompts: tuple[tuple[str, str], ...] = ()
    """Prompts of arms that are asked something else than `prompt`, by the name of the arm."""
    turns: tuple[str, ...] = ()
    """Further turns of the user in the same session, each sent when the agent has answered the one before."""
    user: SimulatedUser | None = None
    """Who goes on with the conversation after those turns."""
    files: tuple[FileSpec, ...] = ()
    """Put into the workspace before the execution, the same in every arm."""
    installs: tuple[Install, ...] = ()
    """Given to the agent in every arm, beside what the arm itself installs."""
    image_files: tuple[FileSpec, ...] = ()
    """A `Dockerfile` and what it copies: the image of the workspace, where the sandbox runs images. Empty: its own."""
    setup: tuple[str, ...] = ()
    """Shell commands run in the workspace before the execution."""
    setup_files: tuple[FileSpec, ...] = ()
    """What those commands need and the execution must not find: in the workspace while they run, and no longer."""
    grader_files: tuple[FileSpec, ...] = ()
    """Put into the workspace after the execution ended, for the checks only."""
    checks: tuple[Check, ...] = ()
    rule: VerdictRule = ALL_PASSED
    repeat_rule: RepeatRule = MORE_THAN_HALF
    """How many of its repeats have to pass."""
    runs: int | None = Field(default=None, ge=1)
    """Its repeats where the user gives no number; `None`: those of its suite."""
    targets: tuple[str, ...] = ()
    """Ids of the targets this case applies to; empty means all of the suite."""
    weight: float = Field(default=1.0, ge=0)
    limits: Limits = NO_LIMITS
    env: JsonObject = EMPTY
    """Environment variables added for this case, name to string."""
    network: bool = False
    """Whether what an agent runs may use the network."""
    skip: str = ""
    """Why it is not run; its trials are told as skipped, with this reason."""
    pass_env: tuple[HostVariable, ...] = ()
    """Variables handed on from the user's environment; their names decide what is executed, their values do not."""
    extras: JsonObject = EMPTY
    """What the file said beyond this model; kept for writing back, never executed."""

    @once
    def execution_digest(self) -> str:
        """Digest of everything that can change what an execution does; checks are not part of it."""
        parts = (self.input, self.prompt, content_ids(self.files), self.setup, self.env)
        rare = (
            self.image_files,
            self.setup_files,
            self.network,
            self.pass_env,
            self.arm_prompts,
            self.turns,
            self.user,
            self.installs,
        )
        if not any(rare):
            return digest(*parts)  # as most cases
        return digest(*parts, *self._further_parts(), *map(list, self.arm_prompts))

    def _further_parts(self) -> Iterator[list[str]]:
        """Yield what few cases have and what then decides, too, what an execution does."""
        if self.image_files:
            yield content_ids(self.image_files)
        if self.setup_files:
            yield content_ids(self.setup_files)
            yield ["setup"]
        yield from self._said()
        if self.installs:
            yield ["installs", *(install.digest for install in self.installs)]
        if self.network:
            yield ["network"]
        if self.pass_env:
            yield [digest(variable.name, variable.host, variable.default) for variable in self.pass_env]

    def _said(self) -> Iterator[list[str]]:
        """Yield what the user says after the prompt, and the checks that may keep it from being said."""
        if not self.turns and not self.user:
            return
        if self.turns:
            yield ["turns", *self.turns]
        required = [f"required {check.digest}" for check in self.checks if check.required and check.turn is not None]
        if self.turns or required:
            yield required
        if self.user:
            yield [f"user {self.user.digest}"]

    def work(self, limits: Limits, repeat: int) -> str:
        """Return the part of an execution's ids that depends on the case alone, whatever executes it."""
        return f"{self.execution_digest}|{limits.key}|{repeat}"

    @once
    def checks_digest(self) -> str:
        """Digest of everything that can change how an execution is graded."""
        graded = [self.rule.key, *[check.digest for check in self.checks], "files"]
        graded += content_ids(self.grader_files)
        if self.skip:
            graded += ["skip", self.skip]
        return digest_text("|".join(graded))


class TargetKind(StrEnum):
    """The kind of thing under test."""

    SKILL = "skill"
    HOOK = "hook"
    AGENT = "agent"
    COMMAND = "command"


class TargetHead(Frozen):
    """The facts of a target that a report needs."""

    id: str
    """Unique within its suite."""
    name: str = ""
    version: str | None = None
    adapter: str | None = None
    """Name of the adapter that calls it directly; `None` if only an agent can use it."""
    digest: str = ""
    """Digest of its definition and code; part of every execution id."""
    tags: tuple[str, ...] = ()


class Target(TargetHead):
    """The thing under test: a skill, a hook, an agent."""

    description: str = ""
    kind: TargetKind = TargetKind.SKILL
    entrypoint: str | None = None
    root: str | None = None
    """Absolute path of its folder."""
    config: JsonObject = EMPTY
    """Settings for the adapter, checked by it in `check_target`."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables it may see beyond the allow list."""
    metadata: JsonObject = EMPTY
    limits: Limits = NO_LIMITS
    """Its own limits, where neither a case nor the user sets one."""
    origin: Origin | None = None
    origins: tuple[tuple[str, Origin], ...] = ()
    """Where single fields come from (`adapter`, `entrypoint`, `config`), as far as it is not `origin`."""

    def origin_of(self, field: str) -> Origin | None:
        """Return the place that a field comes from, for a problem about it."""
        return dict(self.origins).get(field, self.origin)


class LimitOutcome(StrEnum):
    """The meaning of an agent that ran out of time or turns; the format decides."""

    FAIL = "fail"
    ERROR = "error"
    GRADED = "graded"
    """Its checks decide, on what it left."""


class SuiteDefaults(Frozen):
    """The wishes of a suite where the user sets nothing."""

    engine: str | None = None
    model: str | None = None
    judge: str | None = None
    judge_model: str | None = None
    limits: Limits = NO_LIMITS
    runs: int | None = Field(default=None, ge=1)
    """Repeats of each case that has no number of its own."""
    baseline: bool = True
    """Whether the arms that are only baselines run, too."""
    cache_baseline: bool = False
    """Whether their sessions may be answered from earlier runs."""
    engine_options: tuple[tuple[str, JsonObject], ...] = ()
    """Options of an engine for this suite, by its name, where the configuration sets none. A format writes them itself
    and takes none from a file, since an option can name a program or an address."""


def _cases(value: object, validate_tuple: Callable[[object], Iterable[Case]]) -> Iterable[Case]:
    if isinstance(value, list | tuple):
        return validate_tuple(value)
    if isinstance(value, Iterator) or not isinstance(value, Iterable):
        raise ValueError("cases must be iterable, and more than once")
    return value


def _as_json(cases: Iterable[Case]) -> list[JsonObject]:
    return [case.model_dump(mode="json") for case in cases]


if TYPE_CHECKING:
    Cases: TypeAlias = Iterable[Case]
else:
    Cases = Annotated[tuple[Case, ...], WrapValidator(_cases), PlainSerializer(_as_json)]
"""Any re-iterable source of cases: a tuple, or an object that makes them one by one."""


class SuiteFacts(Frozen):
    """The facts of a suite that reports show, too."""

    id: str
    name: str = ""
    version: str | None = None
    format: str
    """Name of the format plugin that loaded it."""
    dialect: str = ""
    root: str
    """Absolute path of the folder or file that was named."""
    digest: str = ""
    """Digest of the source files."""
    comparisons: tuple[Comparison, ...] = ()
    document: str | None = None
    """Reporter that writes this format's own result document, into `report_folder` unless the user names a place."""
    report_folder: str | None = None
    gates: tuple[Gate, ...] = ()
    """What fails the run although the user gave no gate."""
    completion: str = GateFigure.PASS_RATE
    """Name of the figure that is the completion rate, for the user's own gate."""
    parameters: JsonObject = EMPTY
    """Figures of the format's own arithmetic, for its `figures` and its document."""

    @once
    def mere_baselines(self) -> frozenset[str]:
        """The arms that others are compared with and that are compared with none."""
        candidates = (pair.candidate for pair in self.comparisons)
        return frozenset(pair.baseline for pair in self.comparisons).difference(candidates)


class Suite(SuiteFacts):
    """The cases, checks and defaults loaded from one source, with the targets they apply to."""

    description: str = ""
    cases: Cases = ()
    targets: tuple[Target, ...] = ()
    arms: tuple[Arm, ...] = (DIRECT,)
    defaults: SuiteDefaults = SuiteDefaults.model_construct()
    on_agent_limit: LimitOutcome = LimitOutcome.FAIL
    extras: JsonObject = EMPTY
    may_be_empty: Annotated[bool, Field(exclude=True)] = False
    """Whether it is no mistake that there is no case: then a run of nothing ends well, unless cases were asked for."""
    warnings: Annotated[tuple[Problem, ...], Field(exclude=True)] = ()
    """What the format wants the user to know; nothing stops because of it."""
    origin: Origin | None = None
