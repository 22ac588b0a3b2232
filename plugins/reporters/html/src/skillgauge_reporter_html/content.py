"""What the page tells, worked out before it is drawn: which trials are listed, and what is said of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from skillgauge.api import (
    Execution,
    Figure,
    GroupKey,
    GroupSummary,
    JsonValue,
    RunState,
    RunView,
    SuiteHead,
    SuiteValidity,
    TagSummary,
    TrialResult,
    Usage,
    Verdict,
    duration,
    reason_of,
    sentences,
)

from .wording import Excerpt, excerpt

ROWS = 5_000
"""Trials listed in one report, shared evenly among its groups; those that did not pass come first. Of tags as many."""
SHORT = 50
"""Trials that are listed in one table; more are split by whether they passed, and those that did are folded."""
SHORT_TAGS = 20
"""Tags of a group that stand open; a longer table is folded, so that the trials are in reach."""
LISTED = 50
"""Scores, notes and files that are listed of one trial."""
FEW = 20
"""Cases below which a perfect rate proves so little that it is said."""


@dataclass(frozen=True)
class ScoreLine:
    """One check's result."""

    status: str
    name: str
    value: float | None
    reason: str


@dataclass(frozen=True)
class Row:
    """One trial."""

    case_index: int
    case_id: str
    repeat: int
    verdict: Verdict
    value: float | None
    duration_s: float | None
    reason: str
    scores: tuple[ScoreLine, ...]
    facts: tuple[tuple[str, str], ...]
    excerpts: tuple[Excerpt, ...]


@dataclass(frozen=True)
class CaseTable:
    """Some of a group's trials."""

    title: str
    rows: tuple[Row, ...]
    is_open: bool


@dataclass(frozen=True)
class Section:
    """The trials of one group, and its summary where there is one."""

    target_id: str | None
    arm: str
    runner: str
    model: str | None
    group: GroupSummary | None
    tags: tuple[TagSummary, ...]
    """The group's tags that are listed."""
    tables: tuple[CaseTable, ...]
    total: int
    listed: int

    @property
    def tags_are_open(self) -> bool:
        """Whether their table stands open."""
        return len(self.tags) <= SHORT_TAGS

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The format's numbers by name."""
        return {one.name: one for one in self.group.figures} if self.group else {}

    @property
    def proves_little(self) -> bool:
        """Whether every case passed, but of so few that it must be said."""
        rate = self.group.pass_rate if self.group else None
        return rate is not None and rate.rate == 1.0 and rate.lower is not None and rate.n < FEW


@dataclass(frozen=True)
class SuitePart:
    """One suite with its groups."""

    head: SuiteHead
    validity: SuiteValidity | None
    sections: tuple[Section, ...]

    @property
    def summarized(self) -> tuple[Section, ...]:
        """The sections that have a summary."""
        return tuple(section for section in self.sections if section.group)

    @property
    def figure_heads(self) -> Mapping[str, str]:
        """Name and label of every number that the format gives."""
        return {one.name: one.label for section in self.sections for one in section.figures.values()}

    @property
    def is_invalid(self) -> bool:
        """Whether its results prove nothing."""
        return self.validity is not None and not self.validity.valid


@dataclass(frozen=True)
class Page:
    """Everything that is drawn."""

    view: RunView
    suites: tuple[SuitePart, ...]

    @property
    def answers(self) -> tuple[str, ...]:
        """What the run was made to find out."""
        return tuple(sentences(self.view))

    @property
    def is_partial(self) -> bool:
        """Whether trials of the plan are missing."""
        return self.view.run.state is not RunState.FINISHED

    @property
    def invalid(self) -> int:
        """How many suites prove nothing."""
        return sum(suite.is_invalid for suite in self.suites)

    @property
    def started(self) -> str:
        """Date and time, in UTC."""
        return moment(self.view.run.started_at)

    @property
    def took(self) -> str:
        """Time from start to end; a dash if the end is unknown."""
        run = self.view.run
        return duration(None if run.finished_at is None else max(0.0, run.finished_at - run.started_at))

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """What took part, in which version."""
        head = self.view.head
        runners = ((one.name, one.version or "unknown") for one in head.runners)
        return (*((name, as_text(value)) for name, value in sorted(head.provenance.items())), *runners)


@dataclass
class _Bucket:
    """The trials of a group that may be listed."""

    passed: list[Row] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    total: int = 0

    def add(self, result: TrialResult, limit: int) -> None:
        """Count a trial, and keep it while there is room."""
        self.total += 1
        kept = self.passed if result.verdict is Verdict.PASS else self.others
        if len(kept) < limit:
            kept.append(row(result))


def page(view: RunView) -> Page:
    """Read the results once; memory does not grow with their number."""
    groups = {group.key: group for group in view.summary.groups}
    limit = max(1, ROWS // max(1, len(groups)))
    buckets = {key: _Bucket() for key in groups}
    for result in view.results():
        buckets.setdefault(result.group, _Bucket()).add(result, limit)
    sections = [_section(key, groups.get(key), bucket, limit) for key, bucket in buckets.items()]
    validity = {one.suite_id: one for one in view.summary.validity}
    return Page(
        view,
        tuple(
            SuitePart(
                suite,
                validity.get(suite.id),
                tuple(one for key, one in zip(buckets, sections, strict=True) if key.suite_id == suite.id),
            )
            for suite in view.head.suites
        ),
    )


def _section(key: GroupKey, group: GroupSummary | None, bucket: _Bucket, limit: int) -> Section:
    others, passed = bucket.others, bucket.passed[: limit - len(bucket.others)]
    listed = len(others) + len(passed)
    if listed <= SHORT:
        parts = [("Trials", [*others, *passed], True)]
    else:
        parts = [("Trials that did not pass", others, True), ("Trials that passed", passed, False)]
    tables = tuple(CaseTable(title, tuple(sorted(rows, key=_by_case)), opened) for title, rows, opened in parts if rows)
    tags = _tags(group.tags, limit) if group else ()
    return Section(key.target_id, key.arm, key.runner, key.model, group, tags, tables, bucket.total, listed)


def _tags(tags: tuple[TagSummary, ...], limit: int) -> tuple[TagSummary, ...]:
    """All tags in their order, or those of most cases if there are too many."""
    if len(tags) <= limit:
        return tags
    most = sorted(range(len(tags)), key=lambda at: tags[at].pass_rate.n, reverse=True)[:limit]
    return tuple(tags[at] for at in sorted(most))


def row(result: TrialResult) -> Row:
    """What is said of a trial; long outputs are cut here, so that none is kept whole."""
    scores = tuple(
        ScoreLine(score.status, " ".join(filter(None, (score.check_id, score.scorer))), score.value, score.reason)
        for score in result.scores[:LISTED]
    )
    return Row(
        case_index=result.case_index,
        case_id=result.case_id,
        repeat=result.repeat,
        verdict=result.verdict,
        value=result.value,
        duration_s=result.execution.duration_s,
        reason=reason_of(result),
        scores=scores,
        facts=tuple(_facts(result)),
        excerpts=tuple(_excerpts(result.execution)),
    )


def _facts(result: TrialResult) -> Iterator[tuple[str, str]]:
    execution = result.execution
    if len(result.scores) > LISTED:
        yield "Checks", f"the first {LISTED} of {len(result.scores)} are listed"
    if execution.failure:
        yield "Failure", f"{execution.failure.failure_class}, blamed on {execution.failure.blame}"
    if result.attempts > 1:
        yield "Attempts", str(result.attempts)
    for attempt in result.given_up[:LISTED]:
        used = _usage(attempt.usage) if attempt.usage else ""
        told = f"{attempt.failure.failure_class}: {attempt.failure.message}; made again after {attempt.wait_s:g} s"
        yield "Attempt given up", f"{told}; {used}" if used else told
    if execution.exit_code is not None:
        yield "Exit code", str(execution.exit_code)
    usage = _usage(execution.usage) if execution.usage else ""
    if usage:
        yield "Usage", usage
    if execution.sandbox:
        yield "Sandbox", execution.sandbox
    if execution.files:
        yield "Files", _joined(f"{file.path} ({file.change})" for file in execution.files)
    for note in execution.notes[:LISTED]:
        yield "Note", note


def _usage(usage: Usage) -> str:
    """What is known of tokens and money."""
    parts = (
        (usage.input_tokens, "input tokens"),
        (usage.cache_read_tokens, "tokens read from a cache"),
        (usage.cache_write_tokens, "tokens written to a cache"),
        (usage.output_tokens, "output tokens"),
        (usage.total_tokens, "tokens in all"),
    )
    known = [f"{count:,} {what}" for count, what in parts if count is not None]
    if usage.cost_usd is not None:
        known.append(f"{usage.cost_usd:.4f} USD" + (f" ({usage.cost_basis})" if usage.cost_basis else ""))
    return ", ".join(known)


def _excerpts(execution: Execution) -> Iterator[Excerpt]:
    output = None if execution.output is None else as_text(execution.output)
    seen: set[str] = set()
    for title, value, is_stream in (
        ("Output", output, False),
        ("Answer", execution.text, False),
        ("Standard output", execution.stdout, True),
        ("Standard error", execution.stderr, True),
    ):
        if value and value.strip() and value not in seen:
            seen.add(value)
            yield excerpt(title, value, stream_was_cut=is_stream and execution.truncated)


def _joined(items: Iterable[str]) -> str:
    every = list(items)
    rest = len(every) - LISTED
    return ", ".join(every[:LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _by_case(one: Row) -> tuple[int, int]:
    return one.case_index, one.repeat


def as_text(value: JsonValue) -> str:
    """A JSON value as text; a text as itself."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def moment(seconds: float) -> str:
    """Date and time in UTC, without fractions."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
