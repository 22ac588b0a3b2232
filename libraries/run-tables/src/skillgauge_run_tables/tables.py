"""Tables for papers: a row for each skill, engine and model, with intervals, as Markdown, LaTeX or HTML.

Numbers are worded and rounded as every report does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from skillgauge.api import DIRECT, plain
from skillgauge.api.report import UNKNOWN, chance_text, counted, percent, signed_points
from skillgauge_run_views.markdown import in_markdown

Row = Mapping[str, Any]
_NUMBERS = {"Cases", "Pass rate", "With skill", "Without", "Lift (points)", "p"}
_FINDINGS = {
    "helps": "helps",
    "hurts": "hurts",
    "no_difference": "no difference",
    "undecided": "cannot be told",
    None: "proves nothing",
}
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "–": r"\textendash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[]*"},
}
"""What LaTeX takes for a command, or after `\\\\` for an argument of it."""
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))
_LIGATURE = re.compile(r"([-',])(?=\1)")
"""Two of these in a row become another sign."""
_SIGN = re.compile(r"(?<!\w)[-+](?=\d)")
"""The sign of a number, which is longer than a hyphen."""


def in_latex(text: str) -> str:
    """Return a line that LaTeX prints as it is."""
    apart = (
        _SPECIAL.sub(lambda found: _LATEX[found[0]], part) for part in _LIGATURE.sub("\\1\0", plain(text)).split("\0")
    )
    return "{}".join(apart)


@dataclass(frozen=True)
class Table:
    """Cells as text, the heads first."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    """Sentences that belong below it."""

    def to_markdown(self) -> str:
        """Return it in Markdown, numbers to the right."""
        rule = [" --: " if head in _NUMBERS else " --- " for head in self.heads]
        lines = [_line(self.heads), f"|{'|'.join(rule)}|", *map(_line, self.rows)]
        notes = [f"\n{in_markdown(note)}" for note in self.notes]
        return "\n".join((*lines, *notes)) + "\n"

    def to_latex(self) -> str:
        """Return it as a `tabular` with the rules of the package `booktabs`; notes are comments below it."""
        aligned = "".join("r" if head in _NUMBERS else "l" for head in self.heads)
        lines = [f"\\begin{{tabular}}{{{aligned}}}", "\\toprule", _latex_line(map(in_latex, self.heads)), "\\midrule"]
        lines += [_latex_line(map(self._in_latex, self.heads, row)) for row in self.rows]
        lines += ["\\bottomrule", "\\end{tabular}"]
        return "\n".join((*lines, *(f"% {in_latex(note)}" for note in self.notes))) + "\n"

    def _in_latex(self, head: str, cell: str) -> str:
        return _SIGN.sub(r"$\g<0>$", in_latex(cell)) if head in _NUMBERS else in_latex(cell)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_latex_(self) -> None:
        """Return nothing: notebooks show LaTeX as mathematics, which this is not."""

    def _repr_html_(self) -> str:
        return html_table(self.heads, [[escape(plain(cell)) for cell in row] for row in self.rows], self.notes)

    def __str__(self) -> str:
        return self.to_markdown()


def html_table(heads: Iterable[str], rows: Iterable[Iterable[str]], notes: Iterable[str] = ()) -> str:
    """Return a table as HTML.

    Args:
        heads: texts.
        rows: cells that are HTML already.
        notes: texts.
    """
    head = "".join(f'<th scope="col" style="text-align:left">{escape(plain(one))}</th>' for one in heads)
    body = "".join(f"<tr>{''.join(f'<td style=text-align:left>{cell}</td>' for cell in row)}</tr>" for row in rows)
    below = "".join(f"<p>{escape(plain(note))}</p>" for note in notes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def paper_table(groups: Sequence[Row], comparisons: Sequence[Row], runs: Sequence[Row]) -> Table:
    """Return a row for each comparison, and one for each other group under test.

    Args:
        groups: records of groups.
        comparisons: records of comparisons.
        runs: records of the runs that they are of.
    """
    compared = {_key(row) for row in comparisons}
    started = {row["run_id"]: f"{row['started_at']:%Y-%m-%d %H:%M}" for row in runs}
    alone = [group for group in groups if not group["is_baseline"] and _key(group) not in compared]
    lines = [*(_compared(row, started) for row in comparisons), *(_alone(row, started) for row in alone)]
    heads = tuple(head for head in _HEADS if _is_shown(head, lines))
    rows = tuple(tuple(line[head] for head in heads) for line in lines)
    return Table(heads, rows, tuple(_notes(comparisons, groups)))


_IF_SEVERAL = ("Run", "Suite", "Arm", "Baseline", "Figure", "Engine", "Model")
"""Columns that stand only where they tell rows apart."""
_HEADS = (
    "Run",
    "Skill",
    "Suite",
    "Arm",
    "Baseline",
    "Engine",
    "Model",
    "Cases",
    "Figure",
    "Pass rate",
    "With skill",
    "Without",
    "Lift (points)",
    "p",
    "Finding",
)


def _is_shown(head: str, lines: Sequence[Mapping[str, str]]) -> bool:
    """Tell whether a column says anything, or tells rows apart."""
    if head == "Suite" and all(line["Suite"] == line["Skill"] for line in lines):
        return False
    if head in _IF_SEVERAL:
        return len({line[head] for line in lines}) > 1
    return head in ("Skill", "Cases") or any(line[head] != UNKNOWN for line in lines)


def _names(row: Row, started: Mapping[str, str]) -> dict[str, str]:
    return {
        **dict.fromkeys(_HEADS, UNKNOWN),
        "Run": started.get(row["run_id"], row["run_id"]),
        "Skill": row["target_id"] or row["suite_id"],
        "Suite": row["suite_id"],
        "Arm": row["arm"],
        "Engine": row["engine"],
        "Model": row["model"] or UNKNOWN,
        "Cases": str(row["cases"]),
    }


def _compared(row: Row, started: Mapping[str, str]) -> Mapping[str, str]:
    """Return the cells of a comparison."""
    return {
        **_names(row, started),
        "Baseline": row["baseline"],
        "Figure": "pass_rate",
        "With skill": _with_bounds(row["rate"], row["rate_lower"], row["rate_upper"], percent),
        "Without": _with_bounds(row["baseline_rate"], row["baseline_lower"], row["baseline_upper"], percent),
        "Lift (points)": _with_bounds(row["lift"], row["lift_lower"], row["lift_upper"], signed_points),
        "p": UNKNOWN if row["chance"] is None else chance_text(row["chance"]).removeprefix("p ").removeprefix("= "),
        "Finding": _FINDINGS[row["finding"] or ("undecided" if row["is_valid"] else None)],
    }


def _alone(row: Row, started: Mapping[str, str]) -> Mapping[str, str]:
    """Return the cells of a group that is compared with nothing."""
    rate = _with_bounds(row["rate"], row["rate_lower"], row["rate_upper"], percent)
    arm = UNKNOWN if row["arm"] == DIRECT.name else row["arm"]
    proof = _FINDINGS[None] if row["is_valid"] is False else UNKNOWN
    return {**_names(row, started), "Arm": arm, "Figure": row["figure"], "Pass rate": rate, "Finding": proof}


def _with_bounds(value: float | None, lower: float | None, upper: float | None, worded: Any) -> str:
    if value is None:
        return UNKNOWN
    if lower is None or upper is None:
        return str(worded(value))
    return f"{worded(value)} ({worded(lower)} to {worded(upper)})"


def _key(row: Row) -> tuple[str | None, ...]:
    return (row["run_id"], row["suite_id"], row["target_id"], row["arm"], row["engine"], row["model"])


def _notes(comparisons: Sequence[Row], groups: Sequence[Row]) -> Iterator[str]:
    levels = {row["rate_level"] for row in groups if row["rate_level"]}
    if levels:
        named = " and ".join(f"{level * 100:g}%" for level in sorted(levels))
        yield f"Rates: mean over cases, with {named} intervals in parentheses."
    lifts = {row["lift_level"] for row in comparisons if row["lift_level"]}
    if lifts:
        named = " and ".join(f"{level * 100:g}%" for level in sorted(lifts))
        yield f"Lifts: percentage points, with {named} intervals for these cases; p: exact, two-sided."
    errors = sum(row["error_trials"] for row in groups)
    if errors:
        yield f"{counted(errors, 'trial')} could not be graded and {'is' if errors == 1 else 'are'} in no rate."


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(in_markdown(plain(cell)) for cell in cells)} |"


def _latex_line(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
