"""All that a program tells in lines of JSON: its answer among them, the skills that it loaded, and what it has used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import (
    NO_LIMITS,
    Execution,
    Fact,
    FailureClass,
    FileSpec,
    FiredSkill,
    InstalledSkill,
    PluginError,
    RefusedSkill,
    RunRequest,
    SandboxSpec,
    SkillRef,
    Usage,
)
from skillgauge_engine_command.options import CommandOptions
from skillgauge_engine_command.plugin import skillgauge_engines
from skillgauge_engine_command.records import SkillCalls, usage_in
from skillgauge_testkit import ENGINES, Maker, TemporarySandbox

make = Maker(ENGINES, "skillgauge_engine_command.plugin")
SKILLS = ".agents/skills"

STREAM = [
    {"type": "system", "tools": ["skill", "bash"], "commands": ["pdf"]},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "I look."}]}},
    {"type": "assistant", "message": {"content": [{"id": "c1", "name": "skill", "input": {"skill": "pdf"}}]}},
    {"type": "user", "message": {"content": [{"tool_use_id": "c1", "is_error": False, "content": "loaded"}]}},
    {
        "type": "result",
        "result": "Done.",
        "usage": {"input_tokens": 2050, "output_tokens": 46, "cache_read_input_tokens": 900, "total_tokens": 2096},
    },
    {"type": "farewell", "result": "bye"},
]
STEPS = [
    {
        "type": "tool_use",
        "part": {"tool": "skill", "callID": "c1", "state": {"status": "completed", "input": {"name": "pdf"}}},
    },
    {
        "type": "step",
        "part": {"tokens": {"total": 1020, "input": 1000, "output": 20, "cache": {"read": 0}}, "cost": 0.5},
    },
    {"type": "text", "part": {"text": "Done."}},
    {
        "type": "step",
        "part": {"tokens": {"total": 956, "input": 50, "output": 6, "cache": {"read": 900}}, "cost": 0.25},
    },
]
STREAM_OPTIONS = {
    "answer_key": "result",
    "answer_where": {"type": "result"},
    "usage_where": {"type": "result"},
    "usage_keys": {
        "input_tokens": "usage.input_tokens",
        "output_tokens": "usage.output_tokens",
        "cache_read_tokens": "usage.cache_read_input_tokens",
        "total_tokens": "usage.total_tokens",
    },
}
STEPS_OPTIONS = {
    "answer_key": "part.text",
    "answer_where": {"type": "text"},
    "usage_keys": {
        "input_tokens": "part.tokens.input",
        "output_tokens": "part.tokens.output",
        "cache_read_tokens": "part.tokens.cache.read",
        "total_tokens": "part.tokens.total",
        "cost_usd": "part.cost",
    },
}


def play(
    lines: Sequence[Mapping[str, Any]], skills: Sequence[str] = ("pdf",), *, argv: Sequence[str] = (), **options: Any
) -> Execution:
    """A session of a program that writes these lines, with skills installed."""
    script = "".join(f"{json.dumps(line)}\n" for line in lines)

    async def run() -> Execution:
        async with TemporarySandbox().open(SandboxSpec(label="command")) as workspace:
            await workspace.put([FileSpec(path=f"{SKILLS}/{name}/SKILL.md", text=f"I am {name}.") for name in skills])
            installed = tuple(
                InstalledSkill(ref=SkillRef(name=name, root="/", digest=""), path=f"{SKILLS}/{name}") for name in skills
            )
            request = RunRequest(
                trial_id="t", case_id="c", prompt="do it", model="m", limits=NO_LIMITS, skills=installed
            )
            command = {"argv": argv or ["cat"], "stdin": script.replace("{", "{{").replace("}", "}}")}
            given = {**command, "skill_folder": SKILLS, **options}
            return await make(given).run(request, workspace, lambda _event: None)

    return asyncio.run(run())


def test_programs_that_count_a_cache_as_input_and_reasoning_beside_output() -> None:
    """Their counts have names of their own, and become the kinds of a result."""
    keys = {
        "input_with_cache_tokens": "in",
        "cache_read_tokens": "cached",
        "output_without_reasoning_tokens": "out",
        "reasoning_tokens": "thought",
    }
    first, second = {"in": 1000, "cached": 900, "out": 20, "thought": 7}, {"in": 50, "out": 6, "thought": 0}
    assert usage_in([first], keys) == Usage(
        input_tokens=100, cache_read_tokens=900, output_tokens=27, reasoning_tokens=7
    )
    assert usage_in([first, second], keys) == Usage(input_tokens=150, output_tokens=33, reasoning_tokens=7)
    assert usage_in([first, {"cached": 3}], keys) == Usage(cache_read_tokens=903)


@pytest.mark.parametrize(
    ("lines", "options", "usage"),
    [
        (
            STREAM,
            STREAM_OPTIONS,
            Usage(input_tokens=1150, cache_read_tokens=900, output_tokens=46, total_tokens=2096),
        ),
        (
            STEPS,
            STEPS_OPTIONS,
            Usage(
                input_tokens=1050,
                cache_read_tokens=900,
                output_tokens=26,
                total_tokens=1976,
                cost_usd=0.75,
                cost_basis="reported",
            ),
        ),
    ],
)
def test_answer_skill_and_tokens(lines: list[dict[str, Any]], options: dict[str, Any], usage: Usage) -> None:
    """The answer is the line that is meant, not the last one; a cache is counted once; the skill was loaded."""
    execution = play(lines, skill_tool="skill", **options)
    assert execution.failure is None
    assert execution.text == "Done."
    assert execution.usage == usage
    assert execution.trajectory
    assert execution.trajectory.skills_fired == (FiredSkill(name="pdf", how="invoked"),)


def test_what_is_not_configured_is_unknown() -> None:
    """Neither tokens nor skills are read from lines that nobody described; nothing is promised of them."""
    execution = play(STREAM, answer_key="result")
    assert execution.text == "bye"
    assert execution.usage is None
    assert execution.trajectory
    assert (execution.trajectory.skills_fired, execution.trajectory.skills_refused) == (None, None)

    def tells(**options: Any) -> frozenset[Fact]:
        (provider,) = skillgauge_engines()
        return provider.made_traits(CommandOptions.model_validate({"argv": "x", **options})).tells

    assert tells() == frozenset()
    assert tells(skill_tool="skill") == {Fact.FIRED}
    assert tells(usage_keys={"total_tokens": "n"}) == {Fact.USAGE}
    assert tells(usage_keys={"cost_usd": "n"}) == {Fact.USAGE, Fact.COST}


def test_no_call_of_the_tool_is_no_skill_unless_output_is_missing() -> None:
    """The tool in a list of tools, another skill, or the word in an answer is no call; a cut stream proves nothing."""
    talk = [STREAM[0], {"type": "text", "text": "skill"}, {"name": "skill", "input": {"skill": "other"}}]
    trajectory = play(talk, skill_tool="skill").trajectory
    assert trajectory
    assert trajectory.skills_fired == ()
    cut = play([{"type": "text", "text": "x" * 6_000_000}], skill_tool="skill", usage_keys={"total_tokens": "n"})
    assert cut.truncated
    assert cut.trajectory
    assert (cut.trajectory.skills_fired, cut.usage) == (None, None)


@pytest.mark.parametrize(
    "failed",
    [
        [STREAM[2], {"content": [{"tool_use_id": "c1", "is_error": True, "content": "no such\n skill"}]}],
        [
            {
                "part": {
                    "tool": "skill",
                    "callID": "c",
                    "state": {"status": "error", "error": "no such skill", "input": {"name": "pdf"}},
                }
            }
        ],
    ],
)
def test_a_skill_that_could_not_be_loaded(failed: list[dict[str, Any]]) -> None:
    """A call that failed loads nothing and says why; one that succeeds later does."""
    trajectory = play(failed, skill_tool=["skill"]).trajectory
    assert trajectory
    assert trajectory.skills_fired == ()
    assert trajectory.skills_refused == (RefusedSkill(name="pdf", reason="its tool failed: no such skill"),)
    again = play([*failed, {"id": "c2", "name": "skill", "input": {"skill": "pdf"}}], skill_tool=["skill"]).trajectory
    assert again
    assert (again.skills_fired, again.skills_refused) == ((FiredSkill(name="pdf", how="invoked"),), ())


def test_a_line_that_is_not_there_is_no_answer() -> None:
    """The message names the fields that were looked for."""
    execution = play(STEPS, answer_key="text", answer_where={"type": "end"})
    assert execution.failure
    assert execution.failure.failure_class is FailureClass.PROTOCOL
    assert execution.failure.message.startswith('no JSON object of its output has type: "end"')


@given(st.lists(st.dictionaries(st.sampled_from("ab"), st.integers(0, 9) | st.none() | st.booleans() | st.text())))
def test_a_count_is_unknown_where_a_line_leaves_it_out(lines: list[dict[str, Any]]) -> None:
    """Sums hold all lines that tell anything; nothing that is missing counts as nothing."""
    keys = {"input_tokens": "a", "output_tokens": "b"}
    usage = usage_in(lines, keys)
    numbers = [{key: value for key, value in line.items() if type(value) is int} for line in lines]
    told = [line for line in numbers if line]
    if not told:
        assert usage is None
        return
    assert usage
    for key, value in (("a", usage.input_tokens), ("b", usage.output_tokens)):
        assert value == (sum(line[key] for line in told) if all(key in line for line in told) else None)


def test_a_deep_stream_is_read() -> None:
    """However deep a call lies, and however many lines there are."""
    deep: dict[str, Any] = {"name": "skill", "input": {"skill": "pdf"}}
    for _ in range(5000):
        deep = {"in": [deep]}
    fired, refused = SkillCalls([*([{"a": 1}] * 50_000), deep], ["skill"], ["pdf"]).read()
    assert (fired, refused) == ((FiredSkill(name="pdf", how="invoked"),), ())


def test_an_agent_without_skills_is_given_their_files() -> None:
    """As aider reads them: an argument for each skill of the arm, and none in the arm without."""
    argv = ["sh", "-c", 'shift; for file in "$@"; do cat "$file"; done', "sh", "--read-these"]
    options = {"argv": argv, "skill_argv": ["{skill_file}"]}
    assert play([], ["pdf", "csv"], **options).text == "I am pdf.I am csv."
    assert play([], [], **options).text == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"skill_argv": ["{skill}"]}, "no placeholder {skill} (did you mean skill_file"),
        ({"skill_argv": ["{skill_file}"], "skill_folder": None}, "skill_argv is set, but the option skill_folder"),
        ({"answer_where": {"a": 1}}, "answer_where is set, but the option answer_key"),
        ({"usage_where": {"a": 1}}, "usage_where is set, but the option usage_keys"),
        ({"usage_keys": {"input": "a"}}, "no count 'input'"),
        ({"usage_keys": {"input_tokens": 3}}, "input_tokens: must be a key"),
    ],
)
def test_options_that_cannot_be_meant(options: dict[str, Any], words: str) -> None:
    """The message says which option, and what is missing."""
    with pytest.raises(PluginError, match=words.replace("(", r"\(").replace("{", r"\{")):
        make({"argv": "x", "skill_folder": SKILLS, **options})


def test_options_that_are_not_used_change_no_recording() -> None:
    """Settings are those of before the options were there; one that is set is part of what a session is."""
    plain = make({"argv": ["a"]}).identity("m")
    assert set(plain.settings) == {
        "argv",
        "stdin",
        "env",
        "pass_env",
        "skill_folder",
        "answer_key",
        "exit_codes",
        "model",
    }
    assert make({"argv": ["a"], "skill_tool": "skill"}).identity("m").digest != plain.digest


def test_the_page_shows_configurations_that_are_valid() -> None:
    """Every example of the engine's README can be made."""
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    blocks = [part.partition("```")[0] for part in readme.split("```yaml\n")[1:]]
    assert len(blocks) > 1
    for block in blocks:
        make(yaml.safe_load(block)["plugins"]["engines"]["command"])
