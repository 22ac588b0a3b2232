"""A comparison in GitHub's Markdown. Every text from outside is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from skillgauge.api import LINE, plain
from skillgauge.api.report import moment
from skillgauge_run_comparisons.document import DiffDocument, Metric, Presence, ReportFacts, Role, SkillDiff
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
from skillgauge_run_views.markdown import in_markdown


def render(document: DiffDocument) -> str:
    """The whole comparison."""
    return "".join(f"{line}\n" for line in _lines(document))


def text(content: str, limit: int = LINE) -> str:
    """Text from outside as one line that Markdown and HTML show as it is, cut if it is long."""
    return in_markdown(plain(content, limit))


def _lines(document: DiffDocument) -> Iterator[str]:
    labels = [text(facts.label) for facts in (document.before, document.after)]
    yield f"## Delta Report: {' → '.join(labels)}"
    yield ""
    for label, facts in zip(labels, (document.before, document.after), strict=True):
        yield f"- {label}: {_facts(facts)}"
    for note in (*document.warnings, *document.unproven):
        yield f"- ⚠️ {text(note, SENTENCE)}"
    for skill in document.skills:
        yield from _skill(skill, labels)
    if not document.skills:
        yield from ("", "No evaluation results.")
    yield ""
    yield f"**{text(document.verdict, SENTENCE)}**"


def _facts(facts: ReportFacts) -> str:
    suites = ", ".join(text(suite) for suite in facts.suites) or "no suite"
    return f"{text(facts.file)}, {moment(facts.started_at)}, {suites}{facts.repeats_text}"


def _skill(skill: SkillDiff, labels: Sequence[str]) -> Iterator[str]:
    first, second = labels
    where = {Presence.BOTH: "", Presence.NEW: f" (new in {second})", Presence.REMOVED: f" (removed in {second})"}
    yield ""
    yield f"### {text(skill.title)}{where[skill.presence]}"
    if skill.versions:
        yield ""
        yield f"Version: {text(skill.versions)}"
    if skill.metrics:
        yield ""
        yield from _metrics(skill, labels)
    if skill.role is Role.BASELINE:
        yield from ("", BASELINE)
    if skill.also_changed:
        yield from ("", f"{circumstances(skill)}: {text(', '.join(skill.also_changed), SENTENCE)}.")
    if skill.common_tasks_only:
        yield from ("", f"The figures are computed over the cases that {first} and {second} have in common.")
    yield from _paragraph(evidence(skill))
    yield from _paragraph(judgement(skill))
    yield from _changed_tasks(skill, labels)
    yield from _changed_checks(skill, labels)
    if skill.presence is Presence.BOTH:
        yield from _listed(f"Cases only in {first}", skill, skill.tasks.only_before)
        yield from _listed(f"Cases only in {second}", skill, skill.tasks.only_after)
        yield from _listed("Cases with errors only, not compared", skill, skill.tasks.ungraded)
        yield from _listed("Cases that ask or check something else now, not compared", skill, skill.tasks.changed)


def _paragraph(sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield from ("", " ".join(text(sentence, SENTENCE) for sentence in sentences))


def _changed_tasks(skill: SkillDiff, labels: Sequence[str]) -> Iterator[str]:
    if skill.changes:
        yield ""
        yield _row(["Case", *labels, "Change", "Reason"])
        yield _row(["---"] * 5)
        for change in skill.changes[:LISTED]:
            cells = (skill.called(change.task), change.before.shown, change.after.shown, change.turn, change.reason)
            yield _row(text(cell) for cell in cells)
        yield from _more(len(skill.changes), "changed cases")


def _changed_checks(skill: SkillDiff, labels: Sequence[str]) -> Iterator[str]:
    if skill.checks:
        yield ""
        yield _row(["Case", "Check", *labels, "Change"])
        yield _row(["---"] * 5)
        for check in skill.checks[:LISTED]:
            yield _row(
                map(text, (skill.called(check.task), check.check, check.before.shown, check.after.shown, check.turn))
            )
        yield from _more(len(skill.checks), "changed checks")


def _metrics(skill: SkillDiff, labels: Sequence[str]) -> Iterator[str]:
    match skill.presence:
        case Presence.BOTH:
            yield _row(["Metric", *labels, "Δ"])
            yield _row(["---"] * 4)
            for metric in skill.metrics:
                sides = (value(metric.before, metric.unit), value(metric.after, metric.unit))
                yield _row([metric.label, *sides, _delta(metric)])
        case Presence.NEW | Presence.REMOVED:
            yield _row(["Metric", labels[skill.presence is Presence.NEW]])
            yield _row(["---"] * 2)
            for metric in skill.metrics:
                figure = metric.after if skill.presence is Presence.NEW else metric.before
                yield _row([metric.label, value(figure, metric.unit)])


def _delta(metric: Metric) -> str:
    if metric.delta is None:
        return delta(metric)
    return f"**{delta(metric)}** {arrow(metric)}".rstrip()


def _listed(title: str, skill: SkillDiff, tasks: Sequence[str]) -> Iterator[str]:
    if tasks:
        yield ""
        yield f"{title}: {', '.join(text(skill.called(task)) for task in tasks[:LISTED])}"
        yield from _more(len(tasks), "cases")


def _more(count: int, what: str) -> Iterator[str]:
    if count > LISTED:
        yield from ("", f"… and {count - LISTED:,} more {what}; the JSON form lists all of them.")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
