"""The place where one attempt of a trial runs, and the engine that runs there if an agent makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from skillgauge_documents.frozen import FrozenDict, JsonObject
from skillgauge_documents.immutables import immutable

from ..contract.engines import Engine
from ..contract.providers import Traits
from ..contract.sandboxes import Workspace
from ..environment import secret
from ..types.score import Score
from ..types.suite import Case
from ..types.trial import Execution, Trial


class Stage(Protocol):
    """The place where one attempt of a trial runs."""

    @property
    def scores(self) -> Sequence[Score]:
        """Scores that the execution itself needed."""

    @property
    def workspace(self) -> Workspace | None:
        """The workspace that checks may look at, if there is one."""

    async def furnish(self, trial: Trial) -> object:
        """Put everything in place that is there before an attempt, but run no set-up."""

    async def execute(self, trial: Trial) -> Execution:
        """Make the attempt and report facts."""

    async def prepare_grading(self, trial: Trial) -> Sequence[str]:
        """Put the graders' files in place, after the execution ended; what of an agent was in their way.

        Raises:
            SpoiledError: an agent keeps them from their place.
        """


OpenStage = Callable[[Trial], AbstractAsyncContextManager[Stage]]


@immutable
class AgentSetup:
    """An engine with what it announces: where its agent looks for skills, and what else could tell it of them."""

    engine: Engine
    traits: Traits
    setting: str = ""
    """What tells it in results from the same engine set otherwise: `+fast`."""


def environment_of(case: Case) -> JsonObject:
    """The variables of a case, with the values of those that it takes from the user's environment."""
    passed = {one.name: secret(one.host) or one.default or "" for one in case.pass_env}
    return FrozenDict({**case.env, **passed}) if passed else case.env
