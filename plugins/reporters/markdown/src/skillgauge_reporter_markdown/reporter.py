"""A report for people, in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from skillgauge.api import (
    Artifact,
    Figure,
    GroupSummary,
    RateInterval,
    RunState,
    RunView,
    ScoreStatus,
    SuiteHead,
    TagSummary,
    TrialResult,
    Verdict,
)

_MARKS = {Verdict.PASS: "✅ PASS", Verdict.FAIL: "❌ FAIL", Verdict.ERROR: "⚠️ ERROR", Verdict.SKIPPED: "⏭️ SKIPPED"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~!$])")
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_CELL = 200
_FEW = 20
"""Cases below which a perfect rate proves so little that it is said."""
_RATE_HEADS = ("Pass rate", "Interval", "n (cases)", "Passed", "Failed", "Errors", "Skipped", "Method")


class MarkdownReporter:
    """Writes Markdown."""

    suffix = "md"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """One file."""
        yield Artifact(chunks=(line.encode() + b"\n" for line in _lines(view)))

    def read(self, path: Path) -> RunView | None:
        """Markdown is not read back."""
        return None


def _lines(view: RunView) -> Iterator[str]:
    yield "# skillgauge report"
    yield ""
    started = datetime.fromtimestamp(view.run.started_at, UTC).isoformat(timespec="seconds")
    head = view.head
    run_id = text(view.run.run_id)
    yield f"Run {run_id} of {started}, {head.trial_count} trials, runs: {head.runs}, seed: {head.seed}."
    if view.run.state is not RunState.FINISHED:
        yield ""
        yield f"**This run is {view.run.state}: the figures cover only what was finished.**"
    for suite in head.suites:
        yield from _suite(view, suite)


def _suite(view: RunView, suite: SuiteHead) -> Iterator[str]:
    groups = [group for group in view.summary.groups if group.suite_id == suite.id]
    yield ""
    version = f" {text(suite.version)}" if suite.version else ""
    yield f"## {text(suite.name or suite.id)}{version}"
    yield ""
    yield f"Suite `{code(suite.id)}`, format {text(suite.format)}, {suite.case_count} cases."
    for validity in view.summary.validity:
        if validity.suite_id == suite.id and not validity.valid:
            yield ""
            yield f"**Invalid: {text(validity.reason)}.**"
    if groups:
        yield ""
        yield from _table(["Target", *_RATE_HEADS], ([_group_name(one), *_rate_cells(one)] for one in groups))
        yield ""
        yield from _notes(groups)
    if any(group.figures for group in groups):
        yield ""
        yield f"Figures as {text(suite.format)} defines them: its own arithmetic over the trials; it knows no interval."
        yield ""
        yield from _figures_table(groups)
    for group in groups:
        yield from _group(group, map(_case_row, view.results(group.key)))


def _notes(groups: list[GroupSummary]) -> Iterator[str]:
    """What must be known beside the rates. No line begins with a text from outside."""
    yield (
        "- The pass rate averages a case's repeats first, then the cases, and leaves errors out; "
        "passed, failed, errors and skipped count trials."
    )
    for group in groups:
        rate, name = group.pass_rate, _group_name(group)
        if rate.rate == 1.0 and rate.lower is not None and rate.n < _FEW:
            yield f"- {rate.n} of {rate.n} cases passed; that proves no more than {percent(rate.lower)}: {name}."
        if group.pass_bounds:
            low, high = group.pass_bounds
            yield (
                f"- With {group.counts.errors} errors the rate lies between {percent(low)} (all failed) "
                f"and {percent(high)} (all passed): {name}."
            )


def _figures_table(groups: list[GroupSummary]) -> Iterator[str]:
    labels = {figure.name: figure.label for group in groups for figure in group.figures}

    def cells(group: GroupSummary) -> list[str]:
        values = {figure.name: figure for figure in group.figures}
        counted = (_group_name(group), str(group.counts.total), str(group.counts.errors))
        return [*counted, *(_figure(values.get(name)) for name in labels)]

    heads = ["Target", "n (trials)", "Errors", *(text(label) for label in labels.values())]
    yield from _table(heads, map(cells, groups))


def _group(group: GroupSummary, cases: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f"### {_group_name(group)}"
    if group.latency.samples:
        latency = group.latency
        yield ""
        yield (
            f"Latency over {latency.samples} trials, failures included: p50 {duration(latency.p50_s)}, "
            f"p95 {duration(latency.p95_s)}, p99 {duration(latency.p99_s)}."
        )
    if group.tags:
        yield ""
        yield "By tag; a case counts under each of its tags."
        yield ""
        yield from _table(["Tag", *_RATE_HEADS], ([text(tag.tag), *_rate_cells(tag)] for tag in group.tags))
    yield ""
    yield row(["Case", "Run", "Verdict", "Score", "Latency", "Reason"])
    yield row(["---"] * 6)
    yield from cases


def _table(heads: list[str], lines: Iterable[list[str]]) -> Iterator[str]:
    yield row(heads)
    yield row(["---"] * len(heads))
    yield from map(row, lines)


def _rate_cells(measured: GroupSummary | TagSummary) -> list[str]:
    """A pass rate with all that it takes to trust it, in the order of `_RATE_HEADS`."""
    rate, counts = measured.pass_rate, measured.counts
    method = f"{rate.level * 100:g} % {text(rate.method)}" if rate.method else "–"
    passed = f"{counts.passed} of {counts.total}"
    others = (counts.failed, counts.errors, counts.skipped)
    return [percent(rate.rate), _interval(rate), str(rate.n), passed, *map(str, others), method]


def _case_row(result: TrialResult) -> str:
    return row(
        [
            text(result.case_id),
            str(result.repeat),
            _MARKS[result.verdict],
            "–" if result.value is None else f"{result.value:.2f}",
            duration(result.execution.duration_s),
            text(reason(result)),
        ]
    )


def reason(result: TrialResult) -> str:
    """Why a trial did not pass; empty if it did."""
    failure = result.execution.failure
    if failure:
        return f"{failure.failure_class}: {failure.message}"
    return "; ".join(
        score.reason or f"check {score.check_id} {score.status}"
        for score in result.scores
        if score.status is not ScoreStatus.PASSED
    )


def _group_name(group: GroupSummary) -> str:
    parts = [group.target_id or "", group.arm if group.arm != "direct" else "", group.model or ""]
    name = " · ".join(text(part) for part in parts if part)
    return f"{name} ({text(group.runner)})" if name else text(group.runner)


def _interval(rate: RateInterval) -> str:
    if rate.lower is None or rate.upper is None:
        return "–"
    return f"{percent(rate.lower)} to {percent(rate.upper)}"


def _figure(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "–"
    match figure.unit:
        case "ratio":
            return percent(figure.value)
        case "ms":
            return duration(figure.value / 1000)
        case "score":
            return f"{figure.value:.3f}"
        case _:
            return f"{figure.value:g}{text(figure.unit)}"


def percent(value: float | None) -> str:
    """A share as percent with one decimal; a dash if unknown."""
    return "–" if value is None else f"{value * 100:.1f}%"


def duration(seconds: float | None) -> str:
    """Milliseconds below a second, else seconds with one decimal; a dash if unknown."""
    if seconds is None:
        return "–"
    return f"{seconds * 1000:.0f}ms" if seconds < 1 else f"{seconds:.1f}s"


def row(cells: Iterable[str]) -> str:
    """A table row from cells that are already escaped."""
    return "| " + " | ".join(cells) + " |"


def text(value: str) -> str:
    """Text from outside as one line that Markdown and HTML show as it is, cut if it is long."""
    shown = _INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"[\t\n\r]+", " ", value)).strip()
    if len(shown) > _CELL:
        shown = f"{shown[: _CELL - 1]}…"
    return _SPECIAL.sub(r"\\\1", shown).replace("&", "&amp;")


def code(value: str) -> str:
    """Text inside a code span."""
    return _INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", value).replace("`", "ˋ").replace("|", "\\|")[:_CELL]
