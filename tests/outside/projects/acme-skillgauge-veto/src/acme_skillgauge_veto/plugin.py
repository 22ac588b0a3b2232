"""The policy."""

from __future__ import annotations

import os

from skillgauge.api import PlanHead, PolicyError, hookimpl

DEFAULT_MAX_TRIALS = 100


@hookimpl
def skillgauge_plan_ready(plan: PlanHead) -> None:
    """Forbid a plan that is larger than `ACME_MAX_TRIALS`."""
    allowed = int(os.environ.get("ACME_MAX_TRIALS", DEFAULT_MAX_TRIALS))
    if plan.trial_count > allowed:
        raise PolicyError(f"{plan.trial_count} trials, but ACME allows {allowed}")
