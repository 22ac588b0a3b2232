"""A comparison as one self-contained page: no script, no address of anything, both colour schemes, fit for paper.

Every text from outside goes through `text`. Should markup ever slip through, the page's own policy forbids scripts and
every style but the one whose hash it names.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files

from skillgauge.api import LINE, plain
from skillgauge.api.report import moment
from skillgauge_run_comparisons.document import (
    CheckChange,
    DiffDocument,
    Metric,
    Presence,
    ReportFacts,
    Role,
    SkillDiff,
    TaskChange,
    Turn,
)
from skillgauge_run_comparisons.numbers import (
    BASELINE,
    LISTED,
    SENTENCE,
    arrow,
    circumstances,
    delta,
    evidence,
    judgement,
    value,
)

_TURNS = {Turn.BROKE: "worse", Turn.WEAKER: "worse", Turn.FIXED: "better", Turn.STRONGER: "better"}


def render(document: DiffDocument) -> str:
    """The whole page."""
    return "".join(f"{line}\n" for line in _lines(document))


def text(content: str, limit: int = LINE) -> str:
    """Text from outside as HTML that keeps its reading direction to itself, cut if it is long."""
    return f"<bdi>{escape(plain(content, limit))}</bdi>"


def _lines(document: DiffDocument) -> Iterator[str]:
    reports = (document.before, document.after)
    labels = [text(facts.label) for facts in reports]
    title = escape(" → ".join(plain(facts.label, 60) for facts in reports))
    subject = _subject(document)
    style = files(__package__).joinpath("diff.css").read_text("utf-8")
    style_hash = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style_hash}'; base-uri 'none'; form-action 'none'"
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    prefix = f"{escape(plain(subject, 60))}: " if subject else ""
    yield f"<title>{prefix}{title} – skillgauge comparison</title>"
    yield f"<style>{style}</style></head>"
    yield "<body>"
    prefix = f"{text(subject, 60)}: " if subject else ""
    yield f"<h1>{prefix}{' → '.join(labels)}</h1>"
    yield f'<p class="verdict {document.regression}">{text(document.verdict, SENTENCE)}</p>'
    yield from _items((f"{label}: {_facts(facts)}" for label, facts in zip(labels, reports, strict=True)), "facts")
    yield from _items((text(note, SENTENCE) for note in (*document.warnings, *document.unproven)), "warning")
    for skill in document.skills:
        yield from _skill(skill, labels)
    if not document.skills:
        yield "<p>No evaluation results.</p>"
    yield "</body></html>"


def _subject(document: DiffDocument) -> str:
    """Return the one skill or suite that the comparison is about; empty if it is about several."""
    if len(document.skills) == 1:
        return document.skills[0].title
    subjects = {skill.skill or skill.suite for skill in document.skills}
    return subjects.pop() if len(subjects) == 1 else ""


def _facts(facts: ReportFacts) -> str:
    suites = ", ".join(text(suite) for suite in facts.suites) or "no suite"
    return f"{text(facts.file)}, {moment(facts.started_at)}, {suites}{facts.repeats_text}"


def _items(items: Iterable[str], kind: str) -> Iterator[str]:
    listed = [f"<li>{item}</li>" for item in items]
    if listed:
        yield f'<ul class="{kind}">{"".join(listed)}</ul>'


def _skill(skill: SkillDiff, labels: Sequence[str]) -> Iterator[str]:
    first, second = labels
    where = {Presence.BOTH: "", Presence.NEW: f" (new in {second})", Presence.REMOVED: f" (removed in {second})"}
    yield f"<section><h2>{text(skill.title)}{where[skill.presence]}</h2>"
    if skill.versions:
        yield f'<p class="muted">Version: {text(skill.versions)}</p>'
    if skill.metrics:
        yield from _metrics(skill, labels)
    if skill.role is Role.BASELINE:
        yield f"<p>{BASELINE}</p>"
    if skill.also_changed:
        yield f"<p>{circumstances(skill)}: {text(', '.join(skill.also_changed), SENTENCE)}.</p>"
    if skill.common_tasks_only:
        yield f"<p>The figures are computed over the cases that {first} and {second} have in common.</p>"
    yield from _paragraph(evidence(skill))
    yield from _paragraph(judgement(skill))
    yield from _changed_tasks(skill, labels)
    yield from _changed_checks(skill, labels)
    if skill.presence is Presence.BOTH:
        yield from _listed(f"Cases only in {first}", skill, skill.tasks.only_before)
        yield from _listed(f"Cases only in {second}", skill, skill.tasks.only_after)
        yield from _listed("Cases with errors only, not compared", skill, skill.tasks.ungraded)
        yield from _listed("Cases that ask or check something else now, not compared", skill, skill.tasks.changed)
    yield "</section>"


def _paragraph(sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield f"<p>{' '.join(text(sentence, SENTENCE) for sentence in sentences)}</p>"


def _changed_tasks(skill: SkillDiff, labels: Sequence[str]) -> Iterator[str]:
    if skill.changes:
        yield from _table(
            ["Case", *labels, "Change", "Reason"],
            (_change(one, skill) for one in skill.changes[:LISTED]),
            "changes",
        )
        yield from _more(len(skill.changes), "changed cases")


def _changed_checks(skill: SkillDiff, labels: Sequence[str]) -> Iterator[str]:
    if skill.checks:
        heads = ["Case", "Check", *labels, "Change"]
        yield from _table(heads, (_check(one, skill) for one in skill.checks[:LISTED]), "checks")
        yield from _more(len(skill.checks), "changed checks")


def _metrics(skill: SkillDiff, labels: Sequence[str]) -> Iterator[str]:
    match skill.presence:
        case Presence.BOTH:
            rows = (_metric(one, (one.before, one.after), with_delta=True) for one in skill.metrics)
            yield from _table(["Metric", *labels, "Δ"], rows, "metrics")
        case Presence.NEW:
            rows = (_metric(one, (one.after,), with_delta=False) for one in skill.metrics)
            yield from _table(["Metric", labels[1]], rows, "metrics")
        case Presence.REMOVED:
            rows = (_metric(one, (one.before,), with_delta=False) for one in skill.metrics)
            yield from _table(["Metric", labels[0]], rows, "metrics")


def _metric(metric: Metric, sides: Sequence[float | None], *, with_delta: bool) -> str:
    cells = [f'<td class="number">{value(side, metric.unit)}</td>' for side in sides]
    if with_delta:
        cells.append(f'<td class="number {metric.direction}">{f"{delta(metric)} {arrow(metric)}".rstrip()}</td>')
    return f'<th scope="row">{escape(metric.label)}</th>{"".join(cells)}'


def _change(change: TaskChange, skill: SkillDiff) -> str:
    return f'<th scope="row">{text(skill.called(change.task))}</th>{_turned(change)}<td>{text(change.reason)}</td>'


def _check(change: CheckChange, skill: SkillDiff) -> str:
    return f'<th scope="row">{text(skill.called(change.task))}</th><td>{text(change.check)}</td>{_turned(change)}'


def _turned(change: TaskChange | CheckChange) -> str:
    sides = "".join(f"<td>{text(side.shown)}</td>" for side in (change.before, change.after))
    return f'{sides}<td class="{_TURNS[change.turn]}">{change.turn}</td>'


def _table(heads: Sequence[str], rows: Iterable[str], kind: str) -> Iterator[str]:
    """A table that scrolls inside its box; heads and rows are HTML."""
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{kind}"><table class="{kind}">'
    cells = "".join(f'<th scope="col">{head}</th>' for head in heads)
    yield f"<thead><tr>{cells}</tr></thead><tbody>"
    yield from (f"<tr>{row}</tr>" for row in rows)
    yield "</tbody></table></div>"


def _listed(title: str, skill: SkillDiff, tasks: Sequence[str]) -> Iterator[str]:
    if tasks:
        yield f"<p>{title}: {', '.join(text(skill.called(task)) for task in tasks[:LISTED])}</p>"
        yield from _more(len(tasks), "cases")


def _more(count: int, what: str) -> Iterator[str]:
    if count > LISTED:
        yield f'<p class="muted">… and {count - LISTED:,} more {what}; the JSON form lists all of them.</p>'
