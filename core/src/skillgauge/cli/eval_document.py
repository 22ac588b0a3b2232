"""What `eval` prints: the JSON document of `--json`, and the lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..plan.preparing import Prepared
from ..report.gates import Decision
from ..types.frozen import Frozen
from ..types.result import Figure, GroupSummary, RunInfo, RunView, Summary, TagSummary, TrialResult
from ..types.trial import PlanHead
from .output import problem_document

_FEW = 20
"""Cases below which a perfect rate proves so little that it is said."""
_TAGS = 3
"""Tags that are named of one group."""
_NAME = 80
"""Characters of a name that are shown."""


class ProblemDocument(Frozen):
    """A problem that did not stop the run."""

    code: str
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    hint: str | None


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
        "results": [json.loads(result.model_dump_json(exclude_defaults=True)) for result in view.results()],
    }


def human_lines(view: RunView) -> Iterator[str]:
    """For people at a terminal: each group's pass rate and figures, and below it, indented, what must be known of them.

    Of the tags only those are named in which something did not pass, the weakest first and at most three: reports have
    all of them. A single tag, or a group without any result, says nothing that the group's line does not.
    """
    for group in view.summary.groups:
        yield f"{group_name(group)} — {rate_text(group)}{_figures(group)}"
        for note in _notes(group):
            yield f"  {note}"


def group_name(group: GroupSummary) -> str:
    """Target, arm and model of a group, as far as they tell it from others."""
    parts = [group.target_id, group.arm if group.arm != "direct" else None, group.model]
    return " · ".join(_one_line(part) for part in parts if part)


def rate_text(measured: GroupSummary | TagSummary) -> str:
    """A pass rate with number of cases, errors, interval and its method."""
    rate, errors = measured.pass_rate, measured.counts.errors
    if rate.rate is None:
        return f"no result ({errors} errors)"
    interval = ""
    if rate.method and rate.lower is not None and rate.upper is not None:
        method = _one_line(rate.method)
        interval = f", {rate.level:.0%} interval {rate.lower:.1%} to {rate.upper:.1%}, {method}"
    return f"pass rate {rate.rate:.1%} (n = {rate.n} cases, {errors} errors{interval})"


def _notes(group: GroupSummary) -> Iterator[str]:
    rate = group.pass_rate
    if rate.rate == 1.0 and rate.lower is not None and rate.n < _FEW:
        yield f"{rate.n} of {rate.n} cases passed; that proves no more than {rate.lower:.1%}"
    if group.pass_bounds:
        low, high = group.pass_bounds
        errors = group.counts.errors
        yield f"with {errors} errors the rate lies between {low:.1%} (all failed) and {high:.1%} (all passed)"
    weak = _weakest_first(group.tags)
    if weak and len(group.tags) > 1 and rate.rate is not None:
        named = "; ".join(f"{_one_line(tag.tag)}: {rate_text(tag)}" for tag in weak[:_TAGS])
        more = f"; and {len(weak) - _TAGS} more" if len(weak) > _TAGS else ""
        yield f"weakest tags: {named}{more}"


def _weakest_first(tags: Sequence[TagSummary]) -> list[TagSummary]:
    """Tags in which something did not pass: by rate, of equal ones those of more cases first, unknown ones last."""
    weak = [tag for tag in tags if tag.pass_rate.rate != 1.0]
    return sorted(weak, key=lambda tag: (tag.pass_rate.rate is None, tag.pass_rate.rate or 0.0, -tag.pass_rate.n))


def _one_line(text: str) -> str:
    """Text from outside without line breaks and anything else that a terminal would obey, cut if it is long."""
    plain = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(text.split()))
    return plain if len(plain) <= _NAME else f"{plain[: _NAME - 1]}…"


def _figures(group: GroupSummary) -> str:
    shown = [f"{figure.label}: {_figure(figure)}" for figure in group.figures if figure.value is not None]
    return f" | over {group.counts.total} trials: {' | '.join(shown)}" if shown else ""


def _figure(figure: Figure) -> str:
    value = figure.value or 0.0
    match figure.unit:
        case "ratio":
            return f"{value:.1%}"
        case "ms":
            return f"{value:.0f}ms"
        case "score":
            return f"{value:.3f}"
        case _:
            return f"{value:g}{figure.unit}"
