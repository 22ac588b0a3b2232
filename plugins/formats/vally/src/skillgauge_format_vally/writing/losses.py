"""One suite on its way to files, and what is lost of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillgauge.api import Case, FileSpec, Origin, Problem, Severity, VerdictMode, VerdictRule

FIXTURES = "fixtures"


@dataclass
class Writing:
    """One suite on its way."""

    candidate: str
    """Name of the skill under test."""
    rule: VerdictRule
    """The rule of every case that is written."""
    timeout_s: float
    """The limit of every session."""
    is_own: bool
    """Whether the suite comes from a file of Vally, so that its extras are keys of one."""
    files: dict[str, bytes] = field(default_factory=dict)
    losses: list[Problem] = field(default_factory=list)

    @property
    def averages(self) -> bool:
        """True if the mean of values decides."""
        return self.rule.mode is VerdictMode.MEAN

    def lose(self, message: str, origin: Origin | None) -> None:
        """Note something that Vally has no words for."""
        self.losses.append(Problem("suite.loss", message, origin=origin, severity=Severity.WARNING))

    def lose_of(self, case: Case, message: str) -> None:
        """Note something of a case."""
        self.lose(f"case {case.id!r}: {message}", case.origin)

    def copies(self, case: Case, files: tuple[FileSpec, ...], folder: str) -> list[dict[str, str]]:
        """Put files among the fixtures, and return where each of them goes."""
        entries = []
        for file in files:
            if file.executable:
                self.lose_of(case, f"{file.path!r} is executable, which cannot be written")
            place = f"{FIXTURES}/{folder}/{file.path}"
            text = (file.text or "").encode()
            self.files[place] = Path(file.source).read_bytes() if file.source is not None else text
            entries.append({"src": place, "dest": file.path})
        return entries


def lay_below(written: dict[str, Any], extras: Mapping[str, Any]) -> None:
    """Add what a file of Vally said beyond this model, where nothing else is written."""
    for key, value in extras.items():
        inner = written.get(key)
        if isinstance(value, dict) and isinstance(inner, dict):
            lay_below(inner, value)
        else:
            written.setdefault(key, value)
