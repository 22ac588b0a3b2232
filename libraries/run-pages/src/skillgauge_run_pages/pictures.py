"""Pictures to take away: the numbers of a table as a drawing of its own, and as comma-separated values.

Both stand in the page as addresses of the scheme `data`, so that a file without a server and without a script gives
them as well as a server does. Nothing in them loads anything.
"""

from __future__ import annotations

import csv
import io
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from skillgauge.api import plain
from skillgauge.api.report import Outcome, PairSummary, duration, percent, signed_points
from skillgauge_run_views.outcomes import outcome_text

from .efforts import HEIGHT, WIDTH, Boxes, Plane
from .summary import group_name
from .waterfall import Waterfall
from .wording import dollars

_NAMES, _SCALE, _NUMBERS, _ROW, _TOP = 300, 400, 230, 22, 34
"""Widths of the columns of a drawing with a row for each thing, the height of a row, and the room above them."""
_NAME = 46
"""Characters of a name."""
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1b1f24}.by{fill:#545d68}.scale{fill:none;stroke:#9aa3ad}"
    ".range{fill:#9db9ee}.point{fill:#1f57c3}.bounds{fill:none;stroke:#9db9ee;stroke-width:4}"
)
_FORMULA = re.compile(r"(^|;)(?=[\s\"']*[=+\-@＝＋－＠]|\t)")
"""Before what a spreadsheet takes for a formula, at the beginning of a cell or after a semicolon in it."""


@dataclass(frozen=True)
class Picture:
    """A drawing and the numbers in it."""

    name: str
    """Of its files, without their ending."""
    svg: str
    """The drawing as a document."""
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def svg_address(self) -> str:
        """The drawing as an address."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg.encode()).decode()}"

    @property
    def csv_address(self) -> str:
        """The numbers as an address."""
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([self.heads, *map(_inert, self.rows)])
        return f"data:text/csv;charset=utf-8;base64,{b64encode(written.getvalue().encode()).decode()}"


def forest(pairs: Sequence[PairSummary]) -> Picture:
    """Return the lifts of comparisons with their intervals, the greatest on top: a forest plot."""
    compared = [(pair, pair.evidence) for pair in pairs if pair.evidence]
    compared.sort(key=lambda each: each[1].estimate, reverse=True)
    lines, rows = [], []
    for pair, evidence in compared:
        bounds, name = evidence.interval_here, f"{group_name(pair.candidate) or pair.candidate.suite_id}"
        marks = _span(0.5 + bounds.lower / 2, 0.5 + bounds.upper / 2) + _stroke(0.5 + evidence.estimate / 2)
        span = f"{signed_points(bounds.lower)} to {signed_points(bounds.upper)}"
        lines.append((name, marks, f"{signed_points(evidence.estimate)} ({span}), n = {pair.n}"))
        counts = (str(getattr(pair.outcomes, outcome.value)) for outcome in Outcome)
        numbers = (f"{100 * value:.4g}" for value in (evidence.estimate, bounds.lower, bounds.upper))
        rows.append(
            (name, pair.candidate.suite_id, pair.candidate.runner, pair.baseline.arm, *numbers, str(pair.n), *counts)
        )
    heads = ("comparison", "suite", "engine", "baseline", "lift_points", "lower_points", "upper_points", "n_cases")
    svg = _drawn("Lift in points, with intervals for these cases", ("-100", "0", "+100"), lines)
    return Picture("lifts", svg, (*heads, *(outcome_text(outcome) for outcome in Outcome)), tuple(rows))


def spread(boxes: Boxes) -> Picture:
    """Return the amounts of groups as boxes on a common scale."""
    title, shown = boxes.measure.title, boxes.measure.shown
    most = max(box.most for box in boxes.boxes)
    lines, rows = [], []
    for box in boxes.boxes:
        five = (box.least, box.lower, box.median, box.upper, box.most)
        least, lower, median, upper, end = ((value / most if most else 0.0) for value in five)
        marks = _whisker(least, end) + _span(lower, upper) + _stroke(median)
        name = group_name(box.group) or box.group.suite_id
        lines.append((name, marks, f"median {shown(box.median)}, n = {box.n}"))
        numbers = (f"{value:.6g}" for value in five)
        rows.append((name, box.group.suite_id, box.group.runner, str(box.n), str(box.unknown), *numbers))
    heads = ("group", "suite", "engine", "n_trials", "unknown", "least", "quarter", "median", "three_quarters", "most")
    svg = _drawn(f"{title} of a session", (shown(0), "", shown(most)), lines)
    return Picture(f"sessions-{title.lower()}", svg, heads, tuple(rows))


def quality(plane: Plane) -> Picture:
    """Return cost against pass rate, with the names of the points below."""
    left, right, floor = plane.edges
    parts = [
        *(f'<path class="scale" d="M{left} {y}H{right}"/>{_text(0, y + 4, label)}' for y, label in plane.ticks),
        _text(left, floor + 20, "0 USD"),
        _text(right, floor + 20, dollars(plane.most_usd), end=True),
    ]
    rows = []
    for place, dot in enumerate(plane.dots):
        rate, name = dot.group.pass_rate, group_name(dot.group) or dot.group.suite_id
        parts.append(f'<path class="bounds" d="M{dot.x} {dot.top}V{dot.bottom}"/>')
        parts.append(f'<circle class="point" cx="{dot.x}" cy="{dot.y}" r="4"/>')
        parts.append(_text(dot.x - 8, dot.y - 6, dot.letter, end=True))
        parts.append(_text(left, HEIGHT + 16 + 18 * place, f"{dot.letter}  {plain(name, 60)}"))
        numbers = (f"{value:.6g}" if value is not None else "" for value in (rate.rate, rate.lower, rate.upper))
        rows.append((dot.letter, name, dot.group.runner, f"{dot.cost_usd:.6g}", *numbers, str(rate.n)))
    svg = _document(plane.summary, WIDTH, HEIGHT + 20 + 18 * len(plane.dots), parts)
    heads = ("point", "group", "engine", "cost_usd", "pass_rate", "lower", "upper", "n_cases")
    return Picture("cost-and-quality", svg, heads, tuple(rows))


def session(times: Waterfall) -> Picture:
    """Return the time of a session, answer by answer and call by call."""
    lines, rows = [], []
    for bar in times.bars:
        name = f"{bar.step} {bar.title} {bar.name}".rstrip()
        kind = "range" if bar.name else "point"
        marks = _span(bar.start_s / times.total_s, bar.end_s / times.total_s, kind)
        lines.append((name, marks, f"{duration(bar.took_s)}{', error' if bar.is_error else ''}"))
        rows.append(
            (str(bar.step), bar.title, bar.name, f"{bar.start_s:.6g}", f"{bar.end_s:.6g}", str(bar.is_error).lower())
        )
    svg = _drawn("Where the time of a session went", ("0", "", duration(times.total_s)), lines)
    return Picture("session", svg, ("step", "who", "tool", "start_s", "end_s", "error"), tuple(rows))


def squares(pair: PairSummary) -> Iterator[tuple[float, float, float, str]]:
    """Yield the place, size and outcome of each square of an outcome matrix, on a field of 40 by 40.

    The upper row passed in the candidate arm, the left column in the baseline arm; the area of a square is its share of
    the cases.
    """
    counts = pair.outcomes
    cells = (
        (Outcome.PASS_KEPT, 10, 10),
        (Outcome.FLIP_TO_PASS, 30, 10),
        (Outcome.FLIP_TO_FAIL, 10, 30),
        (Outcome.FAIL_KEPT, 30, 30),
    )
    total = sum(getattr(counts, outcome.value) for outcome, _, _ in cells)
    for outcome, x, y in cells:
        size = 19 * (getattr(counts, outcome.value) / total) ** 0.5 if total else 0.0
        yield round(x - size / 2, 1), round(y - size / 2, 1), round(size, 1), outcome.value


def matrix_text(pair: PairSummary) -> str:
    """Return an outcome matrix in words."""
    parts = (f"{getattr(pair.outcomes, outcome.value)} {outcome_text(outcome)}" for outcome in Outcome)
    return f"Cases by outcome: {', '.join(parts)}; {percent(_kept(pair))} of them alike in both arms"


def _kept(pair: PairSummary) -> float | None:
    counts = pair.outcomes
    total = counts.pass_kept + counts.fail_kept + counts.flip_to_pass + counts.flip_to_fail
    return (counts.pass_kept + counts.fail_kept) / total if total else None


def _drawn(title: str, ticks: tuple[str, str, str], lines: Sequence[tuple[str, str, str]]) -> str:
    """A row for each line: its name, its marks on the common scale, and its numbers."""
    bottom = _TOP + _ROW * len(lines)
    parts = [_text(0, 14, title)]
    for share, label, anchor in zip((0.0, 0.5, 1.0), ticks, ("start", "middle", "end"), strict=True):
        x = _NAMES + share * _SCALE
        parts.append(f'<path class="scale" d="M{x} {_TOP - 4}V{bottom}"/>')
        parts.append(f'<text class="by" x="{x}" y="{_TOP - 8}" text-anchor="{anchor}">{escape(label)}</text>')
    for place, (name, marks, numbers) in enumerate(lines):
        y = _TOP + _ROW * place
        parts.append(_text(0, y + 15, plain(name, _NAME)))
        parts.append(f'<g transform="translate({_NAMES} {y + 5})">{marks}</g>')
        parts.append(_text(_NAMES + _SCALE + 12, y + 15, numbers))
    return _document(title, _NAMES + _SCALE + _NUMBERS, bottom + 6, parts)


def _document(title: str, width: int, height: int, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _text(x: float, y: float, content: str, *, end: bool = False) -> str:
    anchor = ' text-anchor="end"' if end else ""
    return f'<text x="{x}" y="{y}"{anchor}>{escape(plain(content, 200))}</text>'


def _span(start: float, end: float, kind: str = "range") -> str:
    x, width = start * _SCALE, max(1.0, (end - start) * _SCALE)
    return f'<rect class="{kind}" x="{x:.1f}" y="1" width="{width:.1f}" height="10"/>'


def _stroke(at: float) -> str:
    return f'<rect class="point" x="{at * _SCALE - 1.5:.1f}" y="-1" width="3" height="14"/>'


def _whisker(start: float, end: float) -> str:
    return f'<path class="scale" d="M{start * _SCALE:.1f} 6H{end * _SCALE:.1f}"/>'


def _inert(row: Sequence[str]) -> list[str]:
    """The cells of a row, of which no text is taken for a formula by a spreadsheet."""
    return [cell if _is_number(cell) else _FORMULA.sub(r"\1'", plain(cell, 1_000)) for cell in row]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
