"""What is asked of whoever executes a trial, by a direct call or with an agent."""

from __future__ import annotations

from typing import Self

from ..types.frozen import EMPTY, Frozen, JsonObject
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
    def of(cls, trial: Trial, **more: object) -> Self:
        """The request for a trial.

        Args:
            trial: what is executed.
            more: the environment, and fields that only this kind of request has.
        """
        case = trial.case
        known = {"trial_id": trial.trial_id, "case_id": case.id, "limits": trial.limits}
        return cls.model_validate({**known, "seed": trial.seed, **more})
