"""Figures of programs that were run in turns: medians, quotients of pairs, and the section of RESULTS.md."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

BEGIN = "<!-- peers: what follows is written by `make peers ARGS=--write` -->"
END = "<!-- peers: end -->"
QUIET = 0.1
"""Share of the machine that other processes may take in a run whose figures may be relied on."""
HEADINGS = (
    *("row", "floor", "others", "skillgauge", "times as fast as the fastest other, wall", "by processor time"),
    *("times as long as its floor, by processor time", "turns"),
)


class Role(Enum):
    """What an entry of a row is there for."""

    FLOOR = "floor"
    OURS = "ours"
    PEER = "peer"


@dataclass(frozen=True)
class Usage:
    """Seconds that a command took on the wall, and of the processors, all its children included."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True)
class Ratio:
    """A quotient of pairs of turns: the middle one, the least and the greatest."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        """The three figures, in bold if the program that is measured is the slower one."""
        middle = f"**{self.median:.2f}**" if self.median < 1 else f"{self.median:.2f}"
        return middle if self.least == self.most else f"{middle} ({self.least:.2f} to {self.most:.2f})"


@dataclass(frozen=True)
class Entry:
    """A program of a row with the figures of its turns.

    Args:
        label: what the table calls it.
        role: whether it is the floor, skillgauge, or another program.
        turns: figures in the order of the turns.
        reason: why it takes longer than others, where that is known.
    """

    label: str
    role: Role
    turns: tuple[Usage, ...]
    reason: str = ""

    @property
    def wall_s(self) -> float:
        """Median seconds on the wall."""
        return statistics.median(usage.wall_s for usage in self.turns)

    @property
    def cpu_s(self) -> float:
        """Median seconds of the processors."""
        return statistics.median(usage.cpu_s for usage in self.turns)


@dataclass(frozen=True)
class Row:
    """A job with the programs that did it.

    Args:
        title: what the job is.
        entries: the programs that were measured.
        failures: programs that were not, each with the reason.
        load: load of the machine when the row began.
        others: share of the machine's processors that other processes took meanwhile, 0 to 1; None if unknown.
    """

    title: str
    entries: tuple[Entry, ...]
    failures: Mapping[str, str]
    load: float
    others: float | None

    def of(self, role: Role) -> tuple[Entry, ...]:
        """The entries of one role."""
        return tuple(entry for entry in self.entries if entry.role is role)

    @property
    def fastest(self) -> Entry | None:
        """The other program with the least median on the wall."""
        return min(self.of(Role.PEER), key=lambda entry: entry.wall_s, default=None)

    @property
    def floor(self) -> Entry | None:
        """The floor that takes the most of the processors, which is the one that says most."""
        return max(self.of(Role.FLOOR), key=lambda entry: entry.cpu_s, default=None)


def ratio(over: Entry, under: Entry, measure: Callable[[Usage], float]) -> Ratio:
    """Return the quotient of two programs over the pairs of their turns; they have as many turns as each other."""
    quotients = [measure(a) / measure(b) for a, b in zip(over.turns, under.turns, strict=True)]
    return Ratio(statistics.median(quotients), min(quotients), max(quotients))


def wall(usage: Usage) -> float:
    """Seconds on the wall."""
    return usage.wall_s


def cpu(usage: Usage) -> float:
    """Seconds of the processors; never 0, which the clock says of what is shorter than its step."""
    return max(usage.cpu_s, 0.001)


def table(rows: Sequence[Row]) -> str:
    """Return all rows as a table in Markdown, with a line for each way in which skillgauge ran."""
    lines = [_line(HEADINGS), _line(["---"] * len(HEADINGS))]
    for row in rows:
        shared = [_figures(row.of(Role.FLOOR)), _figures(row.of(Role.PEER))]
        for number, entry in enumerate(row.of(Role.OURS)):
            first = [row.title, *shared] if number == 0 else ["the same", '"', '"']
            lines.append(_line([*first, _figures([entry]), *_quotients(row, entry), str(len(entry.turns))]))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figures(entries: Sequence[Entry]) -> str:
    return "; ".join(f"{entry.label} {entry.wall_s:.3g}/{entry.cpu_s:.3g}" for entry in entries) or "none"


def _quotients(row: Row, entry: Entry) -> list[str]:
    beside, floor = row.fastest, row.floor
    cells = ["-", "-"] if beside is None else [str(ratio(beside, entry, measure)) for measure in (wall, cpu)]
    return [*cells, f"{ratio(entry, floor, cpu).median:.2f}" if floor else "-"]


def losses(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each way in which skillgauge is slower than the fastest other program: by how much, and why.

    Where the floor alone takes longer than the other program, the line says so: nothing built on it can be first.
    """
    for row in rows:
        beside = row.fastest
        for entry in row.of(Role.OURS) if beside else ():
            assert beside is not None
            slower = [
                f"{1 / found.median:.2f} times {name}{_doubt(found)}"
                for name, measure in (("as long", wall), ("the processor time", cpu))
                if (found := ratio(beside, entry, measure)).median < 1
            ]
            if slower:
                why = entry.reason or "why is not known"
                yield f"- {row.title}, {entry.label}: {' and '.join(slower)} of {beside.label}; {why}{_bound(row)}."


def _bound(row: Row) -> str:
    """Say that nothing that stands on a row's floor can be first in it, if all turns agree."""
    beside, floor = row.fastest, row.floor
    if beside is None or floor is None:
        return ""
    times = [ratio(floor, beside, measure) for measure in (wall, cpu)]
    if min(found.least for found in times) <= 1:
        return ""
    longer, dearer = (f"{found.median:.2f}" for found in times)
    return f"; its floor ({floor.label}) alone takes {longer} times as long and {dearer} times the processor time"


def _doubt(found: Ratio) -> str:
    return " (undecided: some turns went the other way)" if found.most >= 1 else ""


def gaps(rows: Sequence[Row], absent: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each program that could not be had, and for each that failed at a row."""
    for name, reason in absent.items():
        yield f"- {name} is in no row: {reason}."
    for row in rows:
        for label, reason in row.failures.items():
            yield f"- {row.title}: {label} is left out: {reason}."


def quietness(rows: Sequence[Row]) -> str:
    """Say how much else the machine did, and what that means for the figures."""
    loads = [row.load for row in rows]
    text = f"The load was {min(loads):.1f} to {max(loads):.1f} when rows began"
    shares = [row.others for row in rows if row.others is not None]
    if not shares:
        return f"{text}; how much of the machine other processes took is not known here."
    text += f", and other processes took {min(shares):.0%} to {max(shares):.0%} of the processors while they ran"
    if max(shares) <= QUIET:
        return f"{text}."
    return f"{text}. **The machine was not quiet: take quotients by processor time for a hint, and wall for none.**"


def section(rows: Sequence[Row], absent: Mapping[str, str], about: str) -> str:
    """Return the section of RESULTS.md, its marks included.

    Args:
        rows: what was measured; at least one.
        absent: programs that could not be had, each with the reason.
        about: date, machine and versions.
    """
    parts = [BEGIN, "## Beside other programs", f"{about} {quietness(rows)}", EXPLAINED, table(rows)]
    slower = "\n".join(losses(rows))
    parts.append(
        f"Where skillgauge is the slower one:\n\n{slower}" if slower else "skillgauge is the slower one in no row."
    )
    if missing := "\n".join(gaps(rows, absent)):
        parts.append(f"Not measured:\n\n{missing}")
    return "\n\n".join([*parts, END])


EXPLAINED = (
    "Seconds on the wall / of the processors, medians of the turns. Quotients are medians of pairs of turns, least and "
    "greatest in brackets; above 1 skillgauge is the faster one, **bold** where it is not."
)


def replaced(document: str, new: str) -> str:
    """Return a document with a new section in the place of the one between the marks, or at its end.

    Raises:
        ValueError: one of the marks is there without the other, or in the wrong order.
    """
    begin, end = document.find(BEGIN), document.find(END)
    if begin == end == -1:
        return f"{document.rstrip()}\n\n{new}\n"
    if begin == -1 or end < begin:
        raise ValueError(f"the marks of the section do not fit: expected are {BEGIN} and, below it, {END}")
    return document[:begin] + new + document[end + len(END) :]
