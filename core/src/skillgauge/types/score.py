"""The result of one check."""

from enum import StrEnum

from pydantic import Field

from skillgauge_documents.frozen import Frozen, Json

from .usage import Usage


class ScoreStatus(StrEnum):
    """The result of one check."""

    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"
    """The check gave no verdict: the scorer broke, its judge was down, a fact it needs is unknown."""


class Score(Frozen):
    """One check's result."""

    check_id: str = ""
    """Filled by the kernel."""
    scorer: str = ""
    """Filled by the kernel: the scorer's own name, aliases resolved."""
    scorer_version: str = ""
    """Filled by the kernel."""
    status: ScoreStatus
    value: float | None = Field(default=None, ge=0, le=1)
    """Partial credit; `None` if ungraded."""
    reason: str = ""
    """Why, in a sentence a person can act on."""
    evidence: Json = None
    usage: Usage | None = None
    """What a judge's calls for this check used."""
    weight: float = 1.0
    """Filled by the kernel."""
    beside: bool = False
    """Filled by the kernel: whether its check stands beside the verdict."""

    @classmethod
    def passed(cls, reason: str = "", *, evidence: Json = None) -> "Score":
        """A check that holds in full."""
        if not reason and evidence is None:
            return _PASSED
        return cls(status=ScoreStatus.PASSED, value=1.0, reason=reason, evidence=evidence)

    @classmethod
    def failed(cls, reason: str, *, value: float = 0.0, evidence: Json = None) -> "Score":
        """A check that does not hold; `value` is its partial credit."""
        return cls(status=ScoreStatus.FAILED, value=value, reason=reason, evidence=evidence)

    @classmethod
    def ungraded(cls, reason: str, *, evidence: Json = None) -> "Score":
        """A check that gave no verdict; the trial becomes an error."""
        return cls(status=ScoreStatus.UNGRADED, reason=reason, evidence=evidence)


_PASSED = Score.model_construct(status=ScoreStatus.PASSED, value=1.0)
"""All that most checks of a run have to say, made once."""
