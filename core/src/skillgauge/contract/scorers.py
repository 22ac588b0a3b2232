"""Turning what happened into scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..types.answers import Answer
from ..types.arms import Arm
from ..types.score import Score
from ..types.suite import Case, Check, Target
from ..types.trial import Execution
from .judges import Judge
from .sandboxes import Workspace


@dataclass(frozen=True)
class ScoreContext:
    """All that a scorer may look at. New fields may be added; none will be taken away."""

    check: Check
    case: Case
    execution: Execution
    arm: Arm
    target: Target | None = None
    workspace: Workspace | None = None
    """Still open, with the graders' files in place; `None` when grading a stored execution again."""
    judge: Judge | None = None
    """Set if the run has one; of several the first."""
    panel: tuple[Judge, ...] = ()
    """Every judge of the run in the order in which they are named: none, one, or a larger odd number."""
    clean: Callable[[str], str] = str
    """Takes known secrets out of a text. What a judge is asked passes through it in any case; a scorer that cuts a text
    cleans it before, since half a secret is not found any more."""
    shared: dict[str, Any] = field(default_factory=dict)
    """Empty for the first check of a trial and the same for all of them, which are scored one after another: where a
    scorer keeps what it finds out for several of its checks at once. The key begins with the scorer's name."""

    @property
    def answer(self) -> Answer:
        """The answer as the check's format reads it."""
        return self.execution.answer(self.check.answer)


class Scorer(Protocol):
    """Judge one check against one execution. Stateless; may run concurrently.

    One object serves all checks with the same options. It is made on another thread than it is used on, before anything
    runs. If it has `async def open(self)` and `async def close(self)`, these are called once each, before the first
    trial and after the last one, however the run ends: the place for a connection. What fails to open stops the run.
    """

    version: str
    """Bump it when the same input could score differently."""

    async def score(self, context: ScoreContext) -> Score:
        """The verdict on this check. An exception is recorded as ungraded, never as a failed check."""
