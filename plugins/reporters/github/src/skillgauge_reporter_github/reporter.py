"""What GitHub Actions shows of a run: a step summary, annotations, outputs, and the text of a comment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from skillgauge.api import (
    Artifact,
    GroupSummary,
    RunState,
    RunView,
    compared,
    counted,
    figure_text,
    headline,
    interval_text,
    labels,
    plain,
    sentences,
)
from skillgauge_run_views.markdown import in_markdown
from skillgauge_run_views.tested import CaseKind, CaseOutcome, Place, groups_under_test, outcomes, places, worst

MARKER = "<!-- skillgauge:report -->"
"""First line of a comment, by which the next run finds it."""
_ANNOTATIONS, _SUMMARY, _COMMENT = 50, 50, 10
"""Most of each: GitHub shows no more annotations of a step, and takes no longer comment than 65,536 characters."""
_MARKS = {CaseKind.FAILED: "❌", CaseKind.ERROR: "⚠️"}
_COMMANDS = {CaseKind.FAILED: "error", CaseKind.ERROR: "warning"}


class GithubReporter:
    """Writes files for a workflow; nothing that is printed obeys a text of a case."""

    suffix = "github.md"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The step summary, then what goes elsewhere."""
        tally = Counter(case.kind for group in groups_under_test(view) for case in outcomes(view, group))
        cases = worst(view, _ANNOTATIONS)
        yield Artifact(chunks=_encoded(_summary(view, tally, cases, _SUMMARY)))
        yield Artifact(chunks=_encoded(_annotations(cases, places(view, cases))), path="annotations.txt")
        yield Artifact(chunks=_encoded(_outputs(view, tally)), path="outputs.txt")
        comment = (MARKER, *_summary(view, tally, cases, _COMMENT))
        yield Artifact(chunks=_encoded(comment), path="comment.md")

    def read(self, path: Path) -> RunView | None:
        """Too much of a run is not in it."""
        return None


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (line.encode(errors="replace") + b"\n" for line in lines)


def _summary(view: RunView, tally: Counter[CaseKind], cases: Sequence[CaseOutcome], most: int) -> Iterator[str]:
    yield "## skillgauge"
    for sentence in sentences(view):
        yield ""
        yield f"**{in_markdown(sentence)}**"
    yield ""
    told = [f"{tally[CaseKind.PASSED]} of {counted(tally.total(), 'case')} passed"]
    told += [f"{tally[CaseKind.FAILED]} failed"] if tally[CaseKind.FAILED] else []
    told += [f"{tally[CaseKind.ERROR]} could not be graded"] if tally[CaseKind.ERROR] else []
    told += [f"{tally[CaseKind.SKIPPED]} skipped"] if tally[CaseKind.SKIPPED] else []
    yield f"{', '.join(told)}."
    if view.run.state is not RunState.FINISHED:
        yield ""
        yield f"**This run is {view.run.state}: the figures cover only what was finished.**"
    for validity in view.summary.validity:
        if not validity.valid:
            yield ""
            yield f"**{_shown(validity.suite_id)} is invalid: {_shown(validity.reason)}.**"
    yield from _cases(cases, most, tally[CaseKind.FAILED] + tally[CaseKind.ERROR])
    yield from _rates(groups_under_test(view), most)


def _cases(cases: Sequence[CaseOutcome], most: int, total: int) -> Iterator[str]:
    if not cases:
        return
    names = labels([case.group for case in cases[:most]])
    yield ""
    yield "### Cases that did not pass"
    yield ""
    yield "| | Case | Of | Passed | Reason |"
    yield "| --- | --- | --- | --- | --- |"
    for case, name in zip(cases, names, strict=False):
        passed = f"{case.passed} of {len(case.results)}{' (flaky)' if case.is_flaky else ''}"
        cells = (_shown(case.results[0].case_id), in_markdown(name), passed, _shown("; ".join(case.reasons)))
        yield f"| {_MARKS[case.kind]} | {' | '.join(cells)} |"
    if total > len(names):
        yield ""
        yield f"{total - len(names)} more did not pass."


def _rates(groups: Sequence[GroupSummary], most: int) -> Iterator[str]:
    if not groups:
        return
    yield ""
    yield "### Under test"
    yield ""
    yield "| Target | Figure | Value | Interval | n (cases) |"
    yield "| --- | --- | --- | --- | --- |"
    for name, group in zip(labels(groups)[:most], groups, strict=False):
        figure = headline(group)
        bounds = interval_text(figure.interval) if figure.interval else "–"
        value = _shown(figure_text(figure))
        yield f"| {in_markdown(name)} | {_shown(figure.label)} | {value} | {bounds} | {group.pass_rate.n} |"
    if len(groups) > most:
        yield ""
        yield f"{len(groups) - most} more are in the full report."


def _annotations(cases: Sequence[CaseOutcome], where: Mapping[tuple[str, int], Place]) -> Iterator[str]:
    """Workflow commands, one a line."""
    for case in cases:
        first = case.results[0]
        place = where.get(case.key, Place("", None))
        told = {"file": place.file, "line": str(place.line or "")}
        told["title"] = f"{plain(first.case_id)} ({labels([case.group])[0]})"
        properties = ",".join(f"{name}={_property(value)}" for name, value in told.items() if value)
        reasons = [plain(reason) for reason in case.reasons]
        lines = [f"{case.passed_text}:", *reasons] if len(case.results) > 1 else reasons
        message = _data("\n".join(lines))
        yield f"::{_COMMANDS[case.kind]} {properties}::{message}"


def _outputs(view: RunView, tally: Counter[CaseKind]) -> Iterator[str]:
    """Only numbers and words of ours, as a text of a case in here could set another output."""
    rates = [group.pass_rate for group in groups_under_test(view)]
    graded = sum(rate.n for rate in rates)
    share = sum((rate.rate or 0.0) * rate.n for rate in rates) / graded if graded else None
    lifts = [pair.evidence.estimate for pair in compared(view) if pair.evidence]
    yield f"verdict={_verdict(view, tally)}"
    yield f"pass-rate={'' if share is None else f'{share:.4f}'}"
    yield f"lift-points={f'{min(lifts) * 100 + 0.0:.1f}' if lifts else ''}"
    yield f"failed={tally[CaseKind.FAILED]}"
    yield f"errors={tally[CaseKind.ERROR]}"


def _verdict(view: RunView, tally: Counter[CaseKind]) -> str:
    for kind in (CaseKind.FAILED, CaseKind.ERROR):
        if tally[kind]:
            return kind.value
    if view.run.state is not RunState.FINISHED:
        return "incomplete"
    return "passed" if tally[CaseKind.PASSED] else "empty"


def _shown(value: str) -> str:
    return in_markdown(plain(value))


def _data(value: str) -> str:
    """The message of a workflow command."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    """A property of a workflow command."""
    return _data(value).replace(":", "%3A").replace(",", "%2C")
