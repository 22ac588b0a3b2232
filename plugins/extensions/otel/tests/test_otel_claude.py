"""A session of Claude Code, the program itself, as spans; its model is scripted."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from skillgauge_testkit import ModelServer
from skillgauge_testkit.agent_sessions import KEY
from skillgauge_testkit.program import Program

from .conftest import Endpoint
from .test_otel_runs import AGENT, SUITE, attributes, named

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]


def test_each_answer_and_each_tool_is_a_span(
    program: Program, endpoint: Endpoint, agent_program: Callable[[str], Path]
) -> None:
    """The skill, the note, the checker and the last word: four answers of the model, three tools, in their order."""
    script = runpy.run_path(str(AGENT / "record.py"))["script"](".claude/skills")
    with ModelServer(script) as server:
        settings = [f"program={agent_program('claude')}", f"base_url={server.url}"]
        words = [word for setting in settings for word in ("--set", f"engines.claude-code.{setting}")]
        done = program.process(
            *("eval", SUITE, "--engine", "claude-code", "--model", "claude-sonnet-4-5", "--case", "session-fix"),
            *("--sandbox", "local", "--no-baseline", "--store", "none", *words),
            env={"ANTHROPIC_API_KEY": KEY, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint.address},
            timeout_s=300,
        )
    assert done.code == 0, done.stderr
    (session,) = named(endpoint, "invoke_agent claude-code")
    facts = attributes(session)
    assert (facts["gen_ai.provider.name"], facts["gen_ai.request.model"]) == ("anthropic", "claude-sonnet-4-5")
    assert int(facts["gen_ai.usage.output_tokens"]) > 0
    inside = [span for span in endpoint.spans if span.get("parentSpanId") == session["spanId"]]
    inside.sort(key=lambda span: (int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])))
    chat = "chat claude-sonnet-4-5"
    bash = "execute_tool Bash"
    assert [span["name"] for span in inside] == [chat, "execute_tool Skill", chat, bash, chat, bash, chat]
    for before, after in pairwise(inside):
        assert int(before["endTimeUnixNano"]) <= int(after["startTimeUnixNano"]), (before, after)
