"""Trigger sets beside other skills: real agents, scripted models, and the table of who fired for whose queries."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, with_skill
from skillgauge_testkit.program import Done, Program

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

KEY = "canary-of-the-triggers-0123456789"
SKILLS = ("apples", "pears", "plums", "quinces")
QUERIES = [
    {"query": "Which apples keep? FIRE:apples", "should_trigger": True},
    {"query": "How are apples stored? FIRE:pears", "should_trigger": True},
    {"query": "Prune the pear tree. FIRE:pears", "should_trigger": False, "expected_skill": "pears"},
    {"query": "What time is it?", "should_trigger": False},
]
"""Of apples; the scripted model uses the skill that a query names."""
OF_PEARS = [{"query": "Are these pears ripe? FIRE:plums", "should_trigger": True}]


@dataclass(frozen=True)
class Agent:
    """An engine as a user names it."""

    name: str
    program: str
    variable: str
    model: str
    address: str


AGENTS = [
    pytest.param(Agent("claude-code", "claude", "ANTHROPIC_API_KEY", "claude-sonnet-4-5", ""), id="claude-code"),
    pytest.param(Agent("codex", "codex", "OPENAI_API_KEY", "gpt-5.5", "/v1"), id="codex"),
]


def choosing(request: ModelRequest) -> ModelReply:
    """Use the skill that the prompt names."""
    done = ModelReply("Done.")
    for name in SKILLS:
        if f"FIRE:{name}" in request.prompt:
            return with_skill(name, done, done)(request)
    return done


def silent(_request: ModelRequest) -> ModelReply:
    """Never use a skill."""
    return ModelReply("Done.")


@pytest.fixture
def shelf(work: Path) -> None:
    """A skill with queries, and three others, one of them with queries of its own."""
    for name, folder in ((SKILLS[0], "apples"), *((one, f"others/{one}") for one in SKILLS[1:])):
        (work / folder / "evals").mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: All about {name}.\n---\nSay {name}.\n"
        (work / folder / "SKILL.md").write_text(text)
    (work / "apples/evals/trigger-eval.json").write_text(json.dumps(QUERIES))
    (work / "others/pears/evals/trigger-eval.json").write_text(json.dumps(OF_PEARS))


Evaluate = Callable[..., Done]


@pytest.fixture
def evaluate(program: Program, work: Path, agent_program: Callable[[str], Path], shelf: None) -> Evaluate:
    """Evaluate the queries with an agent that asks a scripted server."""

    def call(agent: Agent, server: ModelServer, *arguments: str) -> Done:
        options = {"program": agent_program(agent.program), "base_url": f"{server.url}{agent.address}"}
        settings = [word for key, value in options.items() for word in ("--set", f"engines.{agent.name}.{key}={value}")]
        command = ["eval", "apples", "--engine", agent.name, "--model", agent.model, "--sandbox", "local", *settings]
        command += ["--set", f"engines.{agent.name}.api_retries=0", "--concurrency", "2", *arguments]
        return program.process(*command, env={agent.variable: KEY}, timeout_s=400)

    return call


def tables(done: Done) -> dict[str, list[list[Any]]]:
    """The rows of each suite's table, heads first."""
    groups = done.document["summary"]["groups"]
    return {group["target_id"]: [table["heads"], *table["rows"]] for group in groups for table in group["tables"]}


@pytest.mark.parametrize("agent", AGENTS)
def test_who_fires_among_three_others(evaluate: Evaluate, work: Path, agent: Agent) -> None:
    """A skill's queries beside three others, and those of one of them beside it: the same counts in every report."""
    with ModelServer(choosing) as server:
        done = evaluate(
            agent, server, "--with-skills", "others", "--runs", "1", "--json", "--format", "markdown", "html", "record"
        )
    assert done.code == 0, done.stdout + done.stderr
    assert tables(done) == {
        "apples": [
            ["Query of", "Sessions", "apples", "pears", "none"],
            ["apples", 2, 1, 1, 0],
            ["pears", 1, 0, 1, 0],
            ["nobody here", 1, 0, 0, 1],
        ],
        "pears": [["Query of", "Sessions", "pears", "plums", "none"], ["pears", 1, 0, 1, 0]],
    }
    groups = {
        one["target_id"]: {f["name"]: f["value"] for f in one["figures"]} for one in done.document["summary"]["groups"]
    }
    assert (groups["apples"]["trigger_rate"], groups["apples"]["silence_rate"]) == (0.5, 1.0)
    assert {one["execution"]["arm_integrity"] for one in done.document["results"]} == {"verified"}
    page = (work / "reports/eval-result.html").read_text()
    text = (work / "reports/eval-result.md").read_text()
    assert "| apples | 2 | 1 | 1 | 0 |" in text
    assert '>apples</bdi></th><td class="number">2</td><td class="number">1</td><td class="number">1</td>' in page


@pytest.mark.parametrize("agent", AGENTS)
def test_a_skill_that_never_fires_is_told_aloud(evaluate: Evaluate, agent: Agent) -> None:
    """All negative queries pass, and nobody can take that for a good skill."""
    with ModelServer(silent) as server:
        done = evaluate(agent, server, "--with-skills", "others", "--runs", "1")
    assert done.code == 0, done.stdout + done.stderr
    told = " ".join(done.stderr.split())
    assert "the skill never fired in 2 sessions that should make it fire. Check the engine first" in told
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["apples", "2", "0", "0", "2"] in lines or ["apples", "2", "0", "2"] in lines
