"""One row per group: the columns of eval-skills first, then what it takes to trust a rate."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from skillgauge.api import Artifact, GroupSummary, RunView

COLUMNS = (
    # as eval-skills writes them
    "skillId",
    "benchmarkId",
    "completionRate",
    "partialScore",
    "errorRate",
    "p50Ms",
    "p95Ms",
    "compositeScore",
    # ours
    "arm",
    "runner",
    "model",
    "passRate",
    "passRateLower",
    "passRateUpper",
    "passRateMethod",
    "cases",
    "passed",
    "failed",
    "errors",
)

_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_QUOTED = re.compile(r'[",\r\n]')


class CsvReporter:
    """Writes a table for spreadsheets."""

    suffix = "csv"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """One file; results are not read, because the summary has all that it tells."""
        yield Artifact(chunks=(_line(cells) for cells in (COLUMNS, *map(_row, view.summary.groups))))

    def read(self, path: Path) -> RunView | None:
        """A table of groups is too little to make a run of."""
        return None


def _row(group: GroupSummary) -> tuple[str, ...]:
    figures = {figure.name: figure.value for figure in group.figures}
    latency, rate, counts = group.latency, group.pass_rate, group.counts
    return (
        text(group.target_id),
        text(group.suite_id),
        share(figures.get("completionRate")),
        share(figures.get("partialScore")),
        share(figures.get("errorRate")),
        _milliseconds(figures.get("p50Ms"), latency.p50_s),
        _milliseconds(figures.get("p95Ms"), latency.p95_s),
        share(figures.get("compositeScore")),
        text(group.arm),
        text(group.runner),
        text(group.model),
        share(rate.rate),
        share(rate.lower),
        share(rate.upper),
        text(rate.method),
        str(rate.n),
        str(counts.passed),
        str(counts.failed),
        str(counts.errors),
    )


def _line(cells: Iterable[str]) -> bytes:
    return (",".join(_quoted(cells)) + "\n").encode()


def _quoted(cells: Iterable[str]) -> Iterator[str]:
    """RFC 4180. The csv module of Python 3.11 leaves a lone carriage return unquoted."""
    for cell in cells:
        yield '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell


def text(value: str | None) -> str:
    """Text from outside that no spreadsheet takes for a formula; empty if unknown."""
    plain = (value or "").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return f"'{plain}" if _FORMULA.match(plain) else plain


def share(value: float | None) -> str:
    """A number with four decimals; empty if unknown."""
    return "" if value is None else f"{value:.4f}"


def _milliseconds(figure: float | None, seconds: float | None) -> str:
    """Whole milliseconds: the format's own figure, else ours."""
    if figure is not None:
        return f"{figure:.0f}"
    return "" if seconds is None else str(math.floor(seconds * 1000 + 0.5))
