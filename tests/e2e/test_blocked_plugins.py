"""A blocked plugin stays out, whichever of its names is used; blocking it is like not having it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge.plugins.index import IndexEntry
from skillgauge.plugins.installed import read_index
from skillgauge.plugins.kinds import KINDS
from skillgauge.plugins.registry import Registry
from skillgauge_testkit.program import Program


@pytest.fixture
def skill(work: Path) -> Path:
    """A skill with one case for an agent."""
    folder = work / "tables"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tables\ndescription: Tables.\n---\n")
    case = {"id": 1, "prompt": "Greet.", "expectations": ["It greets."]}
    (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "tables", "evals": [case]}))
    return folder


@pytest.mark.e2e
@pytest.mark.parametrize("engine", ["api", "llm"])
@pytest.mark.parametrize("blocked", ["api", "llm", "skillgauge-engine-api"])
def test_a_blocked_engine_is_refused_under_each_name(
    program: Program, skill: Path, work: Path, engine: str, blocked: str
) -> None:
    """The engine `api` is also called `llm`: either name blocks both, by the option and by the configuration."""
    command = ["eval", skill, "--engine", engine, "--dry-run", "--json"]
    own = work / "own.yaml"
    own.write_text(f"plugins: {{block: [{blocked}]}}\n")
    for how in (["--no-plugin", blocked], ["-c", own]):
        done = program(*command, *how)
        assert done.code == 2
        (problem,) = [one for one in done.document["problems"] if one["code"].startswith("plugin.")]
        assert problem["code"] == "plugin.blocked"
        assert f"engine '{engine}' of skillgauge-engine-api" in problem["message"]


@pytest.mark.e2e
def test_messages_do_not_offer_what_is_blocked(program: Program, skill: Path) -> None:
    """Without an engine that is named, the message lists those that may be used."""
    every, fewer = (program("eval", skill, "--dry-run", *options).stderr for options in ((), ("--no-plugin", "llm")))
    assert "api" in every.partition("several are installed: ")[2].splitlines()[0]
    assert "several are installed: claude-code, codex" in fewer
    assert "api" not in fewer.partition("several are installed: ")[2].splitlines()[0]


@pytest.mark.slow
@pytest.mark.e2e
def test_the_list_marks_what_is_blocked(program: Program) -> None:
    """`plugins list` says why each entry of a blocked plugin is not used; `plugins doctor` leaves it alone."""
    listed = program("plugins", "list", "--json", "--no-plugin", "api").document["plugins"]
    assert {one["name"] for one in listed if one["problem"] == "left out by --no-plugin"} == {"api", "llm"}
    examined = program("plugins", "doctor", "engines/mock", "engines/llm", "--no-plugin", "api", "--json")
    assert [one["name"] for one in examined.document["plugins"]] == ["mock"]
    refused = program("plugins", "doctor", "engines/llm", "--no-plugin", "api")
    assert refused.code == 2
    assert "engines/llm of skillgauge-engine-api" in refused.stderr


@pytest.mark.e2e
def test_agents_of_one_distribution_are_blocked_apart(program: Program) -> None:
    """Blocking one agent or reporter leaves its neighbours in the same distribution."""
    listed = program("plugins", "list", "--json", "--no-plugin", "gemini", "--no-plugin", "benchflow-jobs").document
    left_out = {(one["kind"], one["name"]) for one in listed["plugins"] if one["problem"] == "left out by --no-plugin"}
    assert left_out == {("engines", "gemini"), ("judges", "gemini"), ("reporters", "benchflow-jobs")}


def test_entries_of_one_place_are_aliases() -> None:
    """Each published entry that shares its place with others leads to the same plugin as they do."""
    index, registry = read_index(), Registry(read_index())
    places: dict[tuple[str, str], list[IndexEntry]] = {}
    for entry in index.entries():
        if entry.kind in KINDS:
            places.setdefault((entry.kind, entry.place), []).append(entry)
    shared = [entries for entries in places.values() if len(entries) > 1]
    assert {"api", "custom", "exact_match", "llm_judge", "md", "schema"} <= {e.name for es in shared for e in es}
    for entries in shared:
        names = {registry.resolve(entry.kind, entry.full_name).name for entry in entries}
        assert len(names) == 1, entries


ENGINE = """
from skillgauge.api import Execution, Frozen, Identity, Provider, Traits, hookimpl

class Options(Frozen):
    instructions: str | None = None
    price: int = 1

class Acme:
    def __init__(self, options):
        self.options = options

    async def check(self):
        return ()

    def identity(self, model):
        return Identity(name="acme-eng", version="1", settings={"price": self.options.price}, model=model)

    def routes(self, model):
        return ()

    async def run(self, request, workspace, emit):
        return Execution(text="yes")

@hookimpl
def skillgauge_engines():
    traits = Traits(instructions="instructions", remote=REMOTE)
    yield Provider("acme-eng", Acme, "ACME.", options=Options, traits=traits)
"""


@pytest.fixture
def judged(work: Path, skill: Path) -> list[str]:
    """A command that has the skill judged by an engine of one file."""
    engine = work / "eng.py"
    engine.write_text(ENGINE.replace("REMOTE", "False"))
    judge = ["--judge", "agent", "--set", "judges.agent.engine=acme-eng"]
    return ["eval", str(skill), "--engine", "mock", "--plugin", str(engine), *judge, "--dry-run", "--json"]


@pytest.mark.e2e
def test_a_judge_asks_an_engine_of_one_file(program: Program, judged: list[str]) -> None:
    """The engine takes part in the run, so the judge finds it, with its options."""
    done = program(*judged, "--set", "engines.acme-eng.price=7")
    assert done.code == 0, done.stderr
    (judge,) = done.document["plan"]["judges"]
    assert (judge["settings"]["engine"], judge["settings"]["options"]) == ("acme-eng", {"price": 7})


@pytest.mark.e2e
def test_a_judge_cannot_ask_a_blocked_engine(program: Program, judged: list[str]) -> None:
    """It is as if the engine were not there."""
    done = program(*judged, "--no-plugin", "acme-eng")
    (problem,) = [one for one in done.document["problems"] if one["code"] == "judge.engine"]
    assert "judge 'agent' cannot ask 'acme-eng'" in problem["message"]
    assert problem["hint"].startswith("Name one of: claude-code, codex")


@pytest.mark.e2e
def test_an_untrusted_run_starts_no_judge_outside_of_the_sandbox(
    program: Program, work: Path, judged: list[str]
) -> None:
    """A judge that starts an agent's program is refused; one whose engine starts none is not."""

    def codes() -> set[str]:
        return {problem["code"] for problem in program(*judged, "--untrusted").document["problems"]}

    assert "judge.unconfined" in codes()
    (work / "eng.py").write_text(ENGINE.replace("REMOTE", "True"))
    assert "judge.unconfined" not in codes()


@pytest.mark.e2e
def test_a_suite_without_its_engine(program: Program, work: Path) -> None:
    """A skillevaluation suite names the engine `api`; where that is blocked, the user is asked to choose another."""
    folder = work / "greeter"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: greeter\ndescription: Greets.\n---\n")
    (folder / "eval.yaml").write_text("- name: one\n  prompt: Greet.\n  expectations: [It greets.]\n")
    done = program("eval", folder, "--no-plugin", "api", "--dry-run")
    assert "blocked" not in done.stderr
    assert "several are installed: claude-code, codex" in done.stderr


@pytest.mark.e2e
def test_a_file_whose_format_is_blocked(program: Program, work: Path) -> None:
    """It is told which format reads it, as where that format is not installed."""
    file = work / "evals" / "evals.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"cases": [{"id": "one", "question": "Greet?"}]}))
    done = program("validate", file, "--no-plugin", "benchflow")
    assert done.code == 2
    assert "skillgauge-format-benchflow" in done.stderr
