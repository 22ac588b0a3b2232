"""The contract of engines that drive an agent's program, checked with the real program on a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable

from skillgauge.api import Engine, Traits

from .agent_sessions import KEY, Played
from .contract import EnginePrompts, check_engine
from .contract.clauses import require, shown
from .hook_answers import EVENT, HookAnswer, hooks
from .model_server import ModelFault, ModelReply, ModelServer, ToolCall, by_prompt, in_turns

_PATIENCE_S = 90.0
"""Programs of agents take seconds to start on a machine that is busy."""
_MADE = "made.txt"


def check_agent_program(make: Callable[[ModelServer], Engine], traits: Traits, *, model: str | None = None) -> None:
    """Check an engine with the program of its agent.

    Args:
        make: makes an engine whose program asks this server, with `agent_sessions.KEY` as its key.
        traits: what the plugin's provider announces.
        model: the model to ask for.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    replies = {
        "hello": ModelReply("Hello.", 100, 5),
        "silent": ModelReply("Hello.", None, None),
        "wait": ModelReply("late", delay_s=5),
        "crash": ModelReply(fault=ModelFault.BAD_REQUEST),
    }
    with ModelServer(by_prompt(replies)) as server:
        check_engine(
            lambda: make(server),
            traits,
            EnginePrompts(answered="hello", silent="silent", slow="wait", failing="crash"),
            model=model,
            secret=KEY,
            patience_s=_PATIENCE_S,
        )


def check_hook_answer(play: Callable[..., Played], answer: HookAnswer, write: ToolCall) -> Played:
    """Check that a hook's answer blocks a tool if the specification calls it a block, and lets it pass otherwise.

    Args:
        play: plays one session with a script, and with `installs` in its workspace.
        answer: what the hook answers.
        write: the call of a tool that makes `made.txt`.

    Returns:
        The session, for what the engine says beyond that.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    script = in_turns(ModelReply(tools=[write]), ModelReply("ok"))
    played = play(script, installs=[hooks(f"cat >/dev/null; {answer.script}")])
    execution = played.execution
    require(execution.failure is None, f"{answer.name}: the session must succeed: {shown(execution.failure)}")
    require(execution.trajectory is not None, f"{answer.name}: the session must give a trajectory")
    assert execution.trajectory is not None
    is_made = _MADE in played.files
    require(is_made is not answer.blocks, f"{answer.name}: {_MADE} must exist if nothing blocks; it does: {is_made}")
    blocked = [(block.by, block.event) for block in execution.trajectory.blocked or ()]
    wanted = [("hook", EVENT)] if answer.blocks else []
    require(blocked == wanted, f"{answer.name}: its blocks must be {wanted}, not {blocked}")
    is_read = answer.reason in json.dumps(played.server.requests[-1].body)
    require(is_read, f"{answer.name}: the agent must read the reason {answer.reason!r}")
    note = "a hook for pre-tool-use ended with exit code 1 and so stopped nothing"
    is_noted = note in execution.notes
    require(
        is_noted is (answer.name == "failure"),
        f"{answer.name}: notes must tell of failed hooks only: {execution.notes}",
    )
    return played
