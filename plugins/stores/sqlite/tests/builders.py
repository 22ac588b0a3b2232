"""Values for the tests, and a way past the store. The child processes import it too, so it must load fast."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from skillgauge.api import (
    DIRECT,
    Case,
    CaseHead,
    Execution,
    Identity,
    Limits,
    PlanHead,
    Score,
    SuiteHead,
    TargetHead,
    Trial,
    TrialResult,
    Verdict,
)
from skillgauge.api.report import Counts, Summary


def noise(length: int) -> str:
    """A text that compression leaves at half of its length at least."""
    return secrets.token_hex(length // 2)


def trial_id(ordinal: int) -> str:
    """The id that a trial at this place has in every test: a digest's length, spread over all values."""
    return f"{(ordinal + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"


def head(plan_id: str = "plan", **changes: Any) -> PlanHead:
    """A plan of one suite `demo` with the targets `skill` and `other`."""
    suite = SuiteHead(
        id="demo",
        format="fake",
        root="demo",
        content_digest="0",
        case_count=1,
        targets=(TargetHead(id="skill"), TargetHead(id="other")),
        arms=("direct",),
    )
    return PlanHead(**{"plan_id": plan_id, "suites": (suite,), "trial_count": 1, "runs": 1, "seed": 0, **changes})


def trial(ordinal: int, **changes: Any) -> Trial:
    """The trial at a place of the plan."""
    values: dict[str, Any] = {
        "trial_id": trial_id(ordinal),
        "execution_id": "e",
        "ordinal": ordinal,
        "suite_id": "demo",
        "case": Case(id=f"case-{ordinal}"),
        "case_index": ordinal,
        "arm": DIRECT,
        "runner": Identity(name="fake"),
        "repeat": 1,
        "seed": 0,
        "limits": Limits(),
    }
    return Trial(**(values | changes))


def case(ordinal: int) -> CaseHead:
    """What is known of the case of that trial."""
    return CaseHead(suite_id="demo", index=ordinal, id=f"case-{ordinal}", prompt="add", tags=("sum",))


def result(ordinal: int, **changes: Any) -> TrialResult:
    """The result of the trial at a place of the plan."""
    values: dict[str, Any] = {
        "trial_id": trial_id(ordinal),
        "execution_id": "e",
        "score_id": "s",
        "ordinal": ordinal,
        "suite_id": "demo",
        "case_id": f"case-{ordinal}",
        "case_index": ordinal,
        "target_id": "skill",
        "arm": "direct",
        "runner": "fake",
        "model": None,
        "repeat": 1,
        "verdict": Verdict.PASS,
        "value": 1.0,
        "scores": (Score.passed("ok"),),
        "execution": Execution(output={"answer": ordinal}, duration_s=0.25),
        "started_at": 1_700_000_000.0,
    }
    return TrialResult(**(values | changes))


def summary(total: int = 1) -> Summary:
    """A summary that can be told from an empty one."""
    return Summary(counts=Counts(total=total, passed=total), groups=())


def query(path: Path, sql: str, *parameters: object) -> list[Any]:
    """Rows of the database at `path`, read past the store; also the way to plant rows in it."""
    with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as db:
        return db.execute(sql, parameters).fetchall()
