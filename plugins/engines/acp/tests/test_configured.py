"""Agents of which nothing is known but what the user's configuration describes."""

from __future__ import annotations

import asyncio
import json
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from skillgauge.api import (
    Execution,
    Fact,
    FailureClass,
    FileSpec,
    FiredSkill,
    InstalledSkill,
    Limits,
    PluginError,
    RefusedSkill,
    RunRequest,
    SandboxSpec,
    SkillRef,
)
from skillgauge.plugins.index import IndexEntry, PluginIndex
from skillgauge.plugins.registry import Registry
from skillgauge_engine_acp.configured import plugin
from skillgauge_engine_acp.configured.options import PAGE
from skillgauge_engine_acp.configured.presets import PRESETS
from skillgauge_testkit import ENGINES, Maker, TemporarySandbox

LIMITS = Limits(timeout_s=30)
AGENT = Path(__file__).parent / "scripted_agent.py"
SKILL = "greet-well"
MINE = {"argv": [sys.executable, str(AGENT)], "version_argv": [sys.executable, str(AGENT), "--version"]}
make = Maker(ENGINES, "skillgauge_engine_acp.configured.plugin")


def registry(agents: dict[str, Any]) -> Registry:
    """The registry of a run whose configuration describes agents."""
    entries = [
        IndexEntry("engines", name, f"skillgauge_engine_acp.{module}", "skillgauge-engine-acp", "0.1.0")
        for name, module in (("acp", "configured.plugin"), ("gemini", "gemini_plugin"))
    ]
    options = {"engines.acp": {"agents": agents}}
    return Registry(PluginIndex(entries), options=lambda name, _model: options.get(name, {}))


def played(prompt: str, limits: Limits = LIMITS, **options: Any) -> Execution:
    """A session of a described agent, with a skill installed."""

    async def session() -> Execution:
        async with TemporarySandbox().open(SandboxSpec(label="acp")) as workspace:
            await workspace.put([FileSpec(path=f".agents/skills/{SKILL}/SKILL.md", text="Say ZEBRA to everybody.")])
            installed = InstalledSkill(ref=SkillRef(name=SKILL, root="/", digest=""), path=f".agents/skills/{SKILL}")
            request = RunRequest(
                trial_id="t", case_id="c", prompt=prompt, model="m1", limits=limits, skills=(installed,)
            )
            return await make({**MINE, **options}).run(request, workspace, lambda _event: None)

    return asyncio.run(session())


def test_a_name_behind_the_colon_is_an_agent_of_the_configuration() -> None:
    """`acp:NAME` runs what `engines.acp.agents.NAME` describes, under that name and with the version it tells."""
    plugins = registry({"mine": {**MINE, "skill_folder": ".agents/skills", "model": "m1"}})
    resolved = plugins.resolve("engines", "acp:mine")
    identity = plugins.make(ENGINES, resolved).identity(None)
    assert (identity.name, identity.model) == ("acp:mine", "m1")
    assert (identity.version or "").startswith("2.6.0+engine")
    assert plugins.traits(resolved).skill_folder == ".agents/skills"


def test_other_agents_are_no_part_of_an_identity() -> None:
    """Describing a second agent changes nothing about sessions of the first; another program does."""

    def identity(**agents: Any) -> str:
        plugins = registry({"mine": {**MINE, "model": "m1"}, **agents})
        return plugins.make(ENGINES, plugins.resolve("engines", "acp:mine")).identity(None).digest

    assert identity() == identity(other={"argv": "other"})
    assert identity() != identity(mine={**MINE, "model": "m1", "argv": [*MINE["argv"], "--more"]})


def test_a_known_agent_is_still_its_own_engine() -> None:
    """`acp:gemini` is the engine of that name, as before."""
    assert registry({}).resolve("engines", "acp:gemini").name == "gemini"


@pytest.mark.parametrize(
    ("name", "agents", "words"),
    [
        (
            "acp:mien",
            {"mine": {"argv": "x"}},
            ("'mien' is described (did you mean mine", "gemini", "engines.acp.agents"),
        ),
        ("acp:opncode", {}, ("did you mean opencode", "known are claude-agent-acp, codex-acp, gemini", "vibe", PAGE)),
        ("acp", {}, ("no agent is named", "--engine acp:NAME")),
        ("acp:mine", {"mine": {"argv": "x", "skil_folder": "y"}}, ("skil_folder",)),
        ("acp:mine", {"mine": {"argv": "x", "skill_folder": "../y"}}, ("stay inside",)),
        ("acp:mine", {"mine": {"argv": "x", "files": {"/etc/x": ""}}}, ("stay inside",)),
        ("acp:mine", {"mine": {"argv": "x", "env": {"A": 1}}}, ("must be text",)),
        ("acp:mine", {"mine": {"argv": "x"}, "gemini": {"argv": "x"}}, ("gemini is known", "engines.gemini.KEY")),
    ],
)
def test_what_cannot_be_meant_is_refused(name: str, agents: dict[str, Any], words: tuple[str, ...]) -> None:
    """The message names the agents that there are, the configuration and the page."""
    plugins = registry(agents)
    with pytest.raises(PluginError) as raised:
        plugins.make(ENGINES, plugins.resolve("engines", name))
    assert all(word in str(raised.value) for word in words), str(raised.value)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_needs_no_description(name: str) -> None:
    """Its name is enough; it promises what its agent was seen to tell, and its program is told how to install."""
    plugins = registry({})
    resolved = plugins.resolve("engines", f"acp:{name}")
    engine = plugins.make(ENGINES, resolved)
    assert engine.identity("m1").name == f"acp:{name}"
    assert Fact.FIRED in plugins.traits(resolved).tells
    hints = [problem.hint for problem in asyncio.run(engine.check()) if problem.code == "engine.no-program"]
    assert not hints or PRESETS[name].install in str(hints[0])


def test_a_description_of_the_user_goes_before_a_preset() -> None:
    """Key by key, so that he changes what is different with him and no more."""
    plugins = registry({"qwen": {"base_url": "http://127.0.0.1:9/v1"}})
    engine = plugins.make(ENGINES, plugins.resolve("engines", "acp:qwen"))
    assert engine.service("m1").address == "http://127.0.0.1:9/v1"
    assert plugins.traits(plugins.resolve("engines", "acp:qwen")).skill_folder == ".qwen/skills"


def test_what_a_description_needs_is_looked_for_before_a_session() -> None:
    """A further program that is not there, and a model that it names and nobody gave."""

    def problems(model: str | None, **options: Any) -> list[tuple[str, str]]:
        engine = make({**MINE, **options})
        engine.identity(model)
        return [(one.code, one.message) for one in asyncio.run(engine.check())]

    assert problems("m1", env={"MODEL": "{model}"}, needs=["sh"]) == []
    ((code, message),) = problems(None, files={"x": {"model": "{model}"}})
    assert (code, "names a model" in message) == ("engine.no-model", True)
    ((code, message),) = problems(None, needs=["no-such-program"])
    assert (code, "'no-such-program'" in message) == ("engine.no-program", True)


def test_vibe_names_the_tool_of_a_call_in_its_own_way() -> None:
    """It is `_meta.tool_name`, with the skill in the arguments; its program is a scripted one here."""
    vibe = {key: PRESETS["vibe"].description[key] for key in ("skill_tool", "usage", "files")}
    execution = played(f"vibe {SKILL}", base_url="http://127.0.0.1:9/v1", **vibe)
    assert execution.failure is None
    assert execution.trajectory
    assert execution.trajectory.skills_fired == (FiredSkill(name=SKILL, how="invoked"),)
    assert execution.usage
    assert (execution.usage.input_tokens, execution.usage.output_tokens) == (11, 7)
    settings = tomllib.loads(execution.stderr or "")
    assert (settings["active_model"], settings["providers"][0]["api_base"]) == ("m1", "http://127.0.0.1:9/v1")
    assert settings["trusted"][0].startswith("/")


def test_what_is_not_described_is_unknown() -> None:
    """Tokens and the use of skills are unknown, not none, although the agent called its tool for skills."""
    execution = played(f"skill {SKILL}")
    assert execution.failure is None
    assert execution.text == "done"
    trajectory = execution.trajectory
    assert trajectory
    assert (trajectory.skills_fired, trajectory.skills_refused, trajectory.skills_offered, trajectory.blocked) == (
        None,
    ) * 4
    assert execution.usage is None


def test_the_tool_for_skills_and_the_tokens_of_messages() -> None:
    """A skill fires by its tool, whose name may stand in a title; what a cache held is not counted twice."""
    described = {"skill_tool": "skill", "usage": "messages"}
    execution = played(f"skill {SKILL}", **described)
    assert execution.trajectory
    assert execution.trajectory.skills_fired == (FiredSkill(name=SKILL, how="invoked"),)
    usage = execution.usage
    assert usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens, usage.total_tokens) == (
        1100,
        900,
        40,
        2040,
    )
    silent = played("hello", **described).trajectory
    assert silent
    assert silent.skills_fired == ()


def test_a_skill_that_could_not_be_loaded_is_told() -> None:
    """The call of the tool failed."""
    trajectory = played(f"skill {SKILL} failed", skill_tool=["Skill"]).trajectory
    assert trajectory
    assert trajectory.skills_fired == ()
    assert trajectory.skills_refused == (RefusedSkill(name=SKILL, reason="its tool failed: loaded"),)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("trouble Error: no access to http://127.0.0.1:443 (HTTP 401).", FailureClass.AUTH),
        ("trouble Error: retried 5 times in 14.500 s, last error: 529 try later", FailureClass.OVERLOADED),
        ("trouble Error: 502 skillgauge relay: the API cannot be reached", FailureClass.NETWORK),
        ("trouble Info: I ask again|Error: 400 Your credit balance is too low", FailureClass.BUDGET),
        ("trouble Error: whatever", FailureClass.PROTOCOL),
        ("trouble Info: I ask again|All is well.", None),
        ("trouble Errors: 500 of them.", None),
        ("error -32603 Internal error|404 no such model", FailureClass.MODEL_NOT_FOUND),
        ("error -32603 Internal error|connection lost", FailureClass.NETWORK),
    ],
)
def test_trouble_that_the_program_tells_is_no_answer(prompt: str, kind: FailureClass | None) -> None:
    """A failure of the model's service is an error of its class, whether it comes as a message or beside an error."""
    execution = played(prompt, own_words=["Error: ", "Info: "])
    assert (execution.failure and execution.failure.failure_class) == kind
    if kind is None:
        assert execution.text == prompt.rpartition("|")[2].removeprefix("trouble ")
    else:
        assert execution.text is None
    without = played("trouble Error: 401")
    assert (without.failure, without.text) == (None, "Error: 401")


def test_what_was_said_before_the_last_call_is_no_answer() -> None:
    """An agent whose model refuses ends so, and what it said on the way must not be judged."""
    execution = played("silent-end")
    assert execution.failure
    assert (execution.failure.failure_class, execution.text) == (FailureClass.REFUSED, None)


@pytest.mark.slow
def test_a_program_that_asks_again_until_its_time_is_up_waits_for_the_service() -> None:
    """Neither its own words nor empty pieces are signs of life of its model."""
    execution = played("retry", own_words=["Info: "], limits=Limits(timeout_s=4))
    assert execution.failure
    assert execution.failure.failure_class is FailureClass.NETWORK


def test_tokens_of_the_final_answer() -> None:
    """They are those of the whole session."""
    usage = played("hello", usage="final").usage
    assert usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (11, 7, 18)


def test_another_program_than_the_one_described_is_noticed() -> None:
    """By the name that it gives: the session is an error of class setup and says both names."""
    assert played("hello", agent_name="x").failure is None
    failure = played("hello", agent_name="acme").failure
    assert failure
    assert failure.failure_class is FailureClass.SETUP
    assert "'x'" in failure.message
    assert "'acme'" in failure.message


def test_placeholders_in_arguments_variables_and_files() -> None:
    """Model, address and folders are filled in; other braces of a file stay."""
    line = 'cat "$HOME/.config/x.json" >&2; echo "$AT $1" >&2'
    settings = {"model": "{model}", "key": "{env:KEY}"}
    execution = played(
        "hello",
        argv=["sh", "-c", line, "sh", "{model}"],
        version_argv=[],
        base_url="http://127.0.0.1:9/v1",
        env={"AT": "{address}"},
        files={".config/x.json": settings},
    )
    first, second = (execution.stderr or "").replace("}http", "}\nhttp").splitlines()[:2]
    assert json.loads(first) == {"model": "m1", "key": "{env:KEY}"}
    assert second == "http://127.0.0.1:9/v1 m1"


def test_what_is_announced_follows_the_description() -> None:
    """An engine promises only what its agent is described to tell."""

    def traits(module: ModuleType, **options: Any) -> frozenset[Fact]:
        (provider,) = module.skillgauge_engines()
        return provider.made_traits(provider.options.model_validate({"argv": "x", **options})).tells

    assert traits(plugin) == frozenset()
    assert traits(plugin, skill_tool="skill", usage="final") == {Fact.FIRED, Fact.USAGE}


def test_no_address_no_route(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a server that the description names can be relayed; its key stays outside then."""
    monkeypatch.setenv("MY_KEY", "made-up-key-0123456789")
    assert make({"argv": "x", "key_variable": "MY_KEY"}).routes(None) == ()
    (route,) = make({"argv": "x", "key_variable": "MY_KEY", "base_url": "http://127.0.0.1:9/v1"}).routes(None)
    assert "made-up-key-0123456789" in str(dict(route.headers))


def test_the_page_shows_descriptions_that_are_valid() -> None:
    """Every agent of the page can be made as it stands there, and answers for what it is described to tell."""
    page = (Path(__file__).parents[4] / "docs/other-agents.md").read_text("utf-8")
    block = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    agents = block["plugins"]["engines"]["acp"]["agents"]
    assert {"my-agent", "opencode"} <= agents.keys()
    plugins = registry(agents)
    for name in agents:
        resolved = plugins.resolve("engines", f"acp:{name}")
        assert Fact.FIRED in plugins.traits(resolved).tells
        assert plugins.traits(resolved).skill_folder == ".agents/skills"
