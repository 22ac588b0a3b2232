"""The lines by which a case goes into quarantine: for the file that `eval` reads, which no page writes.

A folder's configuration is trusted by its content, stands under version control and has comments; a page that changed
it would take that trust away. So the page gives the lines, and says where they go: see ADR 149.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from skillgauge.api import CaseHead
from skillgauge.api.run import Invocation
from skillgauge_run_views.quarantine import QuarantineEntry, configuration, pattern_of

_FILE, _TOML = "skillgauge.config.yaml", "pyproject.toml"
_USUAL = timedelta(days=14)
_LIST = re.compile(r"^quarantine:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*([ \t]*)-[ \t]", re.MULTILINE)
"""The list of a YAML file, with the blanks before its first entry."""


@dataclass(frozen=True)
class QuarantineLines:
    """The lines for a case, and the place where they go."""

    until: date
    reason: str
    file: str
    text: str
    """Empty if the day is not later than today."""
    is_addition: bool
    """True if the file has such a list, so that these are entries for it."""
    stronger: str
    """A place that goes before the file and sets the quarantine, so that the file would be passed over; or empty."""
    replaced: str
    """Another program's file that configures the folder until this one is there; or empty."""


class Quarantine:
    """Makes the lines for the folder in which the pages are served.

    Args:
        call: the command line, which knows the configuration.
    """

    def __init__(self, call: Invocation) -> None:
        self._call = call

    def lines(self, case: CaseHead, until: str, reason: str) -> QuarantineLines:
        """Return the lines for a case.

        Args:
            case: the case.
            until: the day from which it gates again (ISO 8601); any other text stands for the usual one.
            reason: the reason for people; may be empty.
        """
        today = datetime.now(UTC).date()
        day = _date(until) or today + _USUAL
        path = self._file()
        content = _content(path)
        entry = QuarantineEntry(pattern_of(case.id), case.suite_id, day, " ".join(reason.split()))
        is_toml = path.suffix == ".toml"
        beside = None if is_toml else _LIST.search(content)
        text = ""
        if day > today:
            text = _as_toml(entry) if is_toml else _as_yaml(entry, beside)
        return QuarantineLines(day, reason, str(path), text, beside is not None, self._stronger(), self._replaced(path))

    def _file(self) -> Path:
        """The file of the folder that `eval` would read there."""
        if self._call.globals.config:
            return Path(self._call.globals.config)
        own, python = self._call.cwd / _FILE, self._call.cwd / _TOML
        return python if not own.is_file() and _has_section(python) else own

    def _replaced(self, path: Path) -> str:
        in_force = (value.where for value in self._call.config.items() if value.source.value == "project file")
        return "" if path.is_file() else next(map(str, in_force), "")

    def _stronger(self) -> str:
        value = self._call.config.find("quarantine")
        return value.where if value and value.source.value in ("flag", "environment") else ""


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _content(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def _has_section(path: Path) -> bool:
    try:
        return "skillgauge" in tomllib.loads(_content(path)).get("tool", {})
    except (ValueError, AttributeError):
        return False


def _as_yaml(entry: QuarantineEntry, beside: re.Match[str] | None) -> str:
    head, _, rows = configuration([entry]).partition("\n")
    if beside is None:
        return f"{head}\n{rows}"
    return "".join(f"{beside[1]}{row}\n" for row in rows.splitlines())


def _as_toml(entry: QuarantineEntry) -> str:
    rows = [f"case = {_toml_text(entry.case)}", f"suite = {_toml_text(entry.suite)}", f"until = {entry.until}"]
    if entry.reason:
        rows.append(f"reason = {_toml_text(entry.reason)}")
    return "\n".join(("[[tool.skillgauge.quarantine]]", *rows, ""))


def _toml_text(text: str) -> str:
    """A text of TOML that holds printable ASCII alone; a half of a pair of surrogates, which TOML has not, is `?`."""
    return "".join(
        json.dumps(char)[1:-1] if char.isascii() and char.isprintable() else f"\\U{ord(char):08x}"
        for char in text.encode("utf-8", "replace").decode()
    ).join('""')
