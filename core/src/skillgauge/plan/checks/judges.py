"""Judges that make no panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import Problem
from ...types.trial import Identity


def unpaired_models(judges: int, models: int) -> Iterator[Problem]:
    """Yield a problem if judges and their models are both named, in different numbers.

    Args:
        judges: number of judges that are named.
        models: number of their models that are named.
    """
    if judges and models and judges != models:
        message = f"{models} judge models for {judges} judges"
        yield Problem("usage.judges", message, hint="Give one for each judge, in the same order.")


def panel_problems(judges: Sequence[Identity]) -> Iterator[Problem]:
    """Yield a problem if judges may have no majority, and one if two of them are the same."""
    if judges and len(judges) % 2 == 0:
        hint = "Name one judge, or a larger odd number."
        yield Problem("usage.judges", f"{len(judges)} judges may have no majority", hint=hint)
    if len({judge.digest for judge in judges}) < len(judges):
        hint = "Name judges that differ, in the model at least."
        yield Problem("usage.judges", "the same judge twice is no panel", hint=hint)


def unconfined_judges(names: Sequence[str], *, untrusted: bool) -> Iterator[Problem]:
    """Yield a problem for each judge that starts a program outside of the sandbox, in a run that trusts nothing.

    Args:
        names: judges that do so.
        untrusted: whether the run trusts nothing.
    """
    if not untrusted:
        return
    hint = "Name a judge that asks an API, with --judge NAME, or do without --untrusted."
    for name in names:
        message = f"judge {name!r} starts the program of an agent outside of the sandbox, and --untrusted allows none"
        yield Problem("judge.unconfined", message, hint=hint)
