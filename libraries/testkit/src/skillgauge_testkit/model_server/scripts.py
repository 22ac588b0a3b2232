"""Scripts made of replies: what to say in which order, to which prompt, with or without a skill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock

from .replies import ModelFault, ModelReply, Script
from .requests import ModelRequest
from .tools import use_skill

Step = ModelReply | Script
"""A reply, or what makes one of the request."""


def refusal_of_script(why: str) -> ModelReply:
    """Answers what a test got wrong, with a status that no client takes for passing trouble."""
    return ModelReply(fault=ModelFault.BAD_REQUEST, message=why)


def in_turns(*steps: Step, aside: Step | None = None) -> Script:
    """Play the steps in each session anew, one per request; a request that is sent again gets the next step.

    After the last one the answer is an error that says so.

    Args:
        steps: what to answer in turn.
        aside: what to answer to requests that offer no tools, as some agents send them beside the session to give it
            a title; they take no step then.
    """
    lock = Lock()
    played: Counter[str] = Counter()

    def answer(request: ModelRequest) -> ModelReply:
        if aside is not None and not request.tools:
            return _reply(aside, request)
        with lock:
            turn = played[request.session]
            played[request.session] += 1
        if turn < len(steps):
            return _reply(steps[turn], request)
        return refusal_of_script(f"the script has no reply left after {len(steps)}")

    return answer


def by_prompt(scripts: Mapping[str, Step], otherwise: Step | None = None) -> Script:
    """Choose by the first of the words that the user's prompt contains.

    Args:
        scripts: words to look for -> what to answer then.
        otherwise: what to answer to any other prompt; `None`: an error that says so.
    """

    def answer(request: ModelRequest) -> ModelReply:
        for words, step in scripts.items():
            if words in request.prompt:
                return _reply(step, request)
        if otherwise is None:
            return refusal_of_script(f"the script knows no reply to the prompt {request.prompt[:200]!r}")
        return _reply(otherwise, request)

    return answer


def with_skill(name: str, skilled: Step, unskilled: Step) -> Script:
    """Behave like a model that needs a skill: use it and then do well if the agent offers it, else do without.

    Args:
        name: of the skill.
        skilled: what to answer after it was loaded.
        unskilled: what to answer in a session that does not offer it.
    """

    def answer(request: ModelRequest) -> ModelReply:
        if name not in request.skills:
            return _reply(unskilled, request)
        return _reply(skilled, request) if request.turn else ModelReply(tools=[use_skill(name)])

    return answer


def _reply(step: Step, request: ModelRequest) -> ModelReply:
    return step if isinstance(step, ModelReply) else step(request)
