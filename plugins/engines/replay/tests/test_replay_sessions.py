"""Sessions in documents: our recordings, and trajectories in ATIF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Execution, FiredSkill, FoundSession, Identity, SuiteError, Trajectory
from skillgauge_engine_replay.sessions import DocumentSessions
from skillgauge_recordings import Cassette

AGENT = {"name": "harbor-agent", "version": "1.2", "model_name": "m-1"}


def step(source: str, message: Any = "", **more: Any) -> dict[str, Any]:
    """One step of a trajectory."""
    return {"step_id": 1, "source": source, "message": message, **more}


def read(folder: Path, *steps: dict[str, Any], **more: Any) -> FoundSession:
    """Write a trajectory and read it."""
    path = folder / "trajectory.json"
    path.write_text(json.dumps({"schema_version": "ATIF-v1.6", "agent": AGENT, "steps": steps, **more}, indent=1))
    assert DocumentSessions().claims(path)
    return DocumentSessions().read(path)


def test_a_trajectory_is_read(tmp_path: Path) -> None:
    """Turns, tools, skills, times, and the tokens that steps name; what a cache held is told apart."""
    session = read(
        tmp_path,
        step("system", "Be kind"),
        step("user", "old words", is_copied_context=True),
        step("user", "Say hello", timestamp="2026-01-01T10:00:00Z"),
        step(
            "agent",
            "I look",
            reasoning_content="hm",
            tool_calls=[{"tool_call_id": "a", "function_name": "Skill", "arguments": {"skill": "greet-well"}}],
            observation={"results": [{"source_call_id": "a", "content": [{"type": "text", "text": "loaded"}]}]},
            metrics={"prompt_tokens": 100, "cached_tokens": 40, "completion_tokens": 5, "cost_usd": 0.25},
        ),
        step(
            "agent", "ZEBRA", metrics={"prompt_tokens": 10, "cached_tokens": 0, "completion_tokens": 1, "cost_usd": 0.5}
        ),
        step("user", [{"type": "text", "text": "And Bob?"}]),
        step(
            "agent",
            "Hello Bob",
            model_name="m-2",
            timestamp="2026-01-01T10:01:00Z",
            metrics={"prompt_tokens": 10, "cached_tokens": 0, "completion_tokens": 1, "cost_usd": 0.25},
        ),
    )
    execution, trajectory = session.execution, session.execution.trajectory
    assert session.prompts == ("Say hello", "And Bob?")
    assert (execution.text, execution.answers, execution.duration_s) == ("Hello Bob", ("ZEBRA", "Hello Bob"), 60.0)
    assert (session.engine.name, session.engine.version, session.engine.model) == ("harbor-agent", "1.2", "m-2")
    assert trajectory is not None
    assert trajectory.skills_fired == (FiredSkill(name="greet-well", how="invoked"),)
    assert trajectory.skills_offered is None
    kinds = ["notice", "reasoning", "message", "tool_call", "tool_result", "message", "user", "message"]
    assert [event.kind for event in trajectory.events] == kinds
    assert [event.text for event in trajectory.events if event.kind == "tool_result"] == ["loaded"]
    assert execution.usage is not None
    told = execution.usage.input_tokens, execution.usage.cache_read_tokens, execution.usage.output_tokens
    assert (*told, execution.usage.cost_usd) == (80, 40, 7, 1.0)


def test_what_is_summed_up_counts_and_what_is_not_told_is_unknown(tmp_path: Path) -> None:
    """A step without metrics makes the sum of the others nobody's."""
    steps = (step("user", "Hi"), step("agent", "a", metrics={"prompt_tokens": 5}), step("agent", "b"))
    assert read(tmp_path, *steps).execution.usage is None
    usage = read(
        tmp_path, *steps, final_metrics={"total_prompt_tokens": 9, "total_completion_tokens": 2}
    ).execution.usage
    assert usage is not None
    assert (usage.input_tokens, usage.total_tokens, usage.cost_usd) == (9, 11, None)
    trajectory = read(tmp_path, *steps).execution.trajectory
    assert trajectory is not None
    assert trajectory.skills_fired is None  # that none fired is not told


def test_a_trajectory_without_an_answer_failed(tmp_path: Path) -> None:
    """A call of a tool is no answer."""
    called = step("agent", "I look", tool_calls=[{"tool_call_id": "a", "function_name": "bash", "arguments": {}}])
    for steps in ((step("user", "Hi"),), (step("user", "Hi"), called)):
        execution = read(tmp_path, *steps).execution
        assert execution.text is None
        assert execution.failure is not None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"steps": "none"}, "steps"),
        ({"agent": {}}, "name"),
        ({"steps": [{"source": 7}]}, "source"),
        ({"steps": [step("agent", metrics={"prompt_tokens": -1})]}, "prompt_tokens"),
    ],
)
def test_a_damaged_trajectory_is_told_with_its_place(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    """What the format does not allow is no session."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schema_version": "ATIF-v1.2", "agent": AGENT, "steps": []} | changes))
    with pytest.raises(SuiteError) as caught:
        DocumentSessions().read(path)
    assert told in str(caught.value)


def test_a_trajectory_that_is_cut_or_asks_nothing_is_refused(tmp_path: Path) -> None:
    """Half a document is none."""
    path = tmp_path / "t.json"
    path.write_text('{"schema_version": "ATIF-v1.6", "agent"')
    with pytest.raises(SuiteError):
        DocumentSessions().read(path)
    with pytest.raises(ValueError, match="no word of a user"):
        read(tmp_path, step("agent", "Hello"))


def test_documents_of_others_are_not_claimed(tmp_path: Path) -> None:
    """A version that is not there yet is none of ours, nor is any other document."""
    for name, text in (
        ("a.json", '{"schema_version": "ATIF-v2.0"}'),
        ("b.json", "{}"),
        ("c.jsonl", '{"schema_version": "ATIF-v1.6"}'),
    ):
        (tmp_path / name).write_text(text)
        assert not DocumentSessions().claims(tmp_path / name)


def test_a_recording_names_its_case(tmp_path: Path) -> None:
    """It holds no prompt, only the digest of one."""
    recording = Cassette(
        key="k",
        recipe={"case": "ann", "suite": "s"},
        engine=Identity(name="agent", version="1"),
        model="m",
        execution=Execution(text="done", trajectory=Trajectory(skills_offered=())),
    )
    path = tmp_path / "ann.cassette.json"
    path.write_text(recording.model_dump_json())
    assert DocumentSessions().claims(path)
    session = DocumentSessions().read(path)
    assert (session.prompts, session.case_id, session.engine.model) == ((), "ann", "m")
    assert session.execution.text == "done"
