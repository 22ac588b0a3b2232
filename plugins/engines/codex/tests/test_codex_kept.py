"""Session files of Codex as it keeps them: what real ones hold is read in `tests/agents`, here what they may."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import FailureClass, FoundSession
from skillgauge_engine_codex.kept import CodexSessions

META = {"type": "session_meta", "payload": {"session_id": "s", "cli_version": "0.169.0", "thread_source": "user"}}
SKILLS = {
    "type": "response_item",
    "payload": {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_text", "text": "- greet-well: Says hello (file: r0/greet-well/SKILL.md)"}],
        "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["host_skills.instructions"]},
    },
}


def event(kind: str, **more: Any) -> dict[str, Any]:
    """A line of the program."""
    return {"type": "event_msg", "timestamp": "2026-11-27T20:51:08.276Z", "payload": {"type": kind, **more}}


def item(kind: str, **more: Any) -> dict[str, Any]:
    """A line of the conversation."""
    return {"type": "response_item", "payload": {"type": kind, **more}}


def used(total: int) -> dict[str, Any]:
    """A line that adds up the tokens of the whole session."""
    tokens = {"input_tokens": total, "output_tokens": 1, "cached_input_tokens": 0}
    return {"type": "token_usage_record", "payload": {"thread_token_usage": tokens}}


def turn(prompt: str, answer: str | None, *between: dict[str, Any], is_old: bool = False) -> list[dict[str, Any]]:
    """The lines of a turn."""
    message = {"type": "UserMessage", "content": [{"type": "text", "text": prompt}]}
    asked = event("user_message", message=prompt) if is_old else event("item_completed", item=message)
    begun = [event("task_started"), {"type": "turn_context", "payload": {"model": "gpt-x"}}, asked, *between]
    if answer is None:
        return begun
    said = item("message", role="assistant", content=[{"type": "output_text", "text": answer}])
    return [*begun, said, event("task_complete", last_agent_message=answer)]


def read(folder: Path, *lines: dict[str, Any] | str) -> FoundSession:
    """Write a file and read it."""
    path = folder / "rollout-x.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    assert CodexSessions().claims(path)
    return CodexSessions().read(path)


@pytest.mark.parametrize("is_old", [False, True])
def test_turns_are_told_apart(tmp_path: Path, is_old: bool) -> None:
    """Tokens are those of all turns, and the skill that was read in the second has fired in the session."""
    shown = [
        item("function_call", name="exec_command", call_id="c", arguments='{"cmd": "cat r0/greet-well/SKILL.md"}'),
        item("function_call_output", call_id="c", output="Process exited with code 0\nOutput:\n# Greeting\n"),
        used(30),
    ]
    first, second = turn("Ann", "Hello Ann", used(10), is_old=is_old), turn("Bob", "Hello Bob", *shown, is_old=is_old)
    session = read(tmp_path, META, SKILLS, *first, *second)
    execution = session.execution
    assert session.prompts == ("Ann", "Bob")
    assert (execution.text, execution.answers) == ("Hello Bob", ("Hello Ann", "Hello Bob"))
    assert execution.usage is not None
    assert (execution.usage.input_tokens, execution.usage.cost_usd) == (30, None)
    assert execution.trajectory is not None
    assert execution.trajectory.skills_offered == ("greet-well",)
    assert [(one.name, one.how) for one in execution.trajectory.skills_fired or ()] == [("greet-well", "read")]
    assert [one.kind for one in execution.trajectory.events] == [
        "message",
        "user",
        "tool_call",
        "tool_result",
        "message",
    ]
    assert session.started_at == 1795812668.276


def test_a_failed_read_does_not_fire(tmp_path: Path) -> None:
    """The path alone proves nothing."""
    failed = [
        item("function_call", name="exec_command", call_id="c", arguments='{"cmd": "cat r0/greet-well/SKILL.md"}'),
        item("function_call_output", call_id="c", output="Process exited with code 1\nOutput:\nNo such file\n"),
    ]
    trajectory = read(tmp_path, META, SKILLS, *turn("Ann", "Hello", *failed)).execution.trajectory
    assert trajectory is not None
    assert trajectory.skills_fired == ()


def test_a_session_that_was_broken_off_has_no_answer(tmp_path: Path) -> None:
    """That its first turn had one does not help."""
    for lines in ([*turn("Ann", None)], [*turn("Ann", "Hello"), *turn("Bob", None)], [*turn("Ann", "Hello"), '{"ty']):
        failure = read(tmp_path, META, *lines).execution.failure
        if lines[-1] == '{"ty':
            assert failure is None  # it had come to its end before
        else:
            assert failure is not None
            assert failure.failure_class is FailureClass.KILLED


def test_files_of_others_are_not_claimed(tmp_path: Path) -> None:
    """Nor are those of sub-agents, which are parts of other sessions."""
    path = tmp_path / "rollout-x.jsonl"
    sub = {"type": "session_meta", "payload": {**META["payload"], "thread_source": "subagent"}}  # type: ignore[dict-item]
    for line in (sub, {"type": "event_msg"}, {"type": "session_meta", "payload": {}}):
        path.write_text(f"{json.dumps(line)}\n")
        assert not CodexSessions().claims(path)


def test_a_file_without_words_of_a_user_is_no_session(tmp_path: Path) -> None:
    """There is nothing that it could be graded by."""
    with pytest.raises(ValueError, match="no word of a user"):
        read(tmp_path, META, event("task_started"))


_WORDS = ("type", "payload", "item", "content", "event_msg", "task_started", "message", "response_item", "UserMessage")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(_WORDS) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.slow
@given(lines=st.lists(st.dictionaries(st.sampled_from(_WORDS), _VALUES), max_size=6))
def test_no_line_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, lines: list[dict[str, Any]]) -> None:
    """Whatever stands in a file beside a session."""
    path = tmp_path_factory.mktemp("any") / "rollout-x.jsonl"
    whole = [META, *turn("Ann", None), *lines, *turn("Bob", "Hello Bob")]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in whole))
    assert CodexSessions().read(path).prompts[0] == "Ann"
