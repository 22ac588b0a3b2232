"""The view of a run on GitLab: the note of a merge request, findings at the lines of a change, and variables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from skillgauge.api import Artifact, digest, plain
from skillgauge.api.report import CaseOutcome, RunView, labels
from skillgauge_run_views.code_hosts import MARKER, figures, tally_of, told
from skillgauge_run_views.tested import Place, TestedCase, places, worst

from .options import GitlabOptions

_FINDINGS, _NOTE, _DESCRIPTION = 500, 20, 1_000
"""Most findings, rows of a table and characters; the whole is in the reports that a page or JUnit makes."""
_SEVERITIES = {CaseOutcome.FAILED: "major", CaseOutcome.ERROR: "minor"}


class GitlabReporter:
    """Writes files for a pipeline; test results are for the reporter `junit`.

    Args:
        options: the address of the page.
    """

    suffix = "gitlab.md"

    def __init__(self, options: GitlabOptions) -> None:
        self._page = options.page

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The note, then what goes elsewhere."""
        tally, cases = tally_of(view), worst(view, _FINDINGS)
        findings = json.dumps(list(_findings(cases, places(view, cases))), indent=2)
        yield Artifact(chunks=_encoded((MARKER, *told(view, tally, cases, _NOTE, self._page))))
        yield Artifact(chunks=_encoded((findings,)), path="code-quality.json")
        yield Artifact(chunks=_encoded(_variables(figures(view, tally))), path="variables.env")

    def read(self, path: Path) -> RunView | None:
        """Too much of a run is not in it."""
        return None


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (line.encode(errors="replace") + b"\n" for line in lines)


def _findings(cases: Sequence[TestedCase], where: Mapping[tuple[str, int], Place]) -> Iterator[dict[str, object]]:
    """One for each case whose file is known: GitLab refuses a finding without one."""
    for case in cases:
        place = where.get(case.key)
        if place is None:
            continue
        name, group = case.results[0].case_id, case.group
        reasons = "; ".join(plain(reason) for reason in case.reasons)
        yield {
            "check_name": f"skillgauge-{case.outcome}",
            "description": f"{plain(case.title)} ({labels([group])[0]}), {case.repeats_text}: {reasons}"[:_DESCRIPTION],
            # Neither its line nor its reason: the same case is the same finding in the branch before.
            "fingerprint": digest(place.file, name, *astuple(group.key)),
            "severity": _SEVERITIES[case.outcome],
            "location": {"path": place.file, "lines": {"begin": place.line or 1}},
        }


def _variables(values: Mapping[str, str]) -> Iterator[str]:
    """For later jobs. The prefix is not that of skillgauge's own variables, which those jobs would obey."""
    return (f"SKILL_{name.upper().replace('-', '_')}={value}" for name, value in values.items())
