"""Agent suites through the whole program: real agents, scripted models, a format and a validator in one file."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer, run_shell
from skillgauge_testkit.program import Done, Program

from .conftest import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

EXAMPLE = ROOT / "examples/agent"
TICKETS = {"1": "HRB-17", "2": "HRB-40", "3": "HRB-52"}
"""Of the cases of the example that want a note; the fourth wants none."""
KEY = "canary-of-the-engine-0123456789"
SKILL = "---\nname: greet-well\ndescription: Says hello the proper way\n---\n# Greeting\nWrite hello.txt with ZEBRA.\n"
PLUGIN = '''
"""A format for folders with a SKILL.md, and a validator that shows its environment."""
from pathlib import Path
from pydantic import BaseModel
from skillgauge.api import *


class Greetings:
    def claim(self, path):
        return Claim(reason="SKILL.md") if (path / "SKILL.md").is_file() else None

    def load(self, request):
        root = Path(request.paths[0])
        skill = SkillRef(name=root.name, root=str(root), digest=digest((root / "SKILL.md").read_text()))
        arms = tuple(
            Arm(name=name, kind=ArmKind.AGENT, skills=skills)
            for name, skills in (("with_skill", (skill,)), ("without_skill", ()))
        )
        checks = (Check(id="file", scorer="validator", options={"file": "hello.txt", "text": "ZEBRA"}),)
        suite = Suite(
            id=root.name, format="greetings", root=str(root), targets=(Target(id=root.name, root=str(root)),),
            cases=(Case(id="ann", prompt="Say hello to Ann", checks=checks),), arms=arms,
            comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),),
        )
        return Loaded((suite,))

    def dump(self, suite):
        raise NotImplementedError

    def figures(self, summary):
        return {}


class Validator:
    version = "1"

    def __init__(self, options):
        self._options = options

    async def score(self, context):
        command = "tr '\\\\0' '\\\\n' < /proc/self/environ; tr '\\\\0' '\\\\n' < /proc/$$/environ"
        shown = await (await context.workspace.start(Command(argv=("sh", "-c", command)))).wait()
        grep = await context.workspace.start(Command(argv=("grep", "-q", self._options.text, self._options.file)))
        passed = (await grep.wait()).exit_code == 0
        evidence = {"environment": shown.stdout.decode()}
        return Score.passed(evidence=evidence) if passed else Score.failed("no such text", evidence=evidence)


class ValidatorOptions(BaseModel, extra="forbid"):
    file: str
    text: str


@hookimpl
def skillgauge_formats():
    yield Provider(name="greetings", factory=Greetings, summary="Folders with a SKILL.md.")


@hookimpl
def skillgauge_scorers():
    yield Provider(name="validator", factory=Validator, options=ValidatorOptions, summary="A file holds a text.")
'''


@dataclass(frozen=True)
class Agent:
    """An engine as a user names it."""

    name: str
    program: str
    variable: str
    model: str
    address: str
    """Path that its options want after the address of a server."""
    how: str
    """How a skill fires there."""
    skills: str
    """Where it has its skills, relative to the workspace."""


AGENTS = [
    pytest.param(
        Agent("claude-code", "claude", "ANTHROPIC_API_KEY", "claude-sonnet-4-5", "", "invoked", ".claude/skills"),
        id="claude-code",
    ),
    pytest.param(Agent("codex", "codex", "OPENAI_API_KEY", "gpt-5.5", "/v1", "read", ".agents/skills"), id="codex"),
]
Evaluate = Callable[..., Done]


@pytest.fixture
def evaluate(program: Program, work: Path, agent_program: Callable[[str], Path]) -> Evaluate:
    """Evaluate the skill with an agent that asks a scripted server; the key is in nothing that comes of it."""
    (work / "greet-well").mkdir()
    (work / "greet-well/SKILL.md").write_text(SKILL)
    (work / "greetings.py").write_text(PLUGIN)

    def call(agent: Agent, server: ModelServer, *arguments: str, suite: str | Path = "greet-well") -> Done:
        options = {
            "program": agent_program(agent.program),
            "base_url": f"{server.url}{agent.address}",
            "api_retries": 0,
        }
        settings = [word for key, value in options.items() for word in ("--set", f"engines.{agent.name}.{key}={value}")]
        command = ["eval", suite, "--plugin", "greetings.py", "--engine", agent.name, "--model", agent.model]
        command += ["--json", "--format", "record", "--record", "tapes", "--keep-workspaces", "--sandbox", "local"]
        temporary = work / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = {agent.variable: KEY, "TMPDIR": str(temporary)}
        done = program.process(*command, *settings, *arguments, env=environment, timeout_s=300)
        assert KEY not in done.stdout + done.stderr
        for path in work.rglob("*"):
            if path.is_file() and not path.is_symlink():
                assert KEY.encode() not in path.read_bytes(), path
        return done

    return call


def by_arm(done: Done) -> dict[str, dict[str, Any]]:
    """Results by the name of their arm."""
    return {one["arm"]: one for one in done.document["results"]}


def recorder() -> ModuleType:
    """The script that records the sessions of the example; it says what a model would."""
    spec = importlib.util.spec_from_file_location("record_the_example", EXAMPLE / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.requirement("SE-RUN-002", "SE-ARM-004", "BF-OUT-003", "BF-CRED-005")
def test_the_example_in_both_arms(evaluate: Evaluate, work: Path, agent: Agent) -> None:
    """With the skill all of it passes and without it a quarter, and every figure agrees with what the server knows.

    Files are written in both arms, the skill fires in the one that has it, and the arms are verified.
    """
    with ModelServer(recorder().script(agent.skills)) as server:
        done = evaluate(agent, server, suite=EXAMPLE / "release-notes/evals/evals.json")
    assert done.code == 0, done.stdout + done.stderr
    (path,) = (work / "reports").glob("run-*.record.json")
    results = json.loads(path.read_text())["results"]
    verdicts = Counter((one["arm"], one["verdict"]) for one in results)
    assert verdicts == {("with_skill", "pass"): 4, ("without_skill", "pass"): 1, ("without_skill", "fail"): 3}
    spent = {"input_tokens": 0, "output_tokens": 0}
    for one in results:
        execution, trajectory = one["execution"], one["execution"]["trajectory"]
        ticket, is_skilled = TICKETS.get(one["case_id"]), one["arm"] == "with_skill"
        assert execution["arm_integrity"] == "verified"
        fired = [(skill["name"], skill["how"]) for skill in trajectory.get("skills_fired") or ()]
        assert fired == ([("release-notes", agent.how)] if is_skilled and ticket else [])
        changed = [(change["path"], change["change"]) for change in execution.get("files", ())]
        written = f"changes/{ticket}.note" if is_skilled else "CHANGELOG.md"
        assert changed == ([(written, "created")] if ticket else [])
        assert (trajectory["model"], execution["sandbox"]) == (agent.model, "local/none")
        assert execution["duration_s"] > 0
        for kind in spent:
            spent[kind] += execution["usage"][kind]
    tokens = [session.tokens for session in server.sessions.values()]
    assert spent == {
        "input_tokens": sum(one.input for one in tokens),
        "output_tokens": sum(one.output for one in tokens),
    }
    assert len(list((work / "tapes").rglob("*.cassette.json"))) == 8


def where(request: ModelRequest) -> ModelReply:
    """Writes down where it is, and says so at the end."""
    if not request.turn:
        return ModelReply(tools=[run_shell("env > env.txt; pwd > where.txt; cat where.txt")])
    (folder,) = set(re.findall(r"/\S+/work\b", request.results[-1]))
    return ModelReply(f"It is in {folder}/where.txt, for [workspace] and [skillgauge:workspace].")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_replay_is_graded_as_the_session_was(evaluate: Evaluate, work: Path, program: Program, agent: Agent) -> None:
    """Checks that name absolute paths pass live and replayed, though the folder is another one (E-A5).

    The id of the case is in nothing that the agent and its model see (E-C4).
    """
    checks = {
        "shell": 'test "$(cat where.txt)" = "$(pwd)" && ! grep the-answer env.txt',
        "says": "{workspace}/where.txt, for [workspace] and [skillgauge:workspace].",
    }
    suite = {"skill": "greet-well", "cases": [{"id": "the-answer", "prompt": "Where are you?", **checks}]}
    (work / "where.agents.json").write_text(json.dumps(suite))
    plugin = Path(__file__).with_name("agent_suites.py")
    with ModelServer(where) as server:
        live = evaluate(agent, server, "--plugin", str(plugin), suite="where.agents.json")
    assert server.requests
    assert not [request for request in server.requests if "the-answer" in json.dumps(request.body)]
    command = ("eval", "where.agents.json", "--plugin", plugin, "--json", "--replay", "tapes", "--store", "none")
    replayed = program(*command)
    for done in (live, replayed):
        assert done.code == 0, done.stdout + done.stderr
        verdicts = {name: one["verdict"] for name, one in by_arm(done).items()}
        assert verdicts == {"with_skill": "pass", "without_skill": "pass"}


def silent(_request: ModelRequest) -> ModelReply:
    """Takes the question, and that is all."""
    return ModelReply("late", delay_s=60)


def silent_later(request: ModelRequest) -> ModelReply:
    """Answers once, and then never again."""
    return ModelReply("late", delay_s=60) if request.turn else ModelReply(tools=[run_shell("echo begun >begun.txt")])


def refusing_at_the_end(request: ModelRequest) -> ModelReply:
    """Does some work before it refuses."""
    return (
        ModelReply(fault=ModelFault.REFUSED) if request.turn else ModelReply(tools=[run_shell("echo ZEBRA >hello.txt")])
    )


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("script", [silent, silent_later], ids=["stalled", "hanging"])
def test_a_server_that_does_not_answer(
    evaluate: Evaluate, work: Path, agent: Agent, script: Callable[[ModelRequest], ModelReply]
) -> None:
    """It makes the run invalid, fails no skill, and leaves no recording (E-A3)."""
    with ModelServer(script) as server:
        done = evaluate(agent, server, "--timeout", "30s" if script is silent_later else "5s", "--retries", "0")
    assert server.requests
    require_errors(done, "network")
    assert not list(work.rglob("*.cassette.json"))


def require_errors(done: Done, kind: str) -> None:
    """The run is invalid, and both arms are errors of this class that blame no skill."""
    assert done.code == 3, done.stdout + done.stderr
    results = by_arm(done)
    assert set(results) == {"with_skill", "without_skill"}
    for one in results.values():
        failure = one["execution"]["failure"]
        assert (one["verdict"], failure["failure_class"], failure["blame"]) == ("error", kind, "infrastructure")


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (ModelReply(fault=ModelFault.UNAUTHORIZED), "auth"),
        (ModelReply(fault=ModelFault.NOT_FOUND), "model_not_found"),
        (ModelReply(fault=ModelFault.TOO_LONG), "context_too_long"),
        (ModelReply(fault=ModelFault.REFUSED), "refused"),
        (ModelReply(fault=ModelFault.DROPPED), "network"),
    ],
    ids=lambda value: value.fault.value if isinstance(value, ModelReply) else None,
)
def test_faults_are_errors(evaluate: Evaluate, agent: Agent, reply: ModelReply, kind: str) -> None:
    """What is wrong with the service makes the run invalid and blames no skill."""
    with ModelServer(lambda _request: reply) as server:
        done = evaluate(agent, server, "--retries", "0")
    require_errors(done, kind)


NO_CREDIT = {
    "claude-code": ModelReply(
        fault=ModelFault.BAD_REQUEST, message="Your credit balance is too low to access the Anthropic API."
    ),
    "codex": ModelReply(
        fault=ModelFault.RATE_LIMITED,
        document={
            "error": {
                "message": "You exceeded your current quota, please check your plan and billing details.",
                "type": "insufficient_quota",
                "code": "insufficient_quota",
            }
        },
    ),
}
"""What each vendor answers when nothing is left to spend."""


@pytest.mark.parametrize("agent", AGENTS)
def test_an_account_without_credit(evaluate: Evaluate, agent: Agent) -> None:
    """It is no crash, and no limit that passes (E-A8)."""
    with ModelServer(lambda _request: NO_CREDIT[agent.name]) as server:
        done = evaluate(agent, server, "--retries", "0")
    require_errors(done, "budget")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_refusal_after_work_is_none_of_the_skill(evaluate: Evaluate, agent: Agent) -> None:
    """The checks would pass on what was done before it (E-A7)."""
    with ModelServer(refusing_at_the_end) as server:
        done = evaluate(agent, server, "--retries", "0")
    require_errors(done, "refused")


@pytest.mark.requirement("BF-CRED-006")
def test_missing_key_is_told_before_anything_starts(program: Program, work: Path, evaluate: Evaluate) -> None:
    """Exit 2 with what to set, and no trial has run."""
    assert evaluate
    done = program.process("eval", "greet-well", "--plugin", "greetings.py", "--engine", "codex", "--model", "gpt-5.5")
    assert done.code == 2
    assert "OPENAI_API_KEY" in done.stderr
    assert not (work / "reports").exists()
