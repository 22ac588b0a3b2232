"""The requests to whatever executes a trial, by a direct call or with an agent."""

from __future__ import annotations

from typing import Any, Self

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject

from ..types.suite import Limits
from ..types.trial import Trial


class Request(Frozen):
    """One execution: of the case no more than its executor may know."""

    trial_id: str
    case_id: str
    limits: Limits
    env: JsonObject = EMPTY
    seed: int = 0

    @classmethod
    def of(cls, trial: Trial, env: JsonObject, **more: Any) -> Self:
        """The request for a trial.

        Args:
            trial: what is executed.
            env: environment variables added for its case, name to string.
            more: fields that only this kind of request has.
        """
        case_id, limits, seed = trial.case.id, trial.limits, trial.seed
        return cls.of_known(trial_id=trial.trial_id, case_id=case_id, limits=limits, env=env, seed=seed, **more)
