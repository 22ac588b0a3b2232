"""Small runs to report, made of the results that a test is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from skillgauge.api import CaseHead, Comparison, Execution, Kept, SuiteHead, TrialResult, Verdict
from skillgauge.api.report import Counts, GroupSummary, RunView, Summary
from skillgauge.stats import RateInterval

from .contract import contract_views

SUITE = "pack"
"""Id of the suite of such a run."""


def trial_result(case: str, verdict: Verdict, *, index: int = 0, repeat: int = 1, **changes: Any) -> TrialResult:
    """One repeat of a case of skill `greet`, called by engine `command`.

    Args:
        case: its id.
        verdict: what became of it.
        index: its place in the suite, from 0.
        repeat: from 1.
        **changes: other fields of a result.
    """
    values: dict[str, Any] = {
        "trial_id": f"{changes.get('runner')}-{changes.get('arm')}-{case}-{index}-{repeat}",
        "execution_id": "e",
        "score_id": "s",
        "ordinal": index * 10 + repeat,
        "suite_id": SUITE,
        "case_id": case,
        "case_index": index,
        "target_id": "skill:greet",
        "arm": "direct",
        "runner": "command",
        "model": None,
        "repeat": repeat,
        "verdict": verdict,
        "execution": Execution(duration_s=0.25),
        "started_at": 0.0,
    }
    return TrialResult.model_validate(values | changes)


def run_view(results: Sequence[TrialResult], *comparisons: Comparison, cases: Sequence[CaseHead] = ()) -> RunView:
    """A finished run with these results, for a reporter; its counts are those of nobody."""
    view: RunView = contract_views()[0][1]
    keys = list(dict.fromkeys(one.group for one in results))
    rate = RateInterval(rate=0.5, n=4)
    groups = tuple(GroupSummary.model_validate(asdict(key) | {"counts": Counts(), "pass_rate": rate}) for key in keys)
    suite = SuiteHead(
        id=SUITE,
        format="f",
        root="/",
        content_digest="d",
        case_count=1,
        targets=(),
        arms=tuple(dict.fromkeys(key.arm for key in keys)),
        comparisons=comparisons,
    )
    head = view.head.model_copy(update={"suites": (suite,)})
    summary = Summary(counts=Counts(), groups=groups)
    return replace(view, head=head, summary=summary, source=Kept(lambda: results, cases))
