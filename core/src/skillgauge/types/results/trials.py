"""The results of trials."""

from enum import StrEnum

from pydantic import Field

from skillgauge_documents.frozen import Frozen

from ..arms import GroupKey
from ..gate import MORE_THAN_HALF, RepeatRule
from ..score import Score
from ..signature import Signature
from ..trial import Execution, Failure, TrialFacts
from ..usage import Usage


class Verdict(StrEnum):
    """The end of one trial."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    """Infrastructure failed or a check is ungraded; in no rate of ours."""
    SKIPPED = "skipped"


class GivenUp(Frozen):
    """An attempt that failed and was made again, or that the end of a run cut off."""

    failure: Failure
    usage: Usage | None = None
    """What it used, as far as it is known; a budget counts it."""
    wait_s: float = Field(ge=0)
    """Seconds that its trial waited after it; the service may have held it back for longer."""
    judges: tuple[Usage | None, ...] = ()
    """What each call of a judge used for it; `None` for a call that had not ended."""
    has_session: bool = True
    """False if it asked judges and no agent, so that `usage` stands for nothing."""
    is_cut_off: bool = False
    """Whether a stop, a crash or a kill of the run ended it, so that its usage is what was known until then."""

    @property
    def usages(self) -> tuple[Usage | None, ...]:
        """The usage of its session and of each call of a judge; `None` is unknown."""
        return (self.usage, *self.judges) if self.has_session else self.judges


class Unfinished(Frozen):
    """The usage of a claimed trial that has no result yet; the ledger keeps it in case none comes."""

    trial_id: str
    ordinal: int
    """Position of the trial in the plan."""
    claim: int = Field(ge=1)
    """Which claim of the trial this is, counted from 1."""
    attempts: tuple[GivenUp, ...]
    """Attempts of this claim in their order; the last one is under way, or was cut off."""
    last_step: str = ""
    """The last step of the agent: its kind, and the name of the tool if it is a call; empty if none was reported."""
    signature: str = ""
    """Of the run's signer; a store keeps it as it is."""


class TrialResult(TrialFacts):
    """A trial with what happened and what it was worth."""

    score_id: str
    """Execution id + checks + scorer versions + judge identity."""
    case_id: str
    target_id: str | None
    arm: str
    runner: str
    tags: tuple[str, ...] = ()
    cluster: str = ""
    weight: float = 1.0
    repeat_rule: RepeatRule = MORE_THAN_HALF
    """How many repeats of its case have to pass."""
    verdict: Verdict
    value: float | None = Field(default=None, ge=0, le=1)
    """Weighted mean of the scores; 0 for a target's failure, `None` for an error."""
    scores: tuple[Score, ...] = ()
    execution: Execution
    given_up: tuple[GivenUp, ...] = ()
    """Attempts before the one that counts, in their order."""
    attempts: int = Field(default=1, ge=1)
    """Times the trial was started in this run, retries and interrupted attempts included."""
    started_at: float
    """Seconds since the epoch at which the attempt that counts began."""
    signature: Signature = ""
    """Keyed digest of all the rest and of the run, in a store; empty elsewhere. A store keeps it as it is."""

    @property
    def usages(self) -> tuple[Usage | None, ...]:
        """The usage of all that worked on it: the session or call, attempts given up, judges; `None` is unknown.

        Not a session that another run has paid for.
        """
        session = () if self.execution.replayed else (self.execution.usage,)
        if self.execution.user_usage and not self.execution.replayed:
            session = (*session, self.execution.user_usage)
        given_up = [usage for attempt in self.given_up for usage in attempt.usages] if self.given_up else ()
        return (*session, *given_up, *[one.usage for one in self.scores if one.usage])

    @property
    def group(self) -> GroupKey:
        """The key that it is summarised under."""
        return GroupKey(self.suite_id, self.target_id, self.arm, self.runner, self.model)
