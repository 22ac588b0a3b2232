"""Values that plugins meet in practice and authors do not think of, and plain ones to tell apart from them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from skillgauge.api import (
    DIRECT,
    Case,
    CaseHead,
    Execution,
    Failure,
    FailureClass,
    GivenUp,
    Identity,
    Json,
    JsonValue,
    KeptExecution,
    KeptFile,
    Limits,
    PlanHead,
    Score,
    SuiteHead,
    TargetHead,
    Trial,
    TrialResult,
    Unfinished,
    Usage,
    Verdict,
)
from skillgauge.api.report import Summary

STARTED_AT = 1_700_000_000.0

SCRIPT = '<script>alert("skillgauge")</script>'
HEADING = "# injected by a line break"

ODD_TEXTS: tuple[tuple[str, str], ...] = (
    ("an empty text", ""),
    ("blanks", " \t "),
    ("markup", SCRIPT),
    ("an attribute", '" onmouseover="alert(1)" x="'),
    ("line breaks", f"first line\n{HEADING}\r\n| a | b |\u2028end"),
    ("pipes and quotes", "a|b||c \\| `d` 'e' \"f\" ; g, h"),
    ("right-to-left text", "\u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627\u202c"),
    ("characters beyond the basic plane", "\U0001f9ea\U0001d11e\U00020000 e\u0301\u200d"),
    ("control characters", "bell \x07 escape \x1b[31mred\x1b[0m delete \x7f"),
    ("a formula", "=1+1"),
    ("10,000 characters", "long " * 2_000),
)
"""What they are, and the texts."""


def odd_values() -> tuple[tuple[str, Json], ...]:
    """JSON values that a target may answer or be given, with what they are."""
    deep_list: JsonValue = "deep"
    deep_object: JsonValue = "deep"
    for _ in range(90):
        deep_list, deep_object = (deep_list,), {"a": deep_object}
    return (
        *ODD_TEXTS,
        ("nothing", None),
        ("1 MB of text", "a" * 1_000_000),
        ("1 MB of brackets", "[{(" * 333_333),
        ("1 MB of numbers", tuple(range(150_000))),
        ("90 lists inside each other", deep_list),
        ("90 objects inside each other", deep_object),
        ("a number beyond every float", 10**400),
        ("a truth value", True),
        ("an empty object", {}),
        ("an empty list", ()),
        ("an object with odd keys", {text: text for _, text in ODD_TEXTS[:-1]}),
    )


def head(
    plan_id: str = "plan", suite_id: str = "demo", targets: Sequence[str] = ("skill",), **changes: Any
) -> PlanHead:
    """A plan of one suite."""
    suite = SuiteHead(
        id=suite_id,
        format="contract",
        root="/contract",
        content_digest="0",
        case_count=1,
        targets=tuple(TargetHead(id=target) for target in targets),
        arms=("direct",),
    )
    values: dict[str, Any] = {"plan_id": plan_id, "suites": (suite,), "trial_count": 1, "runs": 1, "seed": 0}
    return PlanHead(**(values | changes))


def trial(ordinal: int, **changes: Any) -> Trial:
    """The trial at a place of such a plan."""
    values: dict[str, Any] = {
        "trial_id": f"{ordinal:032x}",
        "execution_id": "execution",
        "ordinal": ordinal,
        "suite_id": "demo",
        "case": Case(id=f"case-{ordinal}"),
        "case_index": ordinal,
        "arm": DIRECT,
        "runner": Identity(name="contract"),
        "repeat": 1,
        "seed": 0,
        "limits": Limits(),
    }
    return Trial(**(values | changes))


def case(index: int, **changes: Any) -> CaseHead:
    """Return the known facts of that trial's case."""
    values: dict[str, Any] = {"suite_id": "demo", "index": index, "id": f"case-{index}", "tags": ("sample",)}
    return CaseHead(**(values | changes))


def unfinished(ordinal: int, claim: int, tokens: int) -> Unfinished:
    """Return the usage of a claim of that trial before there is a result."""
    failure = Failure.of_agent(FailureClass.KILLED, "cut off")
    attempt = GivenUp(failure=failure, usage=Usage(total_tokens=tokens), wait_s=0.0, judges=(None,), is_cut_off=True)
    return Unfinished(trial_id=f"{ordinal:032x}", ordinal=ordinal, claim=claim, attempts=(attempt,))


def kept(ordinal: int, text: str, **changes: Any) -> KeptExecution:
    """Return an execution of that trial that waits to be graded, with a file that holds this text."""
    content = text.encode() + b"\0\xff"
    name = sha256(content).hexdigest()
    values: dict[str, Any] = {
        "trial_id": f"{ordinal:032x}",
        "ordinal": ordinal,
        "execution_id": "execution",
        "execution": Execution(text=text, usage=Usage(total_tokens=7)),
        "started_at": STARTED_AT,
        "places": ("/contract/root", "/contract/home"),
        "workspace": "0",
        "files": (KeptFile(path="out/file", sha256=name, mode=0o644), KeptFile(path="out", kind="folder", mode=0o755)),
        "contents": {name: b64encode(content).decode()},
    }
    return KeptExecution(**(values | changes))


def result(ordinal: int, **changes: Any) -> TrialResult:
    """The result of that trial."""
    values: dict[str, Any] = {
        "trial_id": f"{ordinal:032x}",
        "execution_id": "execution",
        "score_id": "score",
        "ordinal": ordinal,
        "suite_id": "demo",
        "case_id": f"case-{ordinal}",
        "case_index": ordinal,
        "target_id": "skill",
        "arm": "direct",
        "runner": "contract",
        "model": None,
        "repeat": 1,
        "verdict": Verdict.PASS,
        "value": 1.0,
        "scores": (Score.passed("equal"),),
        "execution": Execution(output={"answer": ordinal}, duration_s=0.25),
        "started_at": STARTED_AT,
    }
    return TrialResult(**(values | changes))


def summary(total: int) -> Summary:
    """A summary that can be told from an empty one."""
    empty = Summary.empty()
    return empty.model_copy(update={"counts": empty.counts.model_copy(update={"total": total, "passed": total})})
