"""What plugins say beside the rates of a run."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from skillgauge.api.report import RunView, table_texts
from skillgauge.evaluation.remarks import commented
from skillgauge.plugins.index import IndexEntry
from skillgauge.stats import RateInterval
from skillgauge.types.arms import GroupKey
from skillgauge.types.comparison import Counts
from skillgauge.types.results.runs import Kept, RunInfo, RunState
from skillgauge.types.results.summaries import GroupSummary, Summary
from skillgauge.types.trial import PlanHead

VIEW = RunView(
    run=RunInfo(run_id="r", state=RunState.FINISHED, started_at=0.0),
    head=PlanHead(plan_id="p", suites=(), trial_count=0, runs=1, seed=0),
    summary=Summary(counts=Counts(), groups=()),
    source=Kept(lambda: ()),
)


REMARKS = """
def remark(view, folder):
    yield f"run {view.run.run_id} in {folder.name}"

def fail(view, folder):
    yield "never heard"
    raise RuntimeError("no such thing")
"""


FIGURES = """
from skillgauge.api.report import Figure, Table

def figures(view, folder):
    yield view.summary.groups[0].key, Figure(name="mark", label="Mark", value=1.0, note="said of one")
    yield view.summary.groups[0].key, Table(name="counts", label="Counts", heads=("of", "n"), rows=(("a", 1),))
    yield "a line"
"""
ONE = GroupKey("s", "t", "with_skill", "e", None)
OTHER = GroupKey("s", "t", "without_skill", "e", None)


def entry(name: str, module: str = "acme_remarks") -> IndexEntry:
    """An entry point that names a function."""
    return IndexEntry(kind="run_notices", name=name, module=f"{module}:{name}", distribution="acme", version="1")


def test_a_plugin_that_fails_costs_its_own_remark_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are told the run and its folder; one that raises and one that is not there are named."""
    (tmp_path / "acme_remarks.py").write_text(REMARKS)
    monkeypatch.syspath_prepend(tmp_path)
    view, told = commented(map(entry, ("fail", "absent", "remark")), VIEW, Path("/some/folder"))
    assert view is VIEW
    assert told[0] == "acme failed to comment on this run: RuntimeError: no such thing"
    assert told[1].startswith("acme failed to comment on this run: ImportError: 'acme_remarks:absent'")
    assert told[2:] == ("run r in folder",)


def test_figures_of_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin adds figures and tables to groups, among its lines; said again, one takes the place of the first."""
    (tmp_path / "acme_figures.py").write_text(FIGURES)
    monkeypatch.syspath_prepend(tmp_path)
    rate = RateInterval(rate=None, n=0)
    groups = tuple(GroupSummary(**asdict(key), counts=Counts(), pass_rate=rate) for key in (ONE, OTHER))
    view = replace(VIEW, summary=Summary(counts=Counts(), groups=groups))
    for _look in range(2):
        view, told = commented([entry("figures", "acme_figures")], view, Path("/some/folder"))
        assert told == ("a line",)
        (figure,) = view.summary.groups[0].figures
        assert (figure.name, figure.note) == ("mark", "said of one")
        (table,) = view.summary.groups[0].tables
        assert table_texts(table) == (("of", "n"), ("a", "1"))
        assert (view.summary.groups[1].figures, view.summary.groups[1].tables) == ((), ())
