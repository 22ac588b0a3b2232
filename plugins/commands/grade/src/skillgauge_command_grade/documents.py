"""The report on sessions without a suite: a line a session, the figures of each skill, and all together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from skillgauge.api import EventKind, FoundSession, Frozen, Usage, cut, plain
from skillgauge.api.report import UNKNOWN, counted
from skillgauge.api.run import Output

from .finding import SessionFile, Sessions

_PROMPT = 200
"""Characters of a prompt in the document."""
_CELL = 40
"""Characters of a cell of the table."""


class FiredIn(Frozen):
    """A skill that fired in a session."""

    name: str
    how: str
    """`invoked` by its tool, `read` from its file, or `explicit` in the prompt."""


class SessionRow(Frozen):
    """One session. What its program did not write down is `null`, never 0."""

    path: str
    """As it was found: relative to the working directory if it lies below."""
    engine: str
    version: str | None
    model: str | None
    started_at: float | None
    """Seconds since the epoch."""
    prompt: str | None
    """The beginning of what was asked first."""
    user_turns: int | None
    """How often the user said something."""
    skills_offered: tuple[str, ...] | None
    skills_fired: tuple[FiredIn, ...] | None
    model_calls: int | None
    tool_calls: int
    blocked: int | None
    """Calls of tools that were stopped."""
    tokens: int | None
    cost_usd: float | None
    duration_s: float | None
    """Seconds from the first line of its file to the last, pauses of the user included."""
    failure: str | None
    """Why it came to no answer; `null`: it did."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, file: SessionFile, session: FoundSession, cwd: Path) -> SessionRow:
        """The row of a session."""
        execution, path = session.execution, file.path
        trajectory, usage = execution.trajectory, execution.usage
        events = trajectory.events if trajectory else ()
        fired = trajectory.skills_fired if trajectory else None
        return cls(
            path=str(path.relative_to(cwd) if path.is_relative_to(cwd) else path),
            engine=session.engine.name,
            version=session.engine.version,
            model=session.engine.model,
            started_at=session.started_at,
            prompt=cut(session.prompts[0], _PROMPT) if session.prompts else None,
            user_turns=len(session.prompts) or None,
            skills_offered=trajectory.skills_offered if trajectory else None,
            skills_fired=None if fired is None else tuple(FiredIn(name=one.name, how=one.how) for one in fired),
            model_calls=trajectory.model_calls if trajectory else None,
            tool_calls=sum(event.kind is EventKind.TOOL_CALL for event in events),
            blocked=None if trajectory is None or trajectory.blocked is None else len(trajectory.blocked),
            tokens=_tokens(usage),
            cost_usd=usage.cost_usd if usage else None,
            duration_s=execution.duration_s,
            failure=execution.failure.message if execution.failure else None,
            notes=execution.notes,
        )


class SkillRow(Frozen):
    """One skill in all sessions."""

    name: str
    offered: int
    """Sessions that tell it was offered."""
    fired: int
    """Sessions in which it fired, in whatever way."""
    fired_where_offered: int
    how: dict[str, int]
    """The same by the way in which it fired; a session may have several."""


class Totals(Frozen):
    """All sessions together. A sum leaves out sessions that do not tell; how many those are stands beside it."""

    sessions: int
    failed: int
    """Sessions that came to no answer."""
    without_skills: int
    """Sessions in which no skill fired."""
    unknown_skills: int
    """Sessions that do not tell which skills fired."""
    model_calls: int
    tool_calls: int
    tokens: int | None
    """`null` if no session tells."""
    unknown_tokens: int
    cost_usd: float | None
    unknown_cost: int


class SessionsDocument(Frozen):
    """The output of `grade --json` without a suite."""

    schema_version: str = "1.0"
    is_controlled: bool = Field(default=False, description="Always false: nobody chose model, prompt or skills.")
    sessions: tuple[SessionRow, ...]
    skills: tuple[SkillRow, ...]
    """Those that were offered or fired anywhere, by how often they fired."""
    totals: Totals

    @classmethod
    def of(cls, sessions: Sessions, cwd: Path) -> SessionsDocument:
        """Read all sessions, one after the other."""
        rows = tuple(SessionRow.of(file, session, cwd) for file, session in sessions.read())
        return cls(sessions=rows, skills=tuple(_skills(rows)), totals=_totals(rows))


def _tokens(usage: Usage | None) -> int | None:
    """All tokens; unknown if the session tells none."""
    if usage is None or not any(
        count is not None for name, count in usage.model_dump().items() if name.endswith("_tokens")
    ):
        return None
    return usage.all_tokens


def _skills(rows: Sequence[SessionRow]) -> Iterator[SkillRow]:
    offered = Counter(name for row in rows for name in dict.fromkeys(row.skills_offered or ()))
    fired: dict[str, list[SessionRow]] = {}
    how: dict[str, Counter[str]] = {}
    for row in rows:
        for skill in row.skills_fired or ():
            sessions = fired.setdefault(skill.name, [])
            if row not in sessions[-1:]:
                sessions.append(row)
            how.setdefault(skill.name, Counter())[skill.how] += 1
    names = dict.fromkeys((*fired, *offered))
    for name in sorted(names, key=lambda name: (-len(fired.get(name, ())), -offered[name], name)):
        sessions = fired.get(name, [])
        yield SkillRow(
            name=name,
            offered=offered[name],
            fired=len(sessions),
            fired_where_offered=sum(name in (row.skills_offered or ()) for row in sessions),
            how=dict(how.get(name, {})),
        )


def _totals(rows: Sequence[SessionRow]) -> Totals:
    tokens = [row.tokens for row in rows if row.tokens is not None]
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return Totals(
        sessions=len(rows),
        failed=sum(row.failure is not None for row in rows),
        without_skills=sum(row.skills_fired == () for row in rows),
        unknown_skills=sum(row.skills_fired is None for row in rows),
        model_calls=sum(row.model_calls or 0 for row in rows),
        tool_calls=sum(row.tool_calls for row in rows),
        tokens=sum(tokens) if tokens else None,
        unknown_tokens=len(rows) - len(tokens),
        cost_usd=sum(costs) if costs else None,
        unknown_cost=len(rows) - len(costs),
    )


def print_sessions(document: SessionsDocument, output: Output) -> None:
    """Print the document for people."""
    heads = ("Session", "Engine", "Model", "Fired", "Turns", "Calls", "Tools", "Tokens", "USD")
    folder = _folder(document.sessions)
    if folder:
        output.line(f"below {plain(folder)}:")
    output.table(heads, (_cells(row, folder) for row in document.sessions))
    if document.skills:
        output.line()
        output.table(
            ("Skill", "Offered in", "Fired in", "How"),
            map(_skill_cells, document.skills),
        )
    for row in document.sessions:
        for text in (*([f"no answer: {row.failure}"] if row.failure else []), *row.notes):
            output.notice(f"{plain(row.path)}: {plain(text)}")
    output.notice(
        "these sessions are uncontrolled: who began them chose prompt, model and skills, so they compare nothing"
    )
    output.verdict(_verdict(document.totals))


def _folder(rows: Sequence[SessionRow]) -> str:
    """The folder that all sessions lie in, if there are several."""
    paths = {str(Path(row.path).parent) for row in rows}
    absolute = {Path(path).is_absolute() for path in paths}
    common = os.path.commonpath(paths) if len(rows) > 1 and len(absolute) == 1 else ""
    return "" if common in ("", ".", "/") else common


def _cells(row: SessionRow, folder: str) -> tuple[str, ...]:
    fired = (
        None if row.skills_fired is None else ", ".join(dict.fromkeys(one.name for one in row.skills_fired)) or "none"
    )
    return (
        plain(os.path.relpath(row.path, folder) if folder else row.path),
        plain(" ".join(filter(None, (row.engine, row.version))), _CELL),
        _known(row.model),
        _known(fired),
        _known(row.user_turns),
        _known(row.model_calls),
        str(row.tool_calls),
        UNKNOWN if row.tokens is None else f"{row.tokens:,}",
        UNKNOWN if row.cost_usd is None else _usd(row.cost_usd),
    )


def _known(value: str | int | None) -> str:
    return UNKNOWN if value is None else plain(str(value), _CELL)


def _skill_cells(row: SkillRow) -> tuple[str, ...]:
    how = ", ".join(f"{count} {plain(how)}" for how, count in row.how.items())
    return plain(row.name, _CELL), counted(row.offered, "session"), counted(row.fired, "session"), how


def _verdict(totals: Totals) -> str:
    parts = [counted(totals.sessions, "session")]
    if totals.failed:
        parts.append(f"{totals.failed} without an answer")
    parts.append(f"no skill fired in {totals.without_skills}")
    if totals.unknown_skills:
        parts.append(f"{totals.unknown_skills} do not tell which skills fired")
    tokens = "tokens unknown" if totals.tokens is None else f"{totals.tokens:,} tokens"
    cost = "cost unknown" if totals.cost_usd is None else f"{_usd(totals.cost_usd)} USD"
    parts.append(f"{tokens}{_lacking(totals.unknown_tokens, totals)}")
    parts.append(f"{cost}{_lacking(totals.unknown_cost, totals)}")
    return "; ".join(parts)


def _usd(cost: float) -> str:
    """Dollars; a session may cost less than a cent."""
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.4f}"


def _lacking(unknown: int, totals: Totals) -> str:
    """Return the number of sessions that a sum lacks, in words; empty if it lacks none or all."""
    return f" (unknown of {counted(unknown, 'session')})" if 0 < unknown < totals.sessions else ""
