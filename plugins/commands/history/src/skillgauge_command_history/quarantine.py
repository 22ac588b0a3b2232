"""Proposals for the quarantine of flaky cases. Pure: no file, no clock."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from skillgauge.api.report import counted, interval_text
from skillgauge_run_views.quarantine import QuarantineEntry, pattern_of

from .documents import FlakyCase, QuarantineProposal

LEAST = 2
"""How often a case has to have passed, and to have failed: once may be a single accident."""


def wavers_clearly(verdicts: str) -> bool:
    """Tell whether a case passed and failed often enough, and turned back after a change: else it may have broken.

    >>> wavers_clearly("pffp"), wavers_clearly("pppff"), wavers_clearly("pfppp")
    (True, False, False)

    Args:
        verdicts: `p` or `f` for each graded repeat, oldest first.
    """
    return min(verdicts.count("p"), verdicts.count("f")) >= LEAST and "pf" in verdicts and "fp" in verdicts


def proposals(cases: Iterable[FlakyCase], until: date) -> tuple[QuarantineProposal, ...]:
    """Return an entry for each flaky case that a gate rests on, each case once, in the order given.

    Args:
        cases: flaky cases. One that broke is none, since a gate should go on failing because of it.
        until: the day from which they are to gate again.
    """
    entries: dict[tuple[str, str], QuarantineProposal] = {}
    for case in cases:
        if case.gates and wavers_clearly(case.verdicts):
            reason = (
                f"passed {case.passed} of {case.graded} ({interval_text(case.pass_rate)}) "
                f"in {counted(case.runs, 'run')} though nothing changed"
            )
            entry = QuarantineProposal(
                case=pattern_of(case.case), suite=case.suite, until=until.isoformat(), reason=reason
            )
            entries.setdefault((case.suite, case.case), entry)
    return tuple(entries.values())


def entry_of(proposal: QuarantineProposal) -> QuarantineEntry:
    """Return a proposal as an entry of the configuration."""
    return QuarantineEntry(proposal.case, proposal.suite, date.fromisoformat(proposal.until), proposal.reason)
