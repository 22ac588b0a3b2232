"""A map with real agents on scripted models: which skills fired is read from real sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, with_skill
from skillgauge_testkit.program import Program

from .test_trigger_sets import AGENTS, KEY, Agent

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

SKILLS = ("apples", "fruit", "letters")
WISHES = {
    "Which apples keep?": ("fruit", "apples"),
    "How are apples stored?": ("fruit", "apples"),
    "What fruit is in season?": ("fruit",),
    "Write a letter to Ann.": ("letters",),
}
"""The skills that the model would use for a query, the best first."""


def choosing(request: ModelRequest) -> ModelReply:
    """Use the first skill that is there: where it is not, the next one."""
    done = ModelReply("Done.")
    wishes = next((names for query, names in WISHES.items() if query in request.prompt), ())
    reply: Callable[[ModelRequest], ModelReply] | ModelReply = done
    for name in reversed(wishes):
        reply = with_skill(name, done, reply)
    return reply if isinstance(reply, ModelReply) else reply(request)


@pytest.fixture
def shelf(work: Path) -> None:
    """Three skills, of which `fruit` takes the queries of `apples`."""
    for name in SKILLS:
        folder = work / "skills" / name
        (folder / "evals").mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Use for {name}.\n---\nSay {name}.\n")
        queries = [query for query, wishes in WISHES.items() if wishes[-1] == name]
        items = [{"query": query, "should_trigger": True} for query in queries]
        (folder / "evals/trigger-eval.json").write_text(json.dumps(items))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_shadowed_skill_fires_again(
    program: Program, work: Path, shelf: None, agent_program: Callable[[str], Path], agent: Agent
) -> None:
    """`fruit` fires for both queries of `apples`, and `apples` does once `fruit` is left out: proven in 24 sessions."""
    with ModelServer(choosing) as server:
        options = {
            "program": agent_program(agent.program),
            "base_url": f"{server.url}{agent.address}",
            "api_retries": 0,
        }
        settings = [word for key, value in options.items() for word in ("--set", f"engines.{agent.name}.{key}={value}")]
        command = ["map", "skills", "--engine", agent.name, "--model", agent.model, "--sandbox", "local"]
        command += [*settings, "--concurrency", "2", "--record", "kept", "--json"]
        done = program.process(*command, env={agent.variable: KEY}, timeout_s=900)
    assert done.code == 0, done.stdout + done.stderr
    document = done.document
    assert document["sessions"] == {"screening": 12, "leave_one_out": 12, "skills": 3, "queries": 4, "runs": 3}
    assert document["unknown"] == 0
    assert {row["query_of"]: row["fired"] for row in document["matrix"]} == {
        "apples": {"fruit": 6},
        "fruit": {"fruit": 3},
        "letters": {"letters": 3},
    }
    (pair,) = [one for one in document["pairs"] if one["relation"] == "shadows"]
    assert (pair["skill"], pair["query_of"]) == ("fruit", "apples")
    counts = ("fired_with", "sessions_with", "fired_without", "sessions_without")
    assert [pair["left_out"][name] for name in counts] == [0, 6, 6, 6]
    assert pair["left_out"]["input_tokens"] is not None
    replayed = program.process("map", "skills", "--replay", "kept", "--json", "--store", "none", timeout_s=300)
    assert replayed.code == 0, replayed.stdout + replayed.stderr
    assert replayed.document["pairs"] == document["pairs"]
