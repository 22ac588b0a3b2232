"""A report for people, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from skillgauge.api import Artifact, CaseHead, SuiteHead, TrialResult, Verdict, plain
from skillgauge.api.report import (
    CaseOutcome,
    CasePair,
    CaseReport,
    Figure,
    GroupSummary,
    PairSummary,
    RunState,
    RunView,
    TagSummary,
    case_by_case,
    case_name,
    chance_here_text,
    chance_text,
    compared,
    differing,
    duration,
    extent_text,
    figure_text,
    group_notes,
    interval_here_text,
    interval_new_text,
    interval_text,
    judge_notes,
    labels,
    opening,
    passed_text,
    percent,
    points,
    rankings,
    rated_figures,
    reason_of,
    run_notes,
    table_texts,
)
from skillgauge.stats import RateInterval
from skillgauge_run_views.code_hosts import skill_lines
from skillgauge_run_views.latency import latency_text
from skillgauge_run_views.markdown import gate_mark, in_markdown
from skillgauge_run_views.outcomes import outcome_text

_MARKS = {Verdict.PASS: "✅ PASS", Verdict.FAIL: "❌ FAIL", Verdict.ERROR: "⚠️ ERROR", Verdict.SKIPPED: "⏭️ SKIPPED"}
_LIFT_HEADS = (
    "Candidate",
    "Baseline",
    "Lift",
    "Interval, these cases",
    "Chance, these cases",
    "Interval, new cases",
    "Chance, new cases",
    "n (cases)",
    "Rescued",
    "Both pass",
    "Both fail",
    "Lost",
    "Dropped",
)
_LANES = {"suite_id": "Suite", "target_id": "Target", "runner": "Engine", "model": "Model"}
"""What may tell comparisons apart: fields of `GroupKey`, and how their columns are called."""
_CASE_HEADS = ("Case", "Candidate", "Baseline", "Difference", "Outcome", "Why the candidate did not pass")
_FIGURE_HEADS = ("Target", "Figure", "Value", "Interval", "n (cases)", "Errors", "Method")
_RATE_HEADS = ("Pass rate", "Interval", "n (cases)", "Passed", "Failed", "Errors", "Skipped", "Method")
_OF_RATES = (
    "- The pass rate averages a case's repeats first, then the cases, and leaves errors out; "
    "passed, failed, errors and skipped count trials."
)


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
    begins = opening(view)
    for line in begins.gates:
        yield ""
        yield f"**{gate_mark(line)} {escaped(line)}**"
    yield ""
    started = datetime.fromtimestamp(view.run.started_at, UTC).isoformat(timespec="seconds")
    head = view.head
    run_id = text(view.run.run_id)
    yield f"Run {run_id} of {started}, {extent_text(view)}, seed: {head.seed}."
    if view.run.state is not RunState.FINISHED:
        yield ""
        yield f"**This run is {view.run.state}: the figures cover only what was finished.**"
    for sentence in begins.answers:
        yield ""
        yield f"**{escaped(sentence)}**"
    yield from skill_lines(begins.skills)
    if begins.changes:
        yield ""
        yield from (f"- {escaped(line)}" for line in begins.changes)
    ranked = list(_engines(view))
    yield from _folded("Engines side by side, skill by skill", ranked) if begins.skills and ranked else ranked
    for note in (*run_notes(view), *judge_notes(view)):
        yield ""
        yield f"{escaped(note[0].upper() + note[1:])}."
    if any(suite.compared for suite in head.suites):
        yield from _folded("Cases of all skills", _cases(view)) if begins.skills else _cases(view)
    named = _names(view)
    for suite in head.suites:
        lines = _suite(view, suite, named)
        yield from _folded(text(suite.name or suite.id), lines) if begins.skills else lines


def _engines(view: RunView) -> Iterator[str]:
    """Yield the rankings of engines."""
    for ranking in rankings(view):
        yield ""
        yield f"**{escaped(ranking.headline)}**"
        yield ""
        yield from _table(list(map(escaped, ranking.heads)), ([*map(escaped, row)] for row in ranking.rows))


def _folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that a reader has to open, since a table of all skills says the most of them."""
    yield ""
    yield f"<details><summary>{title}</summary>"
    yield from lines
    yield ""
    yield "</details>"


def _cases(view: RunView) -> Iterator[str]:
    """The cases of all comparisons, arm beside arm, in the order of the suites' ids."""
    names = [name for name in _LANES if name in differing([pair.candidate for pair in view.summary.pairs])]
    yield ""
    yield "## Cases"
    yield ""
    yield "Repeats that passed of those that were graded, in both arms."
    yield ""
    yield from _table([*(_LANES[name] for name in names), *_CASE_HEADS], _case_cells(view, names))


def _case_cells(view: RunView, names: Sequence[str]) -> Iterator[list[str]]:
    for report in case_by_case(view):
        for pair in report.pairs:
            cells = []
            for group in (pair.candidate, pair.baseline):
                summary = report.summaries.get(group)
                cells.append(f"{text(group.arm)}: {passed_text(summary.counts) if summary else '–'}")
            reasons = (reason_of(one) for one in report.results.get(pair.candidate, ()))
            yield [
                *(text(getattr(pair.candidate, name) or "") for name in names),
                _known_as(report.case),
                *cells,
                points(pair.difference),
                _outcome(report, pair),
                text(next(filter(None, reasons), "")),
            ]


def _names(view: RunView) -> dict[tuple[str, int], str]:
    """Return what cases are called that have a name beside their id, by suite and place in it."""
    return {(case.suite_id, case.index): _known_as(case) for case in view.cases() if case.name not in ("", case.id)}


def _known_as(case: CaseHead) -> str:
    """Return the name of a case with its id behind it, or its id."""
    return escaped(case_name(case)) + (f" ({text(case.id)})" if case.name not in ("", case.id) else "")


def _outcome(report: CaseReport, pair: CasePair) -> str:
    summary = report.summaries.get(pair.candidate)
    is_apart = summary is not None and summary.outcome is CaseOutcome.QUARANTINED
    return f"{outcome_text(pair.outcome)}{' (in quarantine)' if is_apart else ''}"


def _suite(view: RunView, suite: SuiteHead, named: Mapping[tuple[str, int], str]) -> Iterator[str]:
    """Yield the section of a suite; cases that have a name, by suite and place in it, are called as `named` says."""
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
    yield from _rates(groups)
    yield from _lifts([pair for pair in compared(view) if pair.candidate.suite_id == suite.id])
    yield from _figures(suite, groups)
    for group in groups:
        yield from _group_tables(group)
        yield from _group(group, (_case_row(result, named) for result in view.results(group.key)))


def _rates(groups: list[GroupSummary]) -> Iterator[str]:
    """Yield the pass rates, and the figures of groups that have others in the place of one."""
    with_rate = [group for group in groups if not rated_figures(group)]
    others = [(group, figure) for group in groups for figure in rated_figures(group)]
    if with_rate:
        yield ""
        yield from _table(["Target", *_RATE_HEADS], ([_group_name(group), *_rate_cells(group)] for group in with_rate))
    if others:
        yield ""
        yield from _table(list(_FIGURE_HEADS), (_figure_cells(group, figure) for group, figure in others))
    notes = [*_notes(groups)]
    if with_rate:
        notes.insert(0, _OF_RATES)
    if notes:
        yield ""
        yield from notes


def _figure_cells(group: GroupSummary, figure: Figure) -> list[str]:
    """A figure that stands in place of a pass rate, in the order of `_FIGURE_HEADS`."""
    rate = figure.interval or RateInterval(rate=None, n=group.pass_rate.n)
    method = f"{rate.level * 100:g} % {text(rate.method)}" if rate.method else "–"
    cells = (percent(figure.value), interval_text(rate), str(rate.n), str(group.counts.errors), method)
    return [_group_name(group), text(figure.label), *cells]


def _lifts(pairs: Sequence[PairSummary]) -> Iterator[str]:
    if pairs:
        yield ""
        yield "Lift: over the cases that have a result in both arms, how much more often the candidate arm passes."
        yield ""
        yield from _table(list(_LIFT_HEADS), map(_lift_cells, pairs))


def _group_tables(group: GroupSummary) -> Iterator[str]:
    """Yield the tables that a plugin adds to a group."""
    for table in group.tables:
        heads, *rows = ([text(cell) for cell in cells] for cells in table_texts(table))
        yield ""
        yield f"{text(table.label)}: {_group_name(group)}."
        yield ""
        yield from _table(heads, rows)


def _notes(groups: list[GroupSummary]) -> Iterator[str]:
    """Return the remarks beside the rates. No line begins with a text from outside."""
    for group in groups:
        for note in group_notes(group):
            yield f"- {note[0].upper()}{note[1:]}: {_group_name(group)}."


def _figures(suite: SuiteHead, groups: list[GroupSummary]) -> Iterator[str]:
    if any(_further(group) for group in groups):
        yield ""
        yield f"Figures as {text(suite.format)} defines them: its own arithmetic over the trials; it knows no interval."
        yield ""
        yield from _figures_table(groups)


def _further(group: GroupSummary) -> tuple[Figure, ...]:
    """The figures of a group that do not stand in place of its pass rate."""
    return tuple(figure for figure in group.figures if figure not in rated_figures(group))


def _figures_table(groups: list[GroupSummary]) -> Iterator[str]:
    titles = {figure.name: figure.label for group in groups for figure in _further(group)}

    def cells(group: GroupSummary) -> list[str]:
        values = {figure.name: figure for figure in _further(group)}
        counted = (_group_name(group), str(group.counts.total), str(group.counts.errors))
        return [*counted, *(text(figure_text(values.get(name))) for name in titles)]

    heads = ["Target", "Trials", "Errors", *(text(label) for label in titles.values())]
    yield from _table(heads, map(cells, groups))


def _group(group: GroupSummary, cases: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f"### {_group_name(group)}"
    if group.latency.samples:
        yield ""
        yield f"Latency {latency_text(group.latency)}."
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
    share, bounds = percent(rate.rate), interval_text(rate)
    passed = f"{counts.passed} of {counts.total}"
    others = (counts.failed, counts.errors, counts.skipped)
    return [share, bounds, str(rate.n), passed, *map(str, others), method]


def _lift_cells(pair: PairSummary) -> list[str]:
    """A comparison, in the order of `_LIFT_HEADS`."""
    evidence, outcomes = pair.evidence, pair.outcomes
    if evidence:
        here = [interval_here_text(evidence), chance_here_text(evidence)]
        new = [interval_new_text(evidence), "–" if evidence.chance_new is None else chance_text(evidence.chance_new)]
        cells = [points(evidence.estimate), *here, *new]
    else:
        cells = ["–"] * 5
    counts = (outcomes.flip_to_pass, outcomes.pass_kept, outcomes.fail_kept, outcomes.flip_to_fail)
    dropped = sum(count for _, count in pair.dropped)
    names = (labels([pair.candidate])[0], pair.baseline.arm)
    return [*(escaped(name) for name in names), *cells, str(pair.n), *map(str, counts), str(dropped)]


def _case_row(result: TrialResult, named: Mapping[tuple[str, int], str]) -> str:
    return row(
        [
            named.get((result.suite_id, result.case_index)) or text(result.case_id),
            str(result.repeat),
            _MARKS[result.verdict],
            "–" if result.value is None else f"{result.value:.2f}",
            duration(result.execution.duration_s) + (" (recorded)" if result.execution.replayed else ""),
            text(reason_of(result)),
        ]
    )


def _group_name(group: GroupSummary) -> str:
    return f"{escaped(labels([group])[0])} ({text(group.runner)})"


def row(cells: Iterable[str]) -> str:
    """A table row from cells that are already escaped."""
    return "| " + " | ".join(cells) + " |"


def text(value: str) -> str:
    """Text from outside as one line that Markdown and HTML show as it is, cut if it is long."""
    return escaped(plain(value))


def escaped(shown: str) -> str:
    """A line that Markdown and HTML show as it is."""
    return in_markdown(shown)


def code(value: str) -> str:
    """Text inside a code span."""
    return plain(value).replace("`", "ˋ").replace("|", "\\|")
