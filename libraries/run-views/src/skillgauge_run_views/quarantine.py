"""Rules of the quarantine as lines of a configuration file. No file is read or written here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from glob import escape


@dataclass(frozen=True)
class QuarantineEntry:
    """An entry for `quarantine` of the configuration."""

    case: str
    """A pattern of ids."""
    suite: str
    until: date
    """The day from which the cases gate again."""
    reason: str = ""


def pattern_of(case_id: str) -> str:
    """Return the pattern that fits an id and nothing else.

    >>> pattern_of("sum[1]*")
    'sum[[]1][*]'
    """
    return escape(case_id)


def configuration(entries: Iterable[QuarantineEntry]) -> str:
    """Return entries as a piece of `skillgauge.config.yaml`; characters beyond ASCII are written as escapes."""
    import yaml  # noqa: PLC0415 - slow, and most who look for such cases find none

    rows = [{key: value for key, value in asdict(entry).items() if value} for entry in entries]
    return yaml.safe_dump({"quarantine": rows}, sort_keys=False, width=1000)
