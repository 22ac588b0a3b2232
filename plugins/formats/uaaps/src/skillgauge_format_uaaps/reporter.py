"""The reporter: writes reports of evals, and reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from skillgauge.api import Artifact
from skillgauge.api.report import RunView

from .reports.reading import read_report
from .reports.writing import reports

_ABSENT = ("judge_verdict", "error", "error_class", "session_id", "verdicts")
"""Keys of a case that are left out where there is nothing to tell."""


class UaapsReporter:
    """One document; of several packages, engines or models a list of them."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The report."""
        yield Artifact(chunks=_chunks(view))

    def read(self, path: Path) -> RunView | None:
        """A report of this or of another runner."""
        return read_report(path)


def _chunks(view: RunView) -> Iterator[bytes]:
    made = [_document(report.model_dump(mode="json")) for report in reports(view)]
    yield (json.dumps(made[0] if len(made) == 1 else made, indent=2, ensure_ascii=False) + "\n").encode()


def _document(report: dict[str, object]) -> dict[str, object]:
    cases = report["cases"]
    assert isinstance(cases, list)
    kept = [{key: value for key, value in case.items() if value or key not in _ABSENT} for case in cases]
    return {**report, "cases": kept}
