"""Cases with several turns: one session with a scripted and with real agents, recorded and played back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e

EVAL = """\
name: talk
environment: {skills: [.]}
stimuli:
- name: two
  turns: [{prompt: "Say ALPHA."}, {prompt: "Say BETA, and what you said."}]
  graders:
  - {type: output-contains, name: first, turn: 0, config: {substring: It is ALPHA}}
  - {type: output-contains, name: second, turn: 1, config: {substring: after ALPHA}}
  - {type: output-contains, name: last, config: {substring: It is BETA}}
"""


@pytest.fixture
def suite(work: Path) -> Path:
    """Return a skill with a suite of one conversation."""
    skill = work / "boat"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: boat\ndescription: Use when a boat is folded.\n---\nFold.\n")
    (skill / "eval.yaml").write_text(EVAL)
    return skill / "eval.yaml"


def script(request: ModelRequest) -> ModelReply:
    """Say what is asked for, and in the second turn also what was said in the first one."""
    said = json.dumps(request.body)
    if not request.tools:
        return ModelReply("A title", input_tokens=0, output_tokens=0)
    text = "It is BETA after ALPHA." if "Say BETA" in said and "It is ALPHA" in said else "It is ALPHA."
    return ModelReply(text, input_tokens=100, output_tokens=10)


@pytest.mark.slow
def test_a_scripted_agent(program: Program, suite: Path) -> None:
    """Each turn is answered by itself, and each check sees its own."""
    replies = [{"match": "BETA", "text": "It is BETA after ALPHA."}, {"match": "ALPHA", "text": "It is ALPHA."}]
    settings = ("--engine", "mock", "--set", f"engines.mock.replies={json.dumps(replies)}")
    done = program("eval", suite, *settings)
    assert done.code == 0, done.stdout + done.stderr
    assert done.verdict == "done: 1 of 1 passed"


OF_TURNS = """\
name: talk
environment: {skills: [.]}
stimuli:
- name: two
  turns: [{prompt: "Say ALPHA."}, {prompt: "Say BETA, with the boat."}]
  graders:
  - {type: output-contains, name: last, config: {substring: BETA}}
  - {type: skill-invocation, name: first, turn: %d, config: {required: [boat]}}
  - {type: token-budget, name: budget, turn: 0, config: {max: 20}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "passed"), [(0, False), (1, True)])
def test_what_one_turn_did(program: Program, suite: Path, turn: int, passed: bool) -> None:
    """The skill fires in the second turn, whose prompt names it, and each turn has its own tokens."""
    suite.write_text((OF_TURNS % turn).replace("name: last", "name: last, turn: 1"))
    replies = [
        {"match": "BETA", "text": "BETA", "tokens": 900, "fires": ["boat"]},
        {"match": "ALPHA", "text": "ALPHA", "tokens": 10, "fires": []},
    ]
    settings = ("--engine", "mock", "--set", f"engines.mock.replies={json.dumps(replies)}")
    done = program("eval", suite, *settings, "--format", "record")
    assert done.code == 0, done.stdout + done.stderr
    document = _document(program.work)
    (record,) = (one for one in document if "turn_facts" in one)
    facts = record["turn_facts"]
    assert isinstance(facts, list)
    assert [[fired["name"] for fired in one["skills_fired"]] for one in facts] == [[], ["boat"]]
    assert [one["usage"]["total_tokens"] for one in facts] == [10, 900]
    scores = {one["check_id"]: one["status"] for one in document if "check_id" in one}
    assert scores["first"] == ("passed" if passed else "failed")
    assert scores["budget"] == "passed"


GATED = """\
name: talks
providers: [mock]
tests:
- id: two
  mode: conversation
  aggregation: min
  threshold: 1
  on_turn_failure: stop
  turns:
  - {input: "Say ALPHA.", assert: [{type: contains, value: It is ALPHA}]}
  - {input: "Say BETA.", assert: [{type: contains, value: It is BETA}]}
  - {input: "Say GAMMA."}
"""


@pytest.mark.slow
def test_a_required_check_ends_the_conversation(program: Program, work: Path) -> None:
    """The later turns are not asked, the case fails with the reason, and the recording is played back as it was."""
    suite = work / "EVAL.yaml"
    suite.write_text(GATED)
    replies = [{"match": "ALPHA", "text": "It is OMEGA.", "tokens": 10}, {"match": ".", "text": "No.", "tokens": 900}]
    settings = ("--engine", "mock", "--set", f"engines.mock.replies={json.dumps(replies)}", "--record", work / "kept")
    done = program("eval", suite, *settings, "--format", "record", "--exit-on-fail")
    assert done.code == 1, done.stdout + done.stderr
    document = _document(work)
    (record,) = (one for one in document if "answers" in one)
    assert record["answers"] == ["It is OMEGA."]
    assert "a required check ended the conversation after turn 1; 2 further turns were not asked" in str(
        record["notes"]
    )
    reasons = [one["reason"] for one in document if "check_id" in one]
    assert reasons[1] == "The conversation did not come to turn 2"
    again = program("eval", suite, "--replay", work / "kept", "--store", "none", "--exit-on-fail")
    assert again.code == 1, again.stdout + again.stderr


WAZA = """\
name: boats
skill: boat
version: "1.0"
config: {trials_per_task: 1, timeout_seconds: 60, parallel: false, executor: mock, model: m}
metrics: [{name: done, weight: 1.0, threshold: 0.5}]
tasks: ["tasks/*.yaml"]
"""
TASK = """\
id: red
name: red
inputs:
  prompt: I want a boat.
  responder: {instructions: "You are Ann, and want a red boat.", max_followups: %d}
expected: {output_contains: [BETA]}
"""


def plays_ann(request: ModelRequest) -> ModelReply:
    """Ann says one thing, and is content then."""
    asked = json.dumps(request.body)
    marker = asked.split("BEGIN USER ")[1][:32]
    done = {"done": True, "why": "It is red."} if "It is BETA" in asked else {"done": False, "says": "BETA, in red."}
    return ModelReply(json.dumps({"marker": marker, **done}), input_tokens=40, output_tokens=2)


def waza(work: Path, most: int = 3) -> Path:
    """Return a suite of one task with a simulated user."""
    skill = work / "boat"
    (skill / "tasks").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: boat\ndescription: Use when a boat is folded.\n---\nFold.\n")
    (skill / "eval.yaml").write_text(WAZA)
    (skill / "tasks/red.yaml").write_text(TASK % most)
    return skill / "eval.yaml"


REPLIES = [{"match": "BETA", "text": "It is BETA.", "tokens": 10}, {"match": "boat", "text": "Which?", "tokens": 10}]


@pytest.mark.slow
def test_a_simulated_user(program: Program, work: Path) -> None:
    """A model answers the agent until it is content; its tokens are told apart, and a replay needs no key."""
    suite = waza(work)
    settings = ("--engine", "mock", "--set", f"engines.mock.replies={json.dumps(REPLIES)}", "--judge", "openai")
    with ModelServer(plays_ann) as server:
        environment = {"OPENAI_API_KEY": "no-key-is-needed-here-0123456789", "OPENAI_BASE_URL": f"{server.url}/v1"}
        done = program(
            "eval",
            suite,
            *settings,
            *("--judge-model", "gpt-5.1", "--record", work / "kept", "--format", "record"),
            env=environment,
        )
    assert done.code == 0, done.stdout + done.stderr
    assert done.verdict == "done: 1 of 1 passed"
    assert len(server.requests) == 2
    assert "104 tokens, judges included; 84 tokens of it by simulated users" in done.stdout + done.stderr
    (record,) = (one for one in _document(program.work) if "answers" in one)
    assert record["answers"] == ["Which?", "It is BETA."]
    assert "ended the conversation after 1 message: It is red." in str(record["notes"])
    again = program("eval", suite, "--replay", work / "kept", "--store", "none")
    assert again.code == 0, again.stdout + again.stderr
    assert again.verdict == "done: 1 of 1 passed"
    assert "simulated users" not in again.stdout + again.stderr


@pytest.mark.slow
def test_a_user_whom_no_model_plays(program: Program, work: Path) -> None:
    """A judge that cannot play one makes the trial an error, and no fail; such cases can be left out."""
    suite = waza(work)
    settings = ("--engine", "mock", "--set", f"engines.mock.replies={json.dumps(REPLIES)}")
    done = program("eval", suite, *settings)
    assert done.code == 3
    assert "the user could not be simulated: the judge failed" in done.stdout + done.stderr
    skipped = program("eval", suite, *settings, "--without-judged")
    assert "1 skipped" in skipped.stdout + skipped.stderr, skipped.stdout + skipped.stderr


def test_an_agent_that_cannot(program: Program, suite: Path) -> None:
    """It is refused before anything runs, with the case."""
    done = program("eval", suite, "--engine", "command", "--set", 'engines.command.argv=["true"]')
    assert done.code == 2
    assert "engine 'command' cannot continue a session, and case 'two' has several turns" in done.stderr
    assert "eval.yaml:4:3" in done.stderr


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(
    ("engine", "model", "variables"),
    [
        ("claude-code", "claude-sonnet-4-5", ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "")),
        ("codex", "gpt-5.1", ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1")),
        ("api", "claude-sonnet-4-5", ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "")),
        ("acp:claude-agent-acp", "claude-sonnet-4-5", ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "")),
        ("acp:codex-acp", "gpt-5.1", ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1")),
    ],
)
def test_real_agents(
    program: Program,
    suite: Path,
    work: Path,
    agent_program: Callable[[str], Path],
    engine: str,
    model: str,
    variables: tuple[str, str, str],
) -> None:
    """The second turn knows the first, tokens are counted once, and the session is played back without the agent."""
    programs = agent_program("claude").parent
    key, address, path = variables
    with ModelServer(script) as server:
        environment = {
            key: "no-key-is-needed-here-0123456789",
            address: f"{server.url}{path}",
            "PATH": f"{programs}:{program.environment['PATH']}",
        }
        done = program.process(
            *("eval", suite, "--engine", engine, "--model", model, "--record", work / "recorded"),
            *("--format", "record", "--output-dir", work / "out"),
            env=environment,
            timeout_s=200,
        )
    assert done.code == 0, done.stdout + done.stderr
    assert "220 tokens" in done.stdout, "each turn took 110"
    (record,) = (work / "out").glob("*.record.json")
    (result,) = (one for one in _objects(json.loads(record.read_text())) if "answers" in one)
    assert result["answers"] == ["It is ALPHA.", "It is BETA after ALPHA."]
    is_unknown = engine == "acp:codex-acp"  # which does not tell what it offers
    assert result["arm_integrity"].startswith("unknown" if is_unknown else "verified")
    again = program("eval", suite, "--replay", work / "recorded", "--store", "none")
    assert again.code == 0, again.stdout + again.stderr
    assert again.verdict == "done: 1 of 1 passed"


def _document(work: Path) -> list[dict[str, object]]:
    """Return every object of the only record of a run."""
    (file,) = (work / "reports").glob("*.record.json")
    return _objects(json.loads(file.read_text()))


def _objects(value: object) -> list[dict[str, object]]:
    """Return every object within a value."""
    if isinstance(value, dict):
        return [value, *(one for inner in value.values() for one in _objects(inner))]
    return [one for inner in value for one in _objects(inner)] if isinstance(value, list) else []
