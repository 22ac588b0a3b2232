"""What an arm gives beside skills, where the real program reads it."""

from __future__ import annotations

import json
import re

import pytest

from skillgauge.api import FileSpec, Install
from skillgauge_testkit import ModelReply, ModelRequest, ToolCall, in_turns, run_shell
from skillgauge_testkit.agent_contract import check_hook_answer
from skillgauge_testkit.hook_answers import HOOK_ANSWERS, HookAnswer, hooks

from .conftest import Play

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

PATCH = "*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch"


@pytest.mark.parametrize("answer", HOOK_ANSWERS, ids=lambda one: one.name)
def test_what_the_specification_calls_a_block_is_one(play: Play, answer: HookAnswer) -> None:
    """Whatever spelling the answer has: no file, and the agent reads the reason. What is none lets the write pass."""
    check_hook_answer(play, answer, run_shell("echo x > made.txt"))


def test_a_hook_for_writes_meets_patches(play: Play) -> None:
    """The program writes files by patches; a hook for `Write` gets each file of one as if it were written."""
    check = 'grep -q \'"file_path": "made.txt"\' && { echo "no $file" >&2; exit 2; }'
    script = in_turns(ModelReply(tools=[ToolCall("apply_patch", {"input": PATCH})]), ModelReply("ok"))
    played = play(script, installs=[hooks(check, matcher="Write|Edit")])
    assert "made.txt" not in played.files
    assert played.execution.trajectory is not None
    assert [(one.tool, one.by) for one in played.execution.trajectory.blocked or ()] == [("Write", "hook")]
    allowed = play(script, installs=[hooks("exit 0", matcher="Write|Edit")])
    assert "made.txt" in allowed.files


def test_rules_agents_and_servers(play: Play) -> None:
    """Each is in what the program sends, and none of it is in the workspace."""
    installs = [
        Install(kind="rule", name="plain", content={"text": "Never use the word ZEBRA-RULE."}),
        Install(kind="command", name="count-words", content={"description": "Count", "text": "Count."}),
        Install(kind="agent", name="auditor", content={"description": "Audits", "prompt": "You are ZEBRA-AGENT."}),
    ]
    played = play([ModelReply("ok")], installs=installs)
    assert played.execution.failure is None
    first = played.server.requests[0]
    assert "ZEBRA-RULE" in first.text
    assert "agent-auditor" in json.dumps(first.body)
    assert "ZEBRA-AGENT" not in json.dumps(first.body)
    assert not [path for path in played.files if not path.startswith(".git")]
    led = play([ModelReply("ok")], installs=installs, agent="auditor")
    assert "ZEBRA-AGENT" in json.dumps(led.server.requests[0].body)


def test_documents_are_named_and_can_be_read(play: Play) -> None:
    """The agent is told where they begin, its shell reads them, and none of it is in the workspace."""

    def reading(request: ModelRequest) -> ModelReply:
        if request.turn:
            return ModelReply("ok")
        (path,) = set(re.findall(r"/[\w./-]*documents/docs/index\.md", json.dumps(request.body)))
        return ModelReply(tools=[run_shell(f"cat {path}")])

    files = (FileSpec(path="documents/docs/index.md", text="Fold it twice: ZEBRA-PAGE.\n"),)
    content = {"entry": "documents/docs/index.md", "about": "Things of ZEBRA-PAPER."}
    played = play(reading, installs=[Install(kind="documents", name="documents", content=content, files=files)])
    assert played.execution.failure is None
    assert "ZEBRA-PAPER" in played.server.requests[0].text
    assert "ZEBRA-PAGE" in json.dumps(played.server.requests[-1].body)
    assert not [path for path in played.files if not path.startswith(".git")]
