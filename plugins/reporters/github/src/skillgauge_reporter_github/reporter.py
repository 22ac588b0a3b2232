"""The view of a run on GitHub Actions: a step summary, annotations, outputs, and the text of a comment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from skillgauge.api import Artifact, plain
from skillgauge.api.report import CaseOutcome, RunView, labels
from skillgauge_run_views.code_hosts import MARKER, figures, tally_of, told
from skillgauge_run_views.tested import Place, TestedCase, places, worst

from .options import GithubOptions

_ANNOTATIONS, _SUMMARY, _COMMENT = 50, 50, 10
"""Most of each: GitHub shows no more annotations of a step, and takes no longer comment than 65,536 characters."""
_COMMANDS = {CaseOutcome.FAILED: "error", CaseOutcome.ERROR: "warning"}


class GithubReporter:
    """Writes files for a workflow; nothing that is printed obeys a text of a case.

    Args:
        options: the address of the page.
    """

    suffix = "github.md"

    def __init__(self, options: GithubOptions) -> None:
        self._page = options.page

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The step summary, then what goes elsewhere."""
        tally, cases = tally_of(view), worst(view, _ANNOTATIONS)
        outputs = [f"{name}={value}" for name, value in figures(view, tally).items()]
        yield Artifact(chunks=_encoded(told(view, tally, cases, _SUMMARY, self._page)))
        yield Artifact(chunks=_encoded(_annotations(cases, places(view, cases))), path="annotations.txt")
        yield Artifact(chunks=_encoded(outputs), path="outputs.txt")
        yield Artifact(chunks=_encoded((MARKER, *told(view, tally, cases, _COMMENT, self._page))), path="comment.md")

    def read(self, path: Path) -> RunView | None:
        """Too much of a run is not in it."""
        return None


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (line.encode(errors="replace") + b"\n" for line in lines)


def _annotations(cases: Sequence[TestedCase], where: Mapping[tuple[str, int], Place]) -> Iterator[str]:
    """Workflow commands, one a line."""
    for case in cases:
        place = where.get(case.key, Place("", None))
        location = {"file": place.file, "line": str(place.line or "")}
        location["title"] = f"{plain(case.title)} ({labels([case.group])[0]})"
        properties = ",".join(f"{name}={_property(value)}" for name, value in location.items() if value)
        reasons = [plain(reason) for reason in case.reasons]
        lines = [f"{case.repeats_text}:", *reasons] if len(case.results) > 1 else reasons
        message = _data("\n".join(lines))
        yield f"::{_COMMANDS[case.outcome]} {properties}::{message}"


def _data(value: str) -> str:
    """The message of a workflow command."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    """A property of a workflow command."""
    return _data(value).replace(":", "%3A").replace(",", "%2C")
