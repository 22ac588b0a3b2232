"""Session files of Claude Code as it keeps them: what real ones hold is read in `tests/agents`, here what they may."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import FailureClass, FoundSession
from skillgauge_engine_claude_code.kept import ClaudeSessions

LISTING = {"type": "attachment", "attachment": {"type": "skill_listing", "names": ["greet-well", "other"]}}


def user(text: Any, **more: Any) -> dict[str, Any]:
    """A line of the user."""
    return {"type": "user", "message": {"role": "user", "content": text}, "sessionId": "s", "version": "2.1", **more}


def says(number: int, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A line of the agent."""
    usage = {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0}
    message = {"id": f"m{number}", "role": "assistant", "model": "claude-x", "content": list(parts), "usage": usage}
    if all(part["type"] == "text" for part in parts):
        message["stop_reason"] = "end_turn"
    return {"type": "assistant", "message": message, "sessionId": "s", **more}


def text(words: str) -> dict[str, Any]:
    """A part of a message."""
    return {"type": "text", "text": words}


def call(tool: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"type": "tool_use", "name": tool, "id": call_id, "input": arguments}


def result(call_id: str, content: str, **more: Any) -> dict[str, Any]:
    """A line with the result of a call."""
    is_error = more.pop("is_error", False)
    return user([{"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}], **more)


def read(folder: Path, *lines: dict[str, Any] | str) -> FoundSession:
    """Write a file and read it."""
    path = folder / "session.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    assert ClaudeSessions().claims(path)
    return ClaudeSessions().read(path)


def fired(session: FoundSession) -> list[tuple[str, str]]:
    """Which skills fired, and how."""
    assert session.execution.trajectory is not None
    return [(one.name, one.how) for one in session.execution.trajectory.skills_fired or ()]


def test_turns_are_told_apart(tmp_path: Path) -> None:
    """What the user says again belongs to the session, what the program says in his name does not."""
    session = read(
        tmp_path,
        {"type": "summary", "summary": "Greetings", "leafUuid": "x"},
        user("<command-message>greet-well is running</command-message>", isMeta=True),
        user("<command-name>/greet-well</command-name>\n<command-args>Ann</command-args>"),
        LISTING,
        says(1, text("Hello Ann")),
        user("<local-command-stdout>done</local-command-stdout>"),
        user("[Request interrupted by user]"),
        user("This session is being continued", isCompactSummary=True),
        user([text("And"), text("Bob?")]),
        says(2, text("Hello Bob")),
    )
    assert session.prompts == ("/greet-well Ann", "And\nBob?")
    assert session.execution.answers == ("Hello Ann", "Hello Bob")
    assert session.execution.text == "Hello Bob"
    assert fired(session) == [("greet-well", "explicit")]
    assert session.engine.version == "2.1"
    assert session.execution.usage is not None
    assert (session.execution.usage.total_tokens, session.execution.usage.cost_usd) == (34, None)


def test_skills_fire_by_their_tool_and_by_their_file(tmp_path: Path) -> None:
    """An unknown skill does not fire, a file that another command shows does, and a sub-agent is no turn."""
    session = read(
        tmp_path,
        user("Hi"),
        LISTING,
        says(1, call("Skill", "a", skill="absent"), call("Skill", "b", skill="greet-well")),
        result("a", "Unknown skill: absent", is_error=True),
        result("b", "Launching", toolUseResult={"success": True, "commandName": "greet-well"}),
        says(2, call("Bash", "c", command="cat .claude/skills/other/SKILL.md")),
        result("c", "# Other"),
        user("a sub-agent's prompt", isSidechain=True),
        says(3, text("a sub-agent's words"), isSidechain=True),
        says(4, call("Write", "d", file_path="x")),
        result("d", "no", is_error=True, permissionDecision={"decision": "reject", "source": "hook"}),
        says(5, text("Done")),
        {"type": "cost-state", "totalCostUSD": 0.5, "modelUsage": {"claude-x": {"inputTokens": 7, "outputTokens": 1}}},
    )
    trajectory = session.execution.trajectory
    assert trajectory is not None
    assert fired(session) == [("greet-well", "invoked"), ("other", "read")]
    assert trajectory.skills_offered == ("greet-well", "other")
    assert [(block.tool, block.by) for block in trajectory.blocked or ()] == [("Write", "hook")]
    assert all("sub-agent" not in event.text for event in trajectory.events)
    assert session.prompts == ("Hi",)
    assert session.execution.usage is not None
    assert session.execution.usage.cost_usd == 0.5


def test_without_a_list_nobody_knows_what_was_offered(tmp_path: Path) -> None:
    """Older programs write down no list of skills."""
    trajectory = read(tmp_path, user("Hi"), says(1, text("Hello"))).execution.trajectory
    assert trajectory is not None
    assert trajectory.skills_offered is None


@pytest.mark.parametrize(
    "last",
    [
        says(2, call("Bash", "c", command="sleep")),
        user("And Bob?"),
        '{"type": "assistant", "message": {"id": "m2", "cont',
    ],
    ids=["tool", "question", "cut"],
)
def test_a_session_that_was_broken_off_has_no_answer(tmp_path: Path, last: dict[str, Any] | str) -> None:
    """Neither an agent that waits for a tool or a model, nor half a line, is an end."""
    session = read(tmp_path, user("Hi"), says(1, text("Hello")), last)
    assert session.execution.failure is not None
    assert session.execution.failure.failure_class is FailureClass.KILLED
    assert session.execution.text is None


def test_damaged_lines_are_passed_over_and_told(tmp_path: Path) -> None:
    """Noise between lines, of whatever kind, costs those lines."""
    deep = "[" * 100_000
    session = read(tmp_path, "\x00\x01", user("Hi"), '{"a": ', f'{{"a": {deep}', "7", says(1, text("Hello")))
    assert session.execution.text == "Hello"
    assert session.execution.notes == ("4 damaged lines of its file were passed over",)


def test_files_of_others_are_not_claimed(tmp_path: Path) -> None:
    """Nor are those of sub-agents, which are parts of other sessions."""
    path = tmp_path / "x.jsonl"
    for line in ('{"type": "user", "message": "x"}', "no", json.dumps(user("Hi", isSidechain=True)), ""):
        path.write_text(f"{line}\n")
        assert not ClaudeSessions().claims(path)
    with pytest.raises(OSError, match="No such file"):
        ClaudeSessions().claims(tmp_path / "absent.jsonl")


def test_a_file_without_words_of_a_user_is_no_session(tmp_path: Path) -> None:
    """There is nothing that it could be graded by."""
    with pytest.raises(ValueError, match="no word of a user"):
        read(tmp_path, says(1, text("Hello")))


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is looked at, not its content."""
    with (tmp_path / "large.jsonl").open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    with pytest.raises(ValueError, match="more than 256 MiB"):
        ClaudeSessions().read(tmp_path / "large.jsonl")


_WORDS = (
    "type",
    "message",
    "content",
    "usage",
    "id",
    "user",
    "assistant",
    "tool_use",
    "text",
    "name",
    "Skill",
    "input",
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(_WORDS) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.slow
@given(lines=st.lists(st.dictionaries(st.sampled_from((*_WORDS, "isSidechain", "attachment")), _VALUES), max_size=6))
def test_no_line_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, lines: list[dict[str, Any]]) -> None:
    """Whatever stands in a file beside a session."""
    path = tmp_path_factory.mktemp("any") / "session.jsonl"
    whole = [user("Hi"), *lines, says(1, text("Hello"))]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in whole))
    assert ClaudeSessions().read(path).prompts[0] == "Hi"
