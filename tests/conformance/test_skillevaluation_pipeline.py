"""The conformance data of skillevaluation through the whole program, with an agent that plays it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import EventKind
from skillgauge_skillevaluation import verdict_of
from skillgauge_testkit.program import Done, Program

ENGINE = Path(__file__).parent / "data/golden_engine.py"
GOLDENS = files("skillevaluation").joinpath("compatibility-tests")
SKILL = "---\nname: golden\ndescription: A skill.\n---\n\nAnswer.\n"
GRADER = "grep -q broken response.txt && exit 9; grep -q yes response.txt"
ARMS = ("with_skill", "without_skill")
Session = dict[str, Any]


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    """Nothing here needs to be confined."""
    return environment | {"SKILLGAUGE_SANDBOX": "local"}


def every(category: str) -> pytest.MarkDecorator:
    """Runs a test once for each fixture."""
    found = sorted((one for one in GOLDENS.joinpath(category).iterdir() if one.is_dir()), key=lambda one: one.name)
    return pytest.mark.parametrize("golden", found, ids=lambda one: one.name)


def given(golden: Traversable) -> dict[str, Any]:
    """The input of a fixture."""
    return json.loads(golden.joinpath("input.json").read_text("utf-8"))  # type: ignore[no-any-return]


def wanted(golden: Traversable) -> dict[str, Any]:
    """What is to come of it."""
    return json.loads(golden.joinpath("expected.json").read_text("utf-8"))  # type: ignore[no-any-return]


def played(arm: dict[str, Any], *, is_error: bool) -> Session:
    """What the agent does so that an arm comes to these measures."""
    session = {key: arm[key] for key in ("duration_ms", "turns", "total_tokens") if key in arm}
    calls = [{"kind": EventKind.TOOL_CALL, "name": "tool"}] * arm.get("tool_call_count", 0)
    if arm.get("errored"):
        return session | {"failed": True}
    if not arm.get("task_attempted", True):
        return session
    text = "broken" if is_error else "yes" if arm.get("passed") else "no"
    return session | {"text": text, "events": calls}


def evaluated(
    program: Program, sessions: dict[str, dict[str, list[Session]]], *arguments: str, prompt: str = "p"
) -> tuple[Done, dict[str, Any]]:
    """Evaluate a suite whose cases play these sessions; its document."""
    folder = program.work / "golden"
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL)
    cases: list[dict[str, Any]] = [
        {"name": name, "prompt": prompt, "validators": [{"cmd": GRADER}]} for name in sessions
    ]
    cases = cases or [{"name": "nothing", "prompt": "p", "should_trigger": True}]
    (folder / "eval.yaml").write_text(json.dumps({"cases": cases}, ensure_ascii=False))
    (program.work / "script.json").write_text(json.dumps(sessions))
    done = program(
        *("--plugin", ENGINE, "eval", folder, "--engine", "golden", "-o", "results.json", "--concurrency", "1"),
        *("--format", "json", "--store", "none", *arguments),
    )
    return done, json.loads((program.work / "results.json").read_text())


def run_units(program: Program, units: list[dict[str, Any]]) -> dict[str, Any]:
    """The document of a run in which these case records happen."""
    sessions: dict[str, dict[str, list[Session]]] = defaultdict(lambda: {arm: [] for arm in ARMS})
    for unit in units:
        for arm in ARMS:
            session = played(unit.get(arm, {}), is_error=unit["outcome"] == "error")
            sessions[unit["case_name"]][arm].append(session)
    runs = max((len(one["with_skill"]) for one in sessions.values()), default=1)
    done, document = evaluated(program, sessions, "--runs", str(runs))
    assert done.code in (0, 3), done.stderr
    return document


@pytest.mark.requirement("SE-CONFORM-002", "SE-ARM-001", "SE-HEAD-003")
@every("aggregation")
def test_aggregates(program: Program, golden: Traversable) -> None:
    """What happens in the run makes the published aggregate, and too many errors make its verdict an error."""
    document = run_units(program, given(golden)["case_results"])
    expected = wanted(golden)
    assert {key: document[key] for key in expected} == expected
    if document["error_dominated"]:
        assert document["verdict"] == "error"


@pytest.mark.requirement("SE-CONFORM-002")
@every("outcomes")
def test_outcomes(program: Program, golden: Traversable) -> None:
    """Graded arms make the published outcome; a grader that breaks goes before what the other arm gave."""
    known = given(golden)
    arms = {f"{arm}_skill": {"passed": known[f"{arm}_passed"]} for arm in ("with", "without")}
    outcome = wanted(golden)["outcome"]
    document = run_units(program, [{"case_name": "c", "outcome": outcome, **arms}])
    assert [case["outcome"] for case in document["cases"]] == [outcome]


PASSED = {
    "flip_to_pass": (True, False),
    "pass_kept": (True, True),
    "fail_kept": (False, False),
    "flip_to_fail": (False, True),
    "error": (True, True),
}


@pytest.mark.slow
@pytest.mark.requirement("SE-CONFORM-002")
@every("verdict")
def test_verdicts(program: Program, golden: Traversable) -> None:
    """Outcomes that happened make the published verdict; at the run's level too many errors make it an error."""
    units = [
        {"case_name": str(at), "outcome": one, **{arm: {"passed": PASSED[one][i]} for i, arm in enumerate(ARMS)}}
        for at, one in enumerate(given(golden)["outcomes"])
    ]
    document = run_units(program, units)
    assert verdict_of(case["outcome"] for case in document["cases"]) == wanted(golden)["verdict"]
    assert document["verdict"] == ("error" if document["error_dominated"] else wanted(golden)["verdict"])


@pytest.mark.requirement("SE-CONFORM-002")
@every("trajectory")
def test_trajectories(program: Program, golden: Traversable) -> None:
    """What the agent did stands in the document as the published text."""
    known = given(golden)
    session = {"text": known["final_output"], "events": list(events(known))}
    sessions = {"c": {arm: [session] for arm in ARMS}}
    _, document = evaluated(program, sessions, prompt=known["user_input"] or "p")
    text = golden.joinpath("expected.txt").read_text("utf-8").removesuffix("\n")
    if not known["user_input"]:  # a case always asks something, so the others come one step later
        later = re.sub(r"^\[Step (\d+)", lambda found: f"[Step {int(found[1]) + 1}", text, flags=re.MULTILINE)
        text = f"[Step 1] User: p\n{later}"
    assert document["cases"][0]["transcripts"] == {"with": text, "without": text}


def events(known: dict[str, Any]) -> list[dict[str, Any]]:
    """Calls and spans as the events of a session."""
    found: list[dict[str, Any]] = []
    outputs: dict[str, list[str]] = defaultdict(list)
    for span in known.get("spans", ()):
        outputs[span["name"]].append(span["output_preview"])
    for call in known["llm_calls"]:
        if call.get("output_preview"):
            seconds = (call.get("latency_ms") or 0) / 1000
            found.append({"kind": EventKind.MESSAGE, "text": call["output_preview"], "duration_s": seconds})
        for tool in call.get("tool_calls_json") or ():
            number = f"call-{len(found)}"
            found.append({"kind": EventKind.TOOL_CALL, "name": tool["name"], "call_id": number, "data": tool["args"]})
            if outputs[tool["name"]]:
                text = outputs[tool["name"]].pop(0)
                found.append({"kind": EventKind.TOOL_RESULT, "call_id": number, "text": text})
    return found


@pytest.mark.requirement("SE-CONFORM-002", "SE-FORMAT-006")
@every("parser")
def test_parsing(program: Program, golden: Traversable) -> None:
    """A good file is planned, a bad one is exit code 2 with line, column and the words that tell why."""
    folder = program.work / "golden"
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "eval.yaml").write_bytes(golden.joinpath("input.yaml").read_bytes())
    done = program("--plugin", ENGINE, "eval", folder, "--engine", "golden", "--judge", "mock", "--dry-run")
    if golden.joinpath("expected.json").is_file():
        assert done.code == 0, done.stderr
        (suite,) = json.loads(program("eval", folder, "--engine", "mock", "--dry-run", "--json").stdout)["plan"][
            "suites"
        ]
        assert suite["case_count"] == len(wanted(golden)["cases"])
        return
    keywords = json.loads(golden.joinpath("expected-error.json").read_text("utf-8"))["message_keywords"]
    assert done.code == 2
    assert [word for word in keywords if word not in done.stderr] == []
    assert f"{folder}/eval.yaml:" in done.stderr
