"""Tables for papers: rows, rounding, and names that Markdown, LaTeX and HTML show as they are."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import example, given
from hypothesis import strategies as st

from skillgauge.api import plain
from skillgauge.api.report import interval_text, percent, signed_points
from skillgauge_run_tables import Table, in_latex, runs
from skillgauge_testkit import contract_views

_COMMANDS = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textquotedbl": '"',
    "textasciigrave": "`",
    "textendash": "–",
}


def printed_by_latex(source: str) -> str:
    """Read the commands, escapes and groups that may stand in a cell; anything else that is special is a mistake."""
    shown, rest = "", source
    while rest:
        if command := re.match(r"\\([a-z]+)\{\}", rest):
            shown, rest = shown + _COMMANDS[command[1]], rest[command.end() :]
        elif escape := re.match(r"\\([&%$#_{}])", rest):
            shown, rest = shown + escape[1], rest[2:]
        elif group := re.match(r"\{([\[\]*]?)\}", rest):
            shown, rest = shown + group[1], rest[group.end() :]
        else:
            assert rest[0] not in '\\&%$#_{}~^<>|"`[]*', source
            assert not re.match(r"''|,,|--", rest), source
            shown, rest = shown + rest[0], rest[1:]
    return shown


@example("-–")
@given(st.text(alphabet=st.sampled_from("ab -–'`,<>&%$#_{}~^|\"\\[]*?!é漢\n\x1b\u202e"), max_size=40))
def test_latex_prints_a_name_as_it_is(name: str) -> None:
    """Whatever a skill is called, the document shows it and runs nothing."""
    assert printed_by_latex(in_latex(name)) == plain(name)


@given(st.text(max_size=30))
def test_cells_stay_cells(name: str) -> None:
    """A name adds no column and no row, in any form."""
    table = Table(("Skill", "Cases"), ((name, "4"),))
    assert len(table.to_markdown().splitlines()) == 3
    assert len(re.findall(r"(?<!\\)\|", table.to_markdown().splitlines()[2])) == 3
    assert table.to_latex().count("\n") == 7
    cells = re.findall(r"<td[^>]*>(.*?)</td>", table._repr_html_(), re.DOTALL)
    assert [unescape(cell) for cell in cells] == [plain(name), "4"]


def test_numbers_are_those_of_reports() -> None:
    """Rates and lifts have the words and the rounding of every report."""
    seen = 0
    for _, view in contract_views():
        text = runs(view).table()
        cells = {cell for row in text.rows for cell in row}
        groups = {group.key: group for group in view.summary.groups}
        for row in runs(view).comparisons():
            if row["lift_lower"] is None:
                continue
            bounds = f"{signed_points(row['lift_lower'])} to {signed_points(row['lift_upper'])}"
            assert f"{signed_points(row['lift'])} ({bounds})" in cells
            for group in groups.values():
                if (group.suite_id, group.arm, group.target_id) == (row["suite_id"], row["arm"], row["target_id"]):
                    seen += f"{percent(group.pass_rate.rate)} ({interval_text(group.pass_rate)})" in cells
    assert seen


def test_every_group_under_test_has_a_row() -> None:
    """No skill is left out, whether it was compared or not."""
    for _, view in contract_views():
        found = runs(view)
        under_test = [group for group in found.groups() if not group["is_baseline"]]
        assert len(found.table().rows) >= len(under_test)


def test_signs_of_numbers_are_minus_signs() -> None:
    """In LaTeX a negative number has a minus, and a name keeps its hyphen."""
    latex = Table(("Skill", "Lift (points)"), (("a-1", "-1.6 (-3.0 to +0.5)"),)).to_latex()
    assert "a-1 & $-$1.6 ($-$3.0 to $+$0.5) \\\\" in latex
