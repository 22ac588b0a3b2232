"""The events of a trial, in parts that can be shown: made of facts only, cut, and safe to print.

Texts of an excerpt have passed `plain_lines`; all others still have to pass `plain` where they are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from skillgauge.api import (
    EventKind,
    Execution,
    FileChange,
    Json,
    Score,
    TrajectoryEvent,
    TrialResult,
    Usage,
    plain_lines,
)
from skillgauge_documents.immutables import immutable

from .differences import difference

LISTED = 50
"""Checks, notes and files of one trial that are shown."""
CHARACTERS = 2_000
"""Of one text, half from its beginning and half from its end."""
STEPS = 60
"""Of one session, half from its beginning and half from its end."""

_KINDS = {
    EventKind.MESSAGE: "Message",
    EventKind.REASONING: "Reasoning",
    EventKind.TOOL_CALL: "Tool call",
    EventKind.TOOL_RESULT: "Result",
    EventKind.NOTICE: "Notice",
    EventKind.USER: "User",
}


@immutable
class Room:
    """The amount of a trial that is shown."""

    characters: int = CHARACTERS
    steps: int = STEPS


@immutable
class Excerpt:
    """Some text, cut if it is long."""

    title: str
    text: str
    note: str
    """What was left out; empty if nothing was."""


@immutable
class Step:
    """One thing that an agent did or saw."""

    kind: EventKind
    title: str
    name: str
    """Of the tool; empty if it has none."""
    is_error: bool
    content: Excerpt | None


@immutable
class CheckLine:
    """One check's result."""

    status: str
    name: str
    scorer: str
    beside: bool
    """Whether it stands beside the verdict."""
    value: float | None
    """Partial credit; `None` if the status says it all."""
    reason: str
    evidence: Excerpt | None
    """What the scorer, or a judge, rests its verdict on."""


@immutable
class FileLine:
    """A file that an agent changed."""

    path: str
    change: str
    note: str
    """Why there is no difference to show; empty if there is one."""
    difference: Excerpt | None


@immutable
class Transcript:
    """A trial as it can be read."""

    checks: tuple[CheckLine, ...]
    steps: tuple[Step, ...]
    steps_left_out: int
    """In the middle of the session."""
    files: tuple[FileLine, ...]
    facts: tuple[tuple[str, str], ...]
    """Whatever else is known, by name."""
    excerpts: tuple[Excerpt, ...]
    """What it gave out."""

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to show."""
        return not (self.checks or self.steps or self.files or self.facts or self.excerpts)

    @property
    def size(self) -> int:
        """Characters of its texts."""
        files = (one.difference for one in self.files)
        parts = (*(one.content for one in self.steps), *(one.evidence for one in self.checks), *self.excerpts, *files)
        return sum(len(one.text) for one in parts if one) + sum(len(one.reason) for one in self.checks)


def transcript(result: TrialResult, room: Room | None = None) -> Transcript:
    """Return the shown part of a trial; long texts are cut here, so that none is kept whole."""
    room = room or Room()
    execution = result.execution
    events = execution.trajectory.events if execution.trajectory else ()
    half = room.steps // 2
    shown = events if len(events) <= room.steps else (*events[:half], *events[-half:])
    return Transcript(
        checks=tuple(_check(score, room) for score in result.scores[:LISTED]),
        steps=tuple(_step(event, room) for event in shown),
        steps_left_out=len(events) - len(shown),
        files=tuple(_file(change, room) for change in execution.files[:LISTED]),
        facts=tuple(_facts(result)),
        excerpts=tuple(_excerpts(execution, room)),
    )


def excerpt(title: str, value: str, *, characters: int = CHARACTERS, stream_was_cut: bool = False) -> Excerpt:
    """The beginning and the end of a text, line breaks kept."""
    notes = ["cut at its limit when it was read"] if stream_was_cut else []
    shown = value
    if len(value) > characters:
        half = characters // 2
        left_out = len(value) - characters
        shown = f"{value[:half]}\n[… {left_out:,} characters left out …]\n{value[-half:]}"
        notes.append(f"{left_out:,} of {len(value):,} characters left out in the middle")
    return Excerpt(title, plain_lines(shown), "; ".join(notes))


def as_text(value: Json) -> str:
    """A value as people read it: a text as itself, of an object each key that holds something."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        held = {key: one for key, one in value.items() if one not in (None, "")}
        if len(value) == 1 and isinstance(only := next(iter(value.values())), str):
            return only
        return "\n".join(f"{key}:{_held(one)}" for key, one in held.items())
    return json.dumps(value, ensure_ascii=False)


def _held(value: Json) -> str:
    text = value.strip("\n") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "".join(f"\n  {line}" for line in text.split("\n")) if "\n" in text else f" {text}"


def _check(score: Score, room: Room) -> CheckLine:
    lines = [] if score.evidence is None else [as_text(score.evidence)]
    if score.usage and (used := usage_text(score.usage)):
        lines.append(f"The judge used {used}")
    evidence = excerpt("Evidence", "\n".join(lines), characters=room.characters) if lines else None
    credit = score.value if score.value not in (0.0, 1.0) else None
    return CheckLine(score.status, score.check_id, score.scorer, score.beside, credit, score.reason, evidence)


def _step(event: TrajectoryEvent, room: Room) -> Step:
    text = event.text or ("" if event.data is None else as_text(event.data))
    content = excerpt(_KINDS[event.kind], text, characters=room.characters) if text.strip() else None
    return Step(event.kind, _KINDS[event.kind], event.name or "", event.is_error, content)


def _file(change: FileChange, room: Room) -> FileLine:
    """A change with its difference, as far as its contents were kept."""
    is_whole = (change.was is not None or change.change == "created") and (
        change.text is not None or change.change == "deleted"
    )
    if change.left_out or not is_whole:
        return FileLine(change.path, change.change, change.left_out, None)
    text = excerpt("Difference", difference(change.was or "", change.text or ""), characters=room.characters)
    return FileLine(change.path, change.change, "", text)


def _attempt_facts(result: TrialResult) -> Iterator[tuple[str, str]]:
    """Yield what became of the attempts that do not count, and what each used."""
    for attempt in result.given_up[:LISTED]:
        failure = attempt.failure
        if attempt.is_cut_off:
            label, text = "Attempt cut off", failure.message
        else:
            label = "Attempt given up"
            text = f"{failure.failure_class}: {failure.message}; made again after {attempt.wait_s:g} s"
        used = usage_text(attempt.usage) if attempt.usage else ""
        yield label, f"{text}; {used}" if used else text


def _facts(result: TrialResult) -> Iterator[tuple[str, str]]:
    execution = result.execution
    for label, count in (("Checks", len(result.scores)), ("Files", len(execution.files))):
        if count > LISTED:
            yield label, f"the first {LISTED} of {count} are listed"
    if execution.failure:
        yield "Failure", f"{execution.failure.failure_class}, blamed on {execution.failure.blame}"
    if result.attempts > 1:
        yield "Attempts", str(result.attempts)
    yield from _attempt_facts(result)
    if execution.replayed:
        yield "Replayed", "a recording, whose time and cost are not of this run"
    yield from _of_session(execution)
    if execution.exit_code is not None:
        yield "Exit code", str(execution.exit_code)
    if execution.usage and (usage := usage_text(execution.usage)):
        yield "Usage", usage
    if execution.sandbox:
        yield "Sandbox", execution.sandbox
    for note in execution.notes[:LISTED]:
        yield "Note", note


def _of_session(execution: Execution) -> Iterator[tuple[str, str]]:
    """Yield the parts that an agent reports of its session; unknown ones are left out."""
    session = execution.trajectory
    if session is None:
        return
    if session.turns is not None:
        yield "Turns", str(session.turns)
    if session.skills_offered is not None:
        yield "Skills offered", _joined(session.skills_offered)
    if session.skills_fired is not None:
        yield "Skills used", _joined(f"{one.name} ({one.how})" for one in session.skills_fired)
    if session.blocked:
        yield "Blocked", _joined(f"{one.tool} by {one.by}" for one in session.blocked)


def _joined(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return ", ".join(every[:LISTED]) + more if every else "none"


def usage_text(usage: Usage) -> str:
    """Describe the known usage of tokens and money."""
    parts = (
        (usage.input_tokens, "input tokens"),
        (usage.cache_read_tokens, "tokens read from a cache"),
        (usage.cache_write_tokens, "tokens written to a cache"),
        (usage.output_tokens, "output tokens"),
        (usage.total_tokens, "tokens in all"),
    )
    counts = [f"{count:,} {what}" for count, what in parts if count is not None]
    if usage.cost_usd is not None:
        counts.append(f"{usage.cost_usd:.4f} USD" + (f" ({usage.cost_basis})" if usage.cost_basis else ""))
    return ", ".join(counts)


def _excerpts(execution: Execution, room: Room) -> Iterator[Excerpt]:
    output = execution.output
    text = output if output is None or isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=1)
    texts: set[str] = set()
    for title, value, is_stream in (
        ("Output", text, False),
        ("Answer", execution.text, False),
        ("Standard output", execution.stdout, True),
        ("Standard error", execution.stderr, True),
    ):
        if value and value.strip() and value not in texts:
            texts.add(value)
            cut = is_stream and execution.truncated
            yield excerpt(title, value, characters=room.characters, stream_was_cut=cut)
