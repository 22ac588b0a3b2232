"""Admission of a worker to a run: it may make attempts, or it is refused with every reason at once.

A run says by its recipe what it needs; `skillgauge.api.run.worker` compares that with what is here. This is the answer
on its way to the process that runs the evaluation, whatever carries it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from typing import Self

from skillgauge.api import Frozen, PluginError, Problem, SkillgaugeError


class Reason(Frozen):
    """One thing that a run needs and a worker does not have."""

    code: str
    """Stable dotted name, for example `worker.version`."""
    message: str
    """Both sides: the need of the run, and the state of the worker."""
    hint: str | None = None
    """The next step, on the worker's machine."""


class Admission(Frozen):
    """The answer of a worker to a recipe. It is JSON wherever two processes exchange it."""

    worker: str
    """Name of the worker, as in messages."""
    reasons: tuple[Reason, ...] = ()
    """The reasons against it; without any it is admitted."""

    @classmethod
    def refused(cls, error: Exception, worker: str | None = None) -> Self:
        """Return the refusal for the exception that preparing the run has raised.

        Args:
            error: has a reason for each of its problems, if it is a `SkillgaugeError`.
            worker: name of the worker; `None` is made of host and process.
        """
        if isinstance(error, SkillgaugeError):
            reasons = [Reason(code=one.code, message=one.message, hint=one.hint) for one in error.problems]
        else:
            reasons = [
                Reason(code=UNPREPARED, message=f"it could not prepare the run: {type(error).__name__}: {error}")
            ]
        return cls(worker=worker or name_here(), reasons=tuple(reasons))

    @property
    def is_admitted(self) -> bool:
        """True if the worker may make attempts."""
        return not self.reasons


class NotAdmittedError(PluginError):
    """A worker must not make attempts of a run; each reason is a problem that names the worker.

    Args:
        admission: the answer of that worker, with reasons.
    """

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        super().__init__(_problem(one, f"worker {admission.worker}") for one in admission.reasons)

    def __reduce__(self) -> tuple[type[NotAdmittedError], tuple[Admission]]:  # type: ignore[override]  # is made of other things
        return type(self), (self.admission,)


UNPREPARED = "worker.unprepared"
"""Code of a worker that failed in a way that nothing foresees."""


def name_here() -> str:
    """Return a name for this process that tells it from those of other machines."""
    return f"{socket.gethostname()}/{os.getpid()}"


def none_admitted(refusals: Iterable[PluginError]) -> PluginError:
    """Return the error that ends a run which no worker may make attempts of.

    Args:
        refusals: of all workers that there were. Workers with the same reason share a problem.
    """
    hint = "Mend one of them, and run the same command again: what has finished is kept."
    problems = [Problem("executor.no-worker", "every worker was refused, so no trial could begin", hint=hint)]
    workers: dict[Reason, list[str]] = {}
    for refusal in refusals:
        if isinstance(refusal, NotAdmittedError):
            for reason in refusal.admission.reasons:
                workers.setdefault(reason, []).append(refusal.admission.worker)
        else:
            problems += refusal.problems
    for reason, names in workers.items():
        rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        several = "s" if len(names) > 1 else ""
        problems.append(_problem(reason, f"worker{several} {', '.join(names[:_NAMED])}{rest}"))
    return PluginError(problems)


_NAMED = 3
"""Workers that are named with a reason which they share."""


def _problem(reason: Reason, subject: str) -> Problem:
    return Problem(reason.code, f"{subject}: {reason.message}", hint=reason.hint)
