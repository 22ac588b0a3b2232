"""What an arm gives beside skills, where the real program reads it."""

from __future__ import annotations

import json
import re
import sys

import pytest

from skillgauge.api import FileSpec, Install
from skillgauge_testkit import ModelReply, ModelRequest, ToolCall, in_turns, write_file
from skillgauge_testkit.agent_contract import check_hook_answer
from skillgauge_testkit.hook_answers import HOOK_ANSWERS, HookAnswer, hooks

from .conftest import Play

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]


@pytest.mark.parametrize("answer", HOOK_ANSWERS, ids=lambda one: one.name)
def test_what_the_specification_calls_a_block_is_one(play: Play, answer: HookAnswer) -> None:
    """Whatever spelling the answer has: no file, and the agent reads the reason. What is none lets the write pass."""
    played = check_hook_answer(play, answer, write_file("made.txt", "x\n"))
    assert played.execution.trajectory is not None
    tools = [block.tool for block in played.execution.trajectory.blocked or ()]
    assert tools == (["Write"] if answer.blocks else [])


def test_a_hook_reads_both_spellings_and_its_package(play: Play) -> None:
    """The event has neutral keys beside the native ones; the hook runs in its package, which its variable names."""
    check = (
        "import json, os, sys; event = json.load(sys.stdin); "
        "assert event['toolName'] == event['tool_name'] == 'Write'; "
        "assert event['toolInput'] == event['tool_input']; assert event['hookEventName'] == 'pre-tool-use'; "
        "assert os.environ['PACKAGE_ROOT'] == os.getcwd(); assert os.environ['file'].endswith('made.txt'); "
        "print(open('words/reason.txt').read(), file=sys.stderr); sys.exit(2)"
    )
    install = hooks(f'"{sys.executable}" -c "{check}"')
    install = install.model_copy(update={"files": (FileSpec(path="words/reason.txt", text="from the package"),)})
    script = in_turns(ModelReply(tools=[write_file("made.txt", "x\n")]), ModelReply("ok"))
    played = play(script, installs=[install])
    assert "made.txt" not in played.files
    assert "from the package" in played.server.requests[-1].text


def test_a_hook_that_takes_too_long_stops_nothing_and_is_told(play: Play) -> None:
    """It fails open, and says so."""
    script = in_turns(ModelReply(tools=[write_file("made.txt", "x\n")]), ModelReply("ok"))
    played = play(script, installs=[hooks("sleep 60", timeout_s=1)])
    assert "made.txt" in played.files
    assert "a hook for pre-tool-use ended with exit code None and so stopped nothing" in played.execution.notes


@pytest.mark.requirement("UA-LAYOUT-005")
def test_rules_commands_agents_and_servers(play: Play) -> None:
    """Each is in what the program sends or lists, and none of it is in the workspace."""
    installs = [
        Install(kind="rule", name="plain", content={"text": "Never use the word ZEBRA-RULE."}),
        Install(kind="command", name="count-words", content={"description": "Count", "text": "Count in ZEBRA-COMMAND"}),
        Install(kind="agent", name="auditor", content={"description": "Audits", "prompt": "You are ZEBRA-AGENT."}),
    ]
    played = play([ModelReply("ok")], installs=installs)
    assert played.execution.failure is None
    assert "ZEBRA-RULE" in played.server.requests[0].text
    assert played.files == {}
    raw = played.execution.trajectory.raw if played.execution.trajectory else None
    init = next(line for line in map(json.loads, (raw or "").splitlines()) if line.get("subtype") == "init")
    assert "count-words" in init["slash_commands"]
    assert "auditor" in init["agents"]
    called = play([ModelReply("ok")], "/count-words", installs=installs)
    assert "ZEBRA-COMMAND" in called.server.requests[0].text
    led = play([ModelReply("ok")], installs=installs, agent="auditor")
    assert "ZEBRA-AGENT" in led.server.requests[0].text
    assert "ZEBRA-AGENT" not in played.server.requests[0].text


def test_documents_are_named_and_can_be_read(play: Play) -> None:
    """The agent is told where they begin, may read them without asking, and finds none of it in the workspace."""

    def reading(request: ModelRequest) -> ModelReply:
        if request.turn:
            return ModelReply("ok")
        (path,) = set(re.findall(r"/[\w./-]*documents/docs/index\.md", json.dumps(request.body)))
        return ModelReply(tools=[ToolCall("Read", {"file_path": path})])

    files = (FileSpec(path="documents/docs/index.md", text="Fold it twice: ZEBRA-PAGE.\n"),)
    content = {"entry": "documents/docs/index.md", "about": "Things of ZEBRA-PAPER."}
    played = play(reading, installs=[Install(kind="documents", name="documents", content=content, files=files)])
    assert played.execution.failure is None
    first, last = played.server.requests[0], played.server.requests[-1]
    assert "ZEBRA-PAPER" in first.text
    assert "ZEBRA-PAGE" not in json.dumps(first.body)
    assert "ZEBRA-PAGE" in json.dumps(last.body)
    assert played.files == {}
    assert not (played.execution.trajectory and played.execution.trajectory.blocked)


def test_skills_of_nobody_else_come_in(play: Play) -> None:
    """Reading the private configuration brings nothing that was not installed."""
    rule = Install(kind="rule", name="r", content={"text": "Be short."})
    offered = [
        played.execution.trajectory.skills_offered
        for played in (play([ModelReply("ok")], installs=installs) for installs in ([], [rule]))
        if played.execution.trajectory
    ]
    assert len(offered) == 2
    assert offered[0] == offered[1]
