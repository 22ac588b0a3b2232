"""The obligations of a judge, which gives scorers access to a model."""

from __future__ import annotations

from typing import Protocol

from skillgauge_documents.frozen import Frozen

from ..errors import Problem
from ..types.trial import FailureClass, Identity
from ..types.usage import Usage


class JudgeRequest(Frozen):
    """A question to a model that grades."""

    system: str
    user: str
    model: str | None = None
    temperature: float | None = None
    max_output_tokens: int = 1024


class JudgeReply(Frozen):
    """Its answer, or why there is none."""

    text: str | None
    model: str | None = None
    usage: Usage | None = None
    error: str | None = None
    failure_class: FailureClass | None = None
    """What kind of error it is, for the care that the service gets; `None` if the judge cannot tell."""
    retryable: bool = False
    retry_after_s: float | None = None
    cached: bool = False
    """Whether the same was asked before in this run, so that the answer used nothing now."""


class Judge(Protocol):
    """Model access for scorers."""

    async def check(self) -> tuple[Problem, ...]:
        """Report everything that keeps the judge from working here."""

    def identity(self, model: str | None) -> Identity:
        """Return everything that its answers depend on."""

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once."""
