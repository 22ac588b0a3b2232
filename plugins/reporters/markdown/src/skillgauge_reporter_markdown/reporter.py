"""A report for people, in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
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
    TrialResult,
    Verdict,
)

_MARKS = {Verdict.PASS: "✅ PASS", Verdict.FAIL: "❌ FAIL", Verdict.ERROR: "⚠️ ERROR", Verdict.SKIPPED: "⏭️ SKIPPED"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~!])")
_INVISIBLE = re.compile("[\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_CELL = 200

GroupKey = tuple[str, str | None, str, str, str | None]


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
    rows: dict[GroupKey, list[str]] = {}
    for result in view.results():
        rows.setdefault(_key(result), []).append(_case_row(result))
    for suite in head.suites:
        yield from _suite(view, suite, rows)


def _key(part: GroupSummary | TrialResult) -> GroupKey:
    return (part.suite_id, part.target_id, part.arm, part.runner, part.model)


def _suite(view: RunView, suite: SuiteHead, rows: Mapping[GroupKey, list[str]]) -> Iterator[str]:
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
        yield from _summary_table(groups)
        yield ""
        yield from _footnotes(groups)
    for group in groups:
        yield from _group(group, rows.get(_key(group), []))


def _summary_table(groups: list[GroupSummary]) -> Iterator[str]:
    figures = list(dict.fromkeys((figure.name, figure.label) for group in groups for figure in group.figures))
    heads = ["Target", "Pass rate", "95 % interval", "Passed", "Failed", "Errors", *(label for _, label in figures)]
    yield row(heads)
    yield row(["---"] * len(heads))
    for group in groups:
        values = {figure.name: figure for figure in group.figures}
        counts = group.counts
        yield row(
            [
                _group_name(group),
                percent(group.pass_rate.rate),
                _interval(group.pass_rate),
                f"{counts.passed} of {counts.total}",
                str(counts.failed),
                str(counts.errors),
                *(_figure(values.get(name)) for name, _ in figures),
            ]
        )


def _footnotes(groups: list[GroupSummary]) -> Iterator[str]:
    methods = sorted({group.pass_rate.method for group in groups if group.pass_rate.method})
    cases = sorted({group.pass_rate.n for group in groups})
    yield (
        "The pass rate averages a case's repeats first, then the cases, and leaves errors out "
        f"(n = {', '.join(str(n) for n in cases)} cases; interval: {', '.join(methods) or 'none'})."
    )
    for group in groups:
        rate = group.pass_rate
        if rate.rate == 1.0 and rate.lower is not None and rate.n < 20:
            yield f"{_group_name(group)}: {rate.n} of {rate.n} cases prove no more than {percent(rate.lower)}."
        if group.pass_bounds:
            low, high = group.pass_bounds
            yield (
                f"{_group_name(group)}: with {group.counts.errors} errors the rate lies between "
                f"{percent(low)} (all failed) and {percent(high)} (all passed)."
            )


def _group(group: GroupSummary, cases: list[str]) -> Iterator[str]:
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
        yield row(["Tag", "Pass rate", "95 % interval", "Cases", "Errors"])
        yield row(["---"] * 5)
        for tag in group.tags:
            rate = tag.pass_rate
            yield row([text(tag.tag), percent(rate.rate), _interval(rate), str(rate.n), str(tag.counts.errors)])
    yield ""
    yield row(["Case", "Run", "Verdict", "Score", "Latency", "Reason"])
    yield row(["---"] * 6)
    yield from cases


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
