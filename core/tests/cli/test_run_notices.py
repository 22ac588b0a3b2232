"""What plugins say beside the rates of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api import RunView
from skillgauge.cli.run_notices import run_notices
from skillgauge.plugins.index import IndexEntry
from skillgauge.types.comparison import Counts
from skillgauge.types.result import Kept, RunInfo, RunState, Summary
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


def entry(name: str) -> IndexEntry:
    """An entry point that names a function."""
    return IndexEntry(kind="run_notices", name=name, module=f"acme_remarks:{name}", distribution="acme", version="1")


def test_a_plugin_that_fails_costs_its_own_remark_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are told the run and its folder; one that raises and one that is not there are named."""
    (tmp_path / "acme_remarks.py").write_text(REMARKS)
    monkeypatch.syspath_prepend(tmp_path)
    told = list(run_notices(map(entry, ("fail", "absent", "remark")), VIEW, Path("/some/folder")))
    assert told[0] == "acme failed to comment on this run: RuntimeError: no such thing"
    assert told[1].startswith("acme failed to comment on this run: ImportError: 'acme_remarks:absent'")
    assert told[2:] == ["run r in folder"]
