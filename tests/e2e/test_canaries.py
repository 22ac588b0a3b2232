"""Secrets stay where they belong: in no file, and in no process that has no business with them."""

from __future__ import annotations

import asyncio
import gzip
import json
import secrets
import sqlite3
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from skillgauge.plugins.installed import read_index
from skillgauge.plugins.kinds import SANDBOXES
from skillgauge.plugins.registry import Registry
from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer, run_shell, write_file
from skillgauge_testkit.program import Done, Program

from .canary_watch import GATE, CanaryWatch, files_with
from .judge_replies import claims_reply

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

SKILL = "---\nname: greet-well\ndescription: Says hello the proper way\n---\n# Greeting\nWrite hello.txt with ZEBRA.\n"
ENGINE, JUDGE, PASSED, BYSTANDER = "engine", "judge", "passed", "bystander"
REPORTERS = ("agent-skills", "csv", "html", "markdown", "record")


@dataclass(frozen=True)
class Agent:
    """An engine with the judge of another vendor, so that their keys are in variables of different names."""

    name: str
    program: str
    variable: str
    model: str
    judge: str
    judge_variable: str
    programs: frozenset[str]
    """What runs as the agent."""
    with_key: frozenset[str]
    """Which of that needs the key in its environment where no relay adds it."""
    left_at_home: str
    """Something that it leaves in its home."""
    address: str = ""
    """Path that its options want after the address of a server."""
    judge_address: str = ""
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Further options by the sandbox around it."""


CLAUDE = Agent(
    name="claude-code",
    program="claude",
    variable="ANTHROPIC_API_KEY",
    model="claude-sonnet-4-5",
    judge="openai",
    judge_variable="OPENAI_API_KEY",
    judge_address="/v1",
    programs=frozenset({"claude.exe"}),
    with_key=frozenset(),
    left_at_home=".claude.json",
)
CODEX = Agent(
    name="codex",
    program="codex",
    variable="OPENAI_API_KEY",
    model="gpt-5.5",
    address="/v1",
    judge="anthropic",
    judge_variable="ANTHROPIC_API_KEY",
    programs=frozenset({"node", "codex"}),
    with_key=frozenset({"node", "codex"}),
    left_at_home=".codex",
    settings={"bubblewrap": {"sandbox": "danger-full-access"}},  # as root its own cannot be inside of another
)
AGENTS = [pytest.param(one, id=one.name) for one in (CLAUDE, CODEX)]


@dataclass(frozen=True)
class Ran:
    """A run that is over."""

    done: Done
    canaries: Mapping[str, str]
    watch: CanaryWatch
    asked: list[ModelRequest]
    """By the agent."""
    judged: list[ModelRequest]
    root: Path
    """With everything that the run could write to."""

    def leaks(self, *names: str) -> list[tuple[str, str]]:
        """Where canaries of these names are that should be in no file: all if none is named."""
        wanted = {name: self.canaries[name] for name in names or self.canaries}
        output = self.done.stdout + self.done.stderr
        return files_with(wanted, self.root) + [(name, "output") for name in wanted if wanted[name] in output]

    def cassette(self) -> dict[str, Any]:
        """The one recording."""
        (path,) = (self.root / "work/tapes").rglob("*.cassette.json")
        document: dict[str, Any] = json.loads(path.read_text())
        return document

    @property
    def result(self) -> dict[str, Any]:
        """The one result, as it is printed."""
        (result,) = self.done.document["results"]
        assert isinstance(result, dict)
        return result


def usable_or_skip(sandbox: str) -> None:
    """Skip where a sandbox does not work."""
    report = asyncio.run(Registry(read_index()).make(SANDBOXES, sandbox).check())
    if report.problems:
        pytest.skip(f"{report.problems[0].message} (make sandbox)")


Script = Callable[[ModelRequest, Mapping[str, str]], ModelReply]
Play = Callable[..., Ran]


def approve(request: ModelRequest, _canaries: Mapping[str, str]) -> ModelReply:
    """A judge's good opinion."""
    return ModelReply(claims_reply(request, True, absent="anything against it"))


@pytest.fixture
def play(program: Program, work: Path, tmp_path: Path, agent_program: Callable[[str], Path]) -> Play:
    """Evaluate a suite of one case with a judged assertion and a validator, and look at processes meanwhile."""

    def call(
        agent: Agent,
        sandbox: str,
        script: Script,
        *,
        judge: Script = approve,
        validator: str = "test -f hello.txt",
        login: str | None = None,
    ) -> Ran:
        usable_or_skip(sandbox)
        tag = secrets.token_hex(8)
        canaries = {name: f"sk-{tag}-{name}-{secrets.token_hex(16)}" for name in (ENGINE, JUDGE, PASSED, BYSTANDER)}
        canaries["tag"] = f"sk-{tag}"
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        (work / "greet-well/evals").mkdir(parents=True)
        (work / "greet-well/SKILL.md").write_text(SKILL)
        assertions = ["It greets.", {"text": "The file is there", "type": "command", "value": validator}]
        evals = {"evals": [{"id": "ann", "prompt": "Say hello to Ann", "assertions": assertions}]}
        (work / "greet-well/evals/evals.json").write_text(json.dumps(evals))
        watch = CanaryWatch({name: canaries[name] for name in canaries if name != "tag"}, temporary)

        def seen(moment: str, answer: Script) -> Callable[[ModelRequest], ModelReply]:
            def reply(request: ModelRequest) -> ModelReply:
                watch.look(moment)
                return answer(request, canaries)

            return reply

        with watch, ModelServer(seen("model", script)) as api, ModelServer(seen("judge", judge)) as bench:
            passed = ["PASSED_TOKEN", *(["ANTHROPIC_BASE_URL"] if login else [])]
            own = {"program": agent_program(agent.program), "api_retries": 0, "pass_env": json.dumps(passed)}
            own |= agent.settings.get(sandbox, {}) | ({} if login else {"base_url": f"{api.url}{agent.address}"})
            settings = [f"engines.{agent.name}.{key}={value}" for key, value in own.items()]
            settings.append(f"judges.{agent.judge}.base_url={bench.url}{agent.judge_address}")
            environment = {
                agent.variable: canaries[ENGINE],
                agent.judge_variable: canaries[JUDGE],
                "PASSED_TOKEN": canaries[PASSED],
                "BYSTANDER_TOKEN": canaries[BYSTANDER],
                "TMPDIR": str(temporary),
            }
            if login:
                place = tmp_path / "home" / login
                place.parent.mkdir(parents=True)
                tokens = {"accessToken": canaries[ENGINE], "expiresAt": 2**45, "scopes": ["user:inference"]}
                place.write_text(json.dumps({"claudeAiOauth": tokens}))
                environment[agent.variable], environment["ANTHROPIC_BASE_URL"] = "", api.url
            done = program.process(
                *("eval", "greet-well", "--engine", agent.name, "--model", agent.model, "--no-baseline", "-v"),
                *("--judge", agent.judge, "--judge-model", "judge-1", "--json", "--format", *REPORTERS),
                *("--record", "tapes", "--keep-workspaces", "--sandbox", sandbox),
                *(word for setting in settings for word in ("--set", setting)),
                env=environment,
                timeout_s=300,
            )
        del canaries["tag"]
        return Ran(done, canaries, watch, api.requests, bench.requests, tmp_path)

    return call


def acting(command: str) -> Script:
    """Run a command, write the file, and say so."""

    def script(request: ModelRequest, canaries: Mapping[str, str]) -> ModelReply:
        steps = (
            ModelReply("I look.", tools=[run_shell(command.replace("TAG", canaries["tag"]))]),
            ModelReply("I write.", tools=[write_file("hello.txt", "ZEBRA\n")]),
        )
        return steps[request.turn] if request.turn < len(steps) else ModelReply("Done: hello.")

    return script


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("sandbox", ["local", "bubblewrap"])
@pytest.mark.requirement("BF-CRED-005")
def test_a_secret_is_only_where_it_is_needed(play: Play, agent: Agent, sandbox: str) -> None:
    """Seen while the model is asked, while the agent's shell and the validator wait, and while the judge is asked.

    The engine's key is in the agent program at most, and in none behind a relay; the judge's in none but skillgauge;
    what the user passes on is in the agent only; a validator has nothing. No file and no output has any of them.
    """
    show = "(env; tr '\\0' '\\n' < /proc/self/environ; tr '\\0' '\\n' < /proc/$PPID/environ) > shown-{0}.txt 2>&1"
    ran = play(
        agent,
        sandbox,
        acting(f"{show.format('agent')}; {GATE.format(name='agent')}"),
        validator=f"env > env.txt; cat env.txt; {GATE.format(name='validator')}; grep -q ZEBRA hello.txt",
    )
    assert (ran.done.code, ran.result["verdict"]) == (0, "pass"), ran.done.stdout + ran.done.stderr
    assert [request.key for request in ran.asked] == [ran.canaries[ENGINE]] * 3
    assert {request.key for request in ran.judged} == {ran.canaries[JUDGE]}
    watch = ran.watch
    assert set(watch.moments) == {"model", "agent", "judge", "validator"}
    for moment in ("agent", "validator"):
        assert "cat" in {one.program for one in watch.at(moment) if f"gate-{moment}" in one.command}
    (skillgauge,) = watch.holders(BYSTANDER)
    own = [one for moment in watch.moments for one in watch.at(moment) if BYSTANDER in one.in_environment]
    assert {one.in_environment for one in own} == {frozenset(ran.canaries)}
    assert len({one.pid for one in own}) == 1
    holders = [one for moment in watch.moments for one in watch.at(moment) if one.in_environment and one not in own]
    assert not [one for one in holders if one.in_environment & {JUDGE, BYSTANDER}]
    with_key = {one.program for one in holders if ENGINE in one.in_environment}
    assert with_key == (agent.with_key if sandbox == "local" else set())
    assert all(" exec --json" in one.command for one in holders if ENGINE in one.in_environment)
    assert watch.holders(PASSED, "agent") >= agent.programs | {skillgauge}
    assert watch.holders(PASSED, "judge", "validator") == {skillgauge}
    assert not [one for moment in watch.moments for one in watch.at(moment) if one.in_command]
    assert ran.leaks() == []
    kept = {path.name for path in (ran.root / "temporary").rglob("*")}
    assert {"hello.txt", "shown-agent.txt", "env.txt", agent.left_at_home} <= kept
    assert ran.cassette()["raw"]
    assert len(list((ran.root / "work/reports").rglob("*"))) > len(REPORTERS)
    assert (ran.root / "work/skillgauge.db").stat().st_size > 10_000


LOOT = (
    "for at in . $HOME $TMPDIR; do for one in /proc/[0-9]*/environ; do "
    "tr '\\0' '\\n' < $one 2>/dev/null | grep -a TAG >> $at/loot.txt; done; done; cat loot.txt; "
    "tar -cf loot.tar loot.txt; cp loot.txt $(head -1 loot.txt); ln -s $(head -1 loot.txt) $TMPDIR/link"
)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("sandbox", ["local", "bubblewrap"])
def test_what_an_agent_finds_is_in_no_file(play: Play, agent: Agent, sandbox: str) -> None:
    """An agent that looks into every process it can, writes what it finds everywhere, and says it; a validator too.

    Without a sandbox it does find them. They go to the agent's own service and no further: not to the judge, and into
    no file that stays. Of what no plugin names nobody can know that it is a secret.
    """
    ran = play(agent, sandbox, acting(LOOT), validator="cat loot.txt; env; cat loot.txt >&2; exit 1")
    assert (ran.done.code, ran.result["verdict"]) == (0, "fail"), ran.done.stdout + ran.done.stderr
    named = (ENGINE, JUDGE, PASSED)
    assert ran.leaks(*named) == []
    for name in named:
        assert not [request for request in ran.judged if ran.canaries[name] in request.text]
    (loot,) = (ran.root / "temporary").glob("skillgauge-*/w*/work/loot.txt")
    variables = {line.partition("=")[0] for line in loot.read_text().splitlines()}
    assert "PASSED_TOKEN" in variables
    if sandbox == "bubblewrap":
        assert variables == {"PASSED_TOKEN"}
        assert ran.leaks() == []
    elif agent is CLAUDE:
        assert variables >= {agent.variable, agent.judge_variable, "PASSED_TOKEN"}
        assert f"[redacted:{agent.judge_variable}]" in json.dumps(ran.cassette())


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("who", [ENGINE, JUDGE])
def test_a_service_that_repeats_the_key(play: Play, agent: Agent, who: str) -> None:
    """A refusal with the key in its message, and answers with the other's key: in no file and in no output."""

    def refuse(_request: ModelRequest, canaries: Mapping[str, str]) -> ModelReply:
        told = f"the key {canaries[who]} is not valid, nor is {quote(canaries[who])}"
        return ModelReply(fault=ModelFault.UNAUTHORIZED, message=told, headers={"x-key": canaries[who]})

    def chatter(request: ModelRequest, canaries: Mapping[str, str]) -> ModelReply:
        said = f"You sent {canaries[ENGINE]} and {b64encode(canaries[JUDGE].encode()).decode()}, {canaries[PASSED]}."
        return ModelReply(said, tools=[] if request.turn else [write_file("hello.txt", said)])

    scripts = (refuse, approve) if who == ENGINE else (chatter, refuse)
    ran = play(agent, "local", scripts[0], judge=scripts[1])
    assert (ran.done.code, ran.result["verdict"]) == (3, "error"), ran.done.stdout + ran.done.stderr
    assert "[redacted:" in ran.done.stdout
    assert ran.leaks() == []
    assert ran.asked
    assert bool(ran.judged) == (who == JUDGE)
    assert not [request for request in ran.judged for value in ran.canaries.values() if value in request.text]


def test_a_login_is_gone_before_anybody_looks(play: Play) -> None:
    """The copy of the credential file is there for the agent alone: not for validators, nor in what is kept.

    What the agent copied of it into its workspace is recorded without the token.
    """
    name = ".claude/.credentials.json"
    validator = (
        "cp -r ../home/.claude seen; ls -a seen; cat stolen.json; test -d seen && test ! -e seen/.credentials.json"
    )
    steal = acting("cp $CLAUDE_CONFIG_DIR/.credentials.json stolen.json; ls -l $CLAUDE_CONFIG_DIR")
    ran = play(CLAUDE, "local", steal, validator=validator, login=name)
    assert (ran.done.code, ran.result["verdict"]) == (0, "pass"), ran.done.stdout + ran.done.stderr
    assert {request.key for request in ran.asked} == {ran.canaries[ENGINE]}
    users = ran.root / "home" / name
    assert ran.canaries[ENGINE] in users.read_text()
    assert [where for where in ran.leaks() if where[1] != str(users)] == []
    assert [path for path in ran.root.rglob(".credentials.json") if path != users] == []
    files = {one["path"]: one.get("text") for one in ran.cassette()["files"]}
    assert set(files) == {"hello.txt", "stolen.json"}
    assert "[redacted:.credentials.json-0]" in (files["stolen.json"] or "")


def test_canaries_are_found_wherever_they_are(tmp_path: Path) -> None:
    """The search of these tests looks into compressed files, into databases and at names; so it can fail."""
    canaries = {"one": f"sk-{secrets.token_hex(24)}"}
    text = f"it is {canaries['one']} indeed".encode()
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "packed").write_bytes(b'{"raw": "' + b64encode(gzip.compress(text)) + b'"}')
    (tmp_path / "encoded").write_bytes(b64encode(text))
    (tmp_path / canaries["one"]).touch()
    (tmp_path / "link").symlink_to(canaries["one"])
    with closing(sqlite3.connect(tmp_path / "db")) as db:
        db.execute("CREATE TABLE t (body)")
        db.execute("INSERT INTO t VALUES (?)", (zlib.compress(text),))
        db.commit()
    (tmp_path / "clean").write_text("sk-")
    found = files_with(canaries, tmp_path)
    names = [Path(path).name for _, path in found]
    assert sorted(names) == sorted([canaries["one"], "db", "encoded", "link", "packed", "plain"])
