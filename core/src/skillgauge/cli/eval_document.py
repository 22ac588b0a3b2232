"""What `eval` prints: the JSON document of `--json`, and the lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..plan.preparing import Prepared
from ..report.answer import sentences
from ..report.wording import counted, figure_text, interval_text, labels, percent, plain, rate_notes
from ..types.frozen import Frozen
from ..types.result import GroupSummary, RunInfo, RunView, Summary, TagSummary, TrialResult
from ..types.trial import PlanHead
from .decision import Decision
from .output import Rows, problem_document
from .plan_document import ProblemDocument

_TAGS = 3
"""Tags that are named of one group."""
_NAME = 80
"""Characters of a name that are shown."""


class EvalDocument(Frozen):
    """The document of `eval --json`."""

    schema_version: str = "1.0"
    exit_code: int
    verdict: str
    notices: tuple[str, ...] = ()
    sandbox: str
    run: RunInfo
    plan: PlanHead
    summary: Summary
    reports: dict[str, str]
    """Path of each report that was written, by reporter."""
    problems: tuple[ProblemDocument, ...] = ()
    """Warnings, and files that a search passed over."""
    results: tuple[TrialResult, ...]


def document(view: RunView, decision: Decision, written: Mapping[str, Path], prepared: Prepared) -> dict[str, object]:
    """The run as one JSON document."""
    return {
        "schema_version": "1.0",
        "exit_code": int(decision.exit_code),
        "verdict": decision.verdict,
        "notices": list(decision.notices),
        "sandbox": prepared.sandbox,
        "run": view.run.model_dump(mode="json"),
        "plan": view.head.model_dump(mode="json"),
        "summary": view.summary.model_dump(mode="json"),
        "reports": {name: str(path) for name, path in written.items()},
        "problems": [problem_document(problem) for problem in (*prepared.warnings, *prepared.suites.passed_over)],
        "results": Rows(
            lambda: (json.loads(result.model_dump_json(exclude_defaults=True)) for result in view.results()),
            some=view.summary.counts.total > 0,
        ),
    }


def human_lines(view: RunView) -> Iterator[str]:
    """For people at a terminal: each group's pass rate and figures, and below it, indented, what must be known of them.

    Of the tags only those are named in which something did not pass, the weakest first and at most three: reports have
    all of them. A single tag, or a group without any result, says nothing that the group's line does not.
    """
    groups = view.summary.groups
    for label, group in zip(labels(groups, _NAME), groups, strict=True):
        yield f"{label} — {rate_text(group)}{_figures(group)}"
        for note in _notes(group):
            yield f"  {note}"
    told = list(sentences(view))
    yield from told if len(told) > 1 else ()  # a single one is the verdict


def rate_text(measured: GroupSummary | TagSummary) -> str:
    """A pass rate with number of cases, errors, interval and its method."""
    rate, errors = measured.pass_rate, measured.counts.errors
    if rate.rate is None:
        return f"no result ({counted(errors, 'error')})"
    interval = ""
    if rate.method and rate.lower is not None and rate.upper is not None:
        interval = f", {rate.level:.0%} interval {interval_text(rate)}, {plain(rate.method, _NAME)}"
    known = f"n = {counted(rate.n, 'case')}, {counted(errors, 'error')}{interval}"
    return f"pass rate {percent(rate.rate)} ({known})"


def _notes(group: GroupSummary) -> Iterator[str]:
    yield from rate_notes(group)
    weak = _weakest_first(group.tags)
    if weak and len(group.tags) > 1 and group.pass_rate.rate is not None:
        named = "; ".join(f"{plain(tag.tag, _NAME)}: {rate_text(tag)}" for tag in weak[:_TAGS])
        more = f"; and {len(weak) - _TAGS} more" if len(weak) > _TAGS else ""
        yield f"weakest tags: {named}{more}"


def _weakest_first(tags: Sequence[TagSummary]) -> list[TagSummary]:
    """Tags in which something did not pass: by rate, of equal ones those of more cases first, unknown ones last."""
    weak = [tag for tag in tags if tag.pass_rate.rate != 1.0]
    return sorted(weak, key=lambda tag: (tag.pass_rate.rate is None, tag.pass_rate.rate or 0.0, -tag.pass_rate.n))


def _figures(group: GroupSummary) -> str:
    shown = [f"{figure.label}: {figure_text(figure)}" for figure in group.figures if figure.value is not None]
    over = "" if all(figure.n is not None for figure in group.figures) else f"over {group.counts.total} trials: "
    return f" | {over}{' | '.join(shown)}" if shown else ""
