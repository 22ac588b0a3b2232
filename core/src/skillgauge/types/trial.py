"""Plan, trial and execution: the work and the events."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from skillgauge_documents.frozen import EMPTY, Frozen, FrozenDict, Json, JsonObject, digest, digest_text, once

from .answers import PLAIN, Answer, AnswerStyle
from .arms import Arm, Comparison, GroupKey, Install
from .gate import Gate, GateFigure, Quarantined
from .inputs import content_ids
from .signature import Signature
from .suite import Case, CaseFacts, Limits, SuiteFacts, Target, TargetHead
from .trajectory import Trajectory, TurnFacts
from .usage import Usage


class Identity(Frozen):
    """The exact identity of an adapter, engine or judge, as far as results depend on it."""

    name: str
    version: str | None = None
    settings: JsonObject = EMPTY
    model: str | None = None
    """For an engine: the model that its sessions ask for, if it knows; part of no digest of its own."""
    service: str | None = None
    """For an engine or a judge: base URL of what it asks, so that all who ask the same host share its limits; part of
    no digest of its own. `None` stands for a service of its own."""
    complete: bool = True
    """False if something that could change the outcome is not covered: a remote service, for example."""

    @once
    def digest(self) -> str:
        """Digest over name, version and settings."""
        return digest(self.name, self.version, self.settings)

    @once
    def unversioned_digest(self) -> str:
        """Digest over name and settings only, for cassettes, which outlive a version."""
        return digest(self.name, self.settings)


class TrialFacts(Frozen):
    """The facts of a trial that its result shows, too."""

    trial_id: str
    """Unique within the plan; the key of the ledger."""
    execution_id: str
    """What is executed, checks excluded: equal ids mean the same work."""
    ordinal: int
    """Position in the plan, from 0."""
    suite_id: str
    case_index: int
    """Position of the case in its suite, from 0."""
    model: str | None = None
    repeat: int = Field(ge=1)


class Trial(TrialFacts):
    """One execution of one case in one arm: self-contained, so that any executor can run it anywhere."""

    case: Case
    target: Target | None = None
    arm: Arm
    runner: Identity
    """The adapter or engine that executes."""
    seed: int
    limits: Limits
    paid: bool = False
    """Whether an attempt costs money, so that the ledger syncs it singly."""

    @property
    def target_id(self) -> str | None:
        """Id of its target, if it has one."""
        return self.target.id if self.target else None

    @property
    def target_digest(self) -> str | None:
        """Digest of its target, if it has one."""
        return self.target.digest if self.target else None

    @property
    def group(self) -> GroupKey:
        """The group that its result is in."""
        return GroupKey(self.suite_id, self.target_id, self.arm.name, self.runner.name, self.model)

    @property
    def installs(self) -> tuple[Install, ...]:
        """Everything beside skills that its agent is given, by its arm and by its case."""
        own = {(one.kind, one.name): one for one in self.case.installs if one.replaces}
        of_arm = (own.get((one.kind, one.name), one) for one in self.arm.installs)
        return (*of_arm, *(one for one in self.case.installs if not one.replaces))

    @once
    def cassette_key(self) -> str:
        """`execution_id` without the engine's version: what recordings are found by, which few trials ask for."""
        parts = self.arm.digest, self.target_digest or "", self.model, self.runner.unversioned_digest
        return digest_text(f"{digest(*parts)}|{self.case.work(self.limits, self.repeat)}")

    @once
    def recipe(self) -> JsonObject:
        """The parts that decide the execution, each as a digest, to show what changed between two that differ."""
        case = self.case
        said = [case.prompt, *case.arm_prompts, *case.turns]
        if case.user:
            said.append(case.user.digest)
        image = None
        if case.image_files:
            image = digest(content_ids(case.image_files))
        return FrozenDict(
            {
                "suite": self.suite_id,
                "case": case.id,
                "arm": self.arm.name,
                "repeat": self.repeat,
                "engine": self.runner.name,
                "model": self.model,
                "prompt": digest(*said),
                "input": digest(case.input),
                "files": digest(content_ids(case.files)),
                "image": image,
                "setup": digest(case.setup, *content_ids(case.setup_files)),
                "environment": digest(case.env, *(one.model_dump() for one in case.pass_env)),
                "network": case.network or None,
                "installs": {f"{one.kind} {one.name}": one.digest for one in self.installs} or None,
                "skills": {skill.name: digest(skill.digest, skill.leaves_out) for skill in self.arm.skills},
                "target": self.target_digest,
                "engine settings": self.runner.unversioned_digest,
                "limits": digest(self.limits.model_dump(mode="json")),
            }
        )


class CaseHead(CaseFacts):
    """The facts of a case that a report needs."""

    suite_id: str
    index: int
    """Position in its suite, from 0."""
    digest: str = ""
    """Digest of all that decides what is done and how it is graded. Empty in documents that do not tell."""
    executes: str = ""
    """The same of what is done, however it is graded."""
    signature: Signature = ""
    """See `TrialResult.signature`."""

    @classmethod
    def of(cls, trial: Trial) -> Self:
        """The head of a trial's case."""
        case = trial.case
        executes, facts = case.execution_digest, case.told(CaseFacts)
        content = digest_text(f'["{executes}","{case.checks_digest}"]')  # as `digest` has it, in a third of the time
        return cls.of_known(suite_id=trial.suite_id, index=trial.case_index, digest=content, executes=executes, **facts)


class SuiteHead(SuiteFacts):
    """The facts of a suite that a report needs; the cases stay in their source."""

    content_digest: str
    """Digest over all cases, checks, targets and arms as planned."""
    case_count: int
    """Cases that were selected."""
    trial_count: int | None = None
    """Trials of this suite in the plan; `None` in documents that do not tell."""
    runs: int = Field(default=1, ge=1)
    """Repeats of each of its cases; where they differ, the most."""
    fewest_runs: int | None = None
    """Repeats of the case that has the fewest, where cases differ."""
    until_decided: bool = False
    """Whether it stops as soon as its comparisons are decided, or can hardly be any more; `runs` are then the most."""
    looks: tuple[int, ...] = ()
    """Repeats of each case that there were at each earlier look at the results, fewest first; empty in a run that adds
    to no other."""
    targets: tuple[TargetHead, ...]
    arms: tuple[str, ...]
    arm_digests: tuple[str, ...] = ()
    """Of each arm, in the same order, the digest of its skills and of all else that it installs; empty in documents
    that do not tell."""
    case_weights: bool = False
    """Whether any case has a weight other than 1."""
    quarantined: tuple[Quarantined, ...] = ()
    timeout_s: float | None = None
    """Time limit of a trial whose case has none of its own, if all targets have the same."""

    @model_validator(mode="before")
    @classmethod
    def _as_before_1_1(cls, values: Any) -> Any:
        """Version 1.0 had one comparison at most, as two fields, and one gate of a suite's own, as a flag."""
        if not isinstance(values, dict) or not {"candidate", "baseline", "fails_run"} & values.keys():
            return values
        values = dict(values)
        pair = {name: values.pop(name, None) for name in ("candidate", "baseline")}
        gates = (Gate(figure=GateFigure.FAILED, threshold=0),) if values.pop("fails_run", False) else ()
        return {"comparisons": (pair,) if all(pair.values()) else (), "gates": gates, **values}

    @property
    def compared(self) -> tuple[Comparison, ...]:
        """The comparisons whose two arms are both run."""
        return tuple(one for one in self.comparisons if {one.candidate, one.baseline} <= {*self.arms})

    def quarantine_of(self, case_id: str) -> Quarantined | None:
        """Return the entry by which a case gates nothing, if there is one."""
        return next((entry for entry in self.quarantined if entry.case == case_id), None)

    def is_baseline(self, arm: str) -> bool:
        """Tell whether an arm only serves to compare others with it."""
        return arm in self.mere_baselines


class RunOrigin(Frozen):
    """The run that another one was made from, the first of several, or none; and what was done with it."""

    run_id: str
    """Empty if it was made from no run, but from sessions that others began."""
    change: str
    """A sentence without its full stop."""
    chosen: bool = False
    """Whether only some cases were run again, chosen after their results were known, or nobody knows how its sessions
    were chosen. Such cases stand for no others, so the run has no interval, finding or gate."""
    joined: tuple[str, ...] = ()
    """Ids of the runs that were joined, the earliest first; empty if it was made from a single one."""


class PlanHead(Frozen):
    """The plan without its trials, which stream."""

    schema_version: str = "1.2"
    plan_id: str
    """Digest of everything that decides what would run and how it is graded; equal ids can be resumed."""
    suites: tuple[SuiteHead, ...]
    trial_count: int
    runs: int = Field(ge=1)
    """Repeats of every case; where suites or cases differ, the most."""
    seed: int
    runners: tuple[Identity, ...] = ()
    models: tuple[str, ...] = ()
    judges: tuple[Identity, ...] = ()
    """Who grades what needs a judge, if anything does."""
    provenance: JsonObject = EMPTY
    """Version of every distribution that takes part, and the digest of the judges' identities."""
    origin: RunOrigin | None = None
    signer: Signature = ""
    """Names the key that the run's results are signed with, in a store; empty elsewhere. A store resumes a run only for
    the same plan and signer."""

    @once
    def suites_by_id(self) -> dict[str, SuiteHead]:
        """The suites, by their ids."""
        return {suite.id: suite for suite in self.suites}

    @property
    def fewest_runs(self) -> int:
        """Repeats of the case that has the fewest."""
        return min((suite.fewest_runs or suite.runs for suite in self.suites), default=self.runs)

    @property
    def until_decided(self) -> bool:
        """True if it may end before all of its trials were run, once its comparisons are decided."""
        return any(suite.until_decided for suite in self.suites)

    @property
    def is_chosen(self) -> bool:
        """True if its cases were chosen for their results, so that no interval, finding or gate can rest on them."""
        return self.origin is not None and self.origin.chosen


class FailureClass(StrEnum):
    """The reason why an execution did not come to its end. Closed: a new member is a new major schema version."""

    TIMEOUT = "timeout"
    CRASH = "crash"
    PROTOCOL = "protocol"
    REJECTED = "rejected"
    """The target answered that it could not do it."""
    NETWORK = "network"
    AUTH = "auth"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER = "server"
    BAD_REQUEST = "bad_request"
    MODEL_NOT_FOUND = "model_not_found"
    CONTEXT_TOO_LONG = "context_too_long"
    REFUSED = "refused"
    MAX_TURNS = "max_turns"
    BUDGET = "budget"
    LAUNCH = "launch"
    SANDBOX = "sandbox"
    SETUP = "setup"
    KILLED = "killed"
    ARM_INTEGRITY = "arm_integrity"
    INTERNAL = "internal"


class Blame(StrEnum):
    """The party whose failure it is."""

    TARGET = "target"
    """The thing under test: the trial fails."""
    INFRASTRUCTURE = "infrastructure"
    """Anything else: the trial is an error and enters no rate."""
    AGENT_LIMIT = "agent_limit"
    """An agent ran out of time or turns: the suite's format decides."""


LONGEST_PAUSE_S = 300.0
"""A service that asks for a longer pause is not asked again in this run."""


class Failure(Frozen):
    """The reason why an execution failed, and whether another attempt could help."""

    failure_class: FailureClass
    blame: Blame
    message: str
    retryable: bool = False
    retry_after_s: float | None = None

    @classmethod
    def of_agent(cls, failure_class: FailureClass, message: str, *, retry_after_s: float | None = None) -> Self:
        """Make the failure of a session that did not come to its end, with the blame and the prospects of its class."""
        retryable = failure_class in _PASSING
        if not retryable:
            retry_after_s = None
        return cls(
            failure_class=failure_class,
            blame=_BLAME.get(failure_class, Blame.INFRASTRUCTURE),
            message=message,
            retryable=retryable,
            retry_after_s=retry_after_s,
        )

    @classmethod
    def of_spoiling(cls, message: str) -> Self:
        """Make the failure of an agent that spoilt the place where it was to be graded."""
        return cls(failure_class=FailureClass.SANDBOX, blame=Blame.TARGET, message=message)


_BLAME = {FailureClass.TIMEOUT: Blame.AGENT_LIMIT, FailureClass.MAX_TURNS: Blame.AGENT_LIMIT}
_PASSING = frozenset({FailureClass.NETWORK, FailureClass.RATE_LIMITED, FailureClass.OVERLOADED, FailureClass.SERVER})


class FileChange(Frozen):
    """A file that differs from what was in the workspace at launch."""

    path: str
    change: Literal["created", "modified", "deleted"]
    digest: str | None = None
    was: str | None = None
    """What it held at launch, if that was kept."""
    text: str | None = None
    """What it holds now, if that was kept."""
    left_out: str = ""
    """Why one of them was not: `binary`, `too large`, by itself or beside the others, `too many` files, or
    `unreadable`."""


class Execution(Frozen):
    """The events of one trial: facts only; whether they are good is a matter of the scores."""

    output: Json = None
    """The answer of a direct call."""
    text: str | None = None
    """The final answer of an agent, or the answer as text."""
    answers: tuple[str | None, ...] = ()
    """The answer to each turn of a conversation; empty for a session with one turn."""
    turn_facts: tuple[TurnFacts, ...] = ()
    """The same of what else is known of each turn; empty also in recordings of before."""
    user_usage: Usage | None = None
    """What a user that a model plays has used, in no other usage."""
    exit_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None
    truncated: bool = False
    """Whether an output stream was cut at its limit."""
    trajectory: Trajectory | None = None
    files: tuple[FileChange, ...] = ()
    usage: Usage | None = None
    duration_s: float | None = None
    """Wall-clock seconds of the attempt that counts, its failure included; `None` if nothing was started."""
    failure: Failure | None = None
    sandbox: str | None = None
    """Sandbox and tier it ran in, for example `local/none`; each sandbox is a plugin, so there is no closed list."""
    arm_integrity: str | None = None
    """For agents: `verified` if the skills of the arm, and no other under test, were offered and none was refused; else
    a sentence that says why that is unknown or wrong. It names skills and repeats words of the engine, so there is no
    closed list of them."""
    replayed: bool = False
    """Whether it is a recording, so that its time and cost are not this run's."""
    notes: tuple[str, ...] = ()
    """What a reader should know: a grandchild was left behind, noise was skipped, ..."""

    def answer(self, style: AnswerStyle = PLAIN) -> Answer:
        """The answer as a format reads it: the output of a direct call, else the final text of an agent."""
        value = self.text if self.output is None else self.output
        if style.keys and isinstance(value, Mapping):
            value = next((value[key] for key in style.keys if key in value), value)
        return Answer(value, style.text)
