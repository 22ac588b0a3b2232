"""`map` as a user runs it: plans, budgets, recordings, what is refused, and what a stopped map keeps."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted import write_skill

from skillgauge_testkit.program import PROGRAM, Done, Program

pytestmark = pytest.mark.e2e

AGENT = Path(__file__).with_name("choosing_agent.py")
SESSIONS = 18
"""Of the first part: three skills, two queries each, three times."""

Map = Callable[..., Done]


@pytest.fixture
def shelf(work: Path) -> Path:
    """Three skills; the description of `tables` promises what `csv` does."""
    queries = {"csv": "comma separated values", "tables": "spread sheet rows", "mail": "letters from people"}
    for name, words in queries.items():
        promised = f"{words} and comma separated values" if name == "tables" else words
        write_skill(work / "skills", name, f"Use for {promised}.", [f"{words} now", f"my {words}"])
    return work / "skills"


@pytest.fixture
def make(program: Program, shelf: Path) -> Map:
    """Make a map with an agent that never errs."""

    def call(*words: str | Path, engine: str = "choosing", **more: Any) -> Done:
        agent = ["--plugin", AGENT, "--sandbox", "local", "--set", f"engines.{engine}.noise=0"]
        agent += [] if "--replay" in words else ["--engine", engine]
        return program("map", *(words or ["skills"]), *agent, **more)

    return call


def pair(document: dict[str, Any]) -> dict[str, Any]:
    """Return the row of `tables` at the queries of `csv`."""
    (row,) = [one for one in document["pairs"] if (one["skill"], one["query_of"]) == ("tables", "csv")]
    return dict(row)


@pytest.mark.slow
def test_the_map_of_three_skills(make: Map, work: Path) -> None:
    """The table, the page and the document name the skill that shadows, the one to sharpen, and the counts."""
    done = make("skills", "--json")
    assert done.code == 0, done.stderr
    document = done.document
    assert document["sessions"] == {"screening": 18, "leave_one_out": 12, "skills": 3, "queries": 6, "runs": 3}
    found = pair(document)
    assert (found["relation"], found["instead"], found["sessions"], found["queries"]) == ("shadows", 6, 6, ["1", "2"])
    left_out = found["left_out"]
    counts = ("fired_with", "sessions_with", "fired_without", "sessions_without", "queries", "difference")
    assert [left_out[name] for name in counts] == [0, 6, 6, 6, 2, 1.0]
    assert left_out["chance"] == pytest.approx(2 * (1 / 20) ** 2)
    assert left_out["input_tokens"] > 0
    rows = {row["name"]: row for row in document["skills"]}
    assert (rows["csv"]["action"], rows["csv"]["partners"]) == ("sharpen the description", ["tables"])
    assert rows["csv"]["own"]["fired"] == 0
    assert rows["tables"]["own"]["fired"] == rows["tables"]["own"]["sessions"] == 6
    assert document["matrix"][0] == {"query_of": "csv", "sessions": 6, "fired": {"tables": 6}}
    asked = {"query_of": "csv", "id": "1", "prompt": "comma separated values now"}
    assert document["queries"][0] == asked
    page = (work / "reports/map-result.html").read_text()
    assert asked["prompt"] in page
    assert "tables shadows csv" in page
    assert "<script" not in page
    assert json.loads((work / "reports/map-result.json").read_text()) == document
    human = make("skills", "--fresh")
    assert human.verdict.startswith("3 skills: tables shadows csv; ")
    assert "csv     sharpen: tables" in human.stdout
    line = "tables shadows csv: tables fired instead of csv in 6 of 6 sessions (1, 2); with tables left out csv fired"
    assert line in " ".join(human.stdout.split())


def test_a_dry_run_names_sessions_and_alike_skills(make: Map, work: Path) -> None:
    """The sessions of both parts and the pairs that descriptions make suspicious are told; nothing is created."""
    done = make("skills", "--dry-run", "--json")
    assert done.code == 0, done.stderr
    document = done.document
    assert (document["sessions"]["screening"], document["sessions"]["leave_one_out"]) == (18, 54)
    assert [(one["first"], one["second"]) for one in document["alike"]] == [("tables", "csv")]
    assert document["paid"] is True
    assert "18 sessions, then at most 54 more" in document["verdict"]
    assert not (work / "reports").exists()
    none = make("skills", "--dry-run", "--leave-out", "0")
    assert none.verdict.endswith("6 queries: 18 sessions")


@pytest.mark.slow
def test_a_map_is_recorded_and_replayed(make: Map) -> None:
    """Both parts play back from one folder without an agent, and nothing differs; a new description is a miss."""
    recorded = make("skills", "--record", "kept", "--json")
    replayed = make("skills", "--replay", "kept", "--json", "--store", "none")
    assert replayed.code == 0, replayed.stderr
    for key in ("skills", "pairs", "matrix", "sessions"):
        assert replayed.document[key] == recorded.document[key]
    assert replayed.document["cost_usd"] == 0


@pytest.mark.slow
def test_a_budget_bounds_both_parts(make: Map) -> None:
    """A limit that the first part reaches, and one that the second reaches, end with 4 and the map as far as it is."""
    first = make("skills", "--max-cost", "0.1", "--json", "--store", "none")
    assert (first.code, first.document["state"], first.document["tested"]) == (4, "stopped", 0)
    assert "stopped by a budget in the first part" in first.document["verdict"]
    exact = make("skills", "--max-cost", "0.18", "--json", "--store", "none")
    assert exact.code == 4
    assert "stopped by a budget in the second part" in exact.document["verdict"]
    assert exact.document["cost_usd"] == pytest.approx(0.18)
    second = make("skills", "--max-cost", "0.25", "--json", "--store", "none")
    assert (second.code, second.document["tested"]) == (4, 1)
    assert second.document["cost_usd"] <= 0.25


@pytest.mark.slow
def test_a_stopped_map_goes_on_where_it_was(make: Map) -> None:
    """With more money the same command asks only what is left, in either part; a finished map is made anew."""
    make("skills", "--max-cost", "0.1")
    stopped = make("skills", "--max-cost", "0.25", "--json")
    assert (stopped.code, stopped.document["state"]) == (4, "stopped")
    ended = make("skills", "--json")
    assert ended.code == 0, ended.stderr
    assert ended.document["runs"] == stopped.document["runs"]
    assert ended.document["notices"] == [
        f"went on with the map that run {stopped.document['runs'][0]} began (--fresh starts a new one)"
    ]
    assert ended.document["cost_usd"] == pytest.approx(0.3)
    assert pair(ended.document)["relation"] == "shadows"
    again = make("skills", "--json")
    assert not set(again.document["runs"]) & set(ended.document["runs"])


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(program: Program, make: Map, shelf: Path, work: Path) -> None:
    """An interrupted map ends with 130, shows what it has, and the same command asks only what is left."""
    agent = ["--plugin", str(AGENT), "--engine", "choosing", "--sandbox", "local"]
    settings = ["--set", "engines.choosing.noise=0", "--set", "engines.choosing.waits_for=letters from people now"]
    command = [PROGRAM, "map", "skills", *agent, *settings, "--concurrency", "1", "--json"]
    process = subprocess.Popen(
        command, cwd=work, env=program.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    seen = next(line for line in process.stderr if "/18 trials" in line)  # one session has ended
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    document = json.loads(stdout)
    assert (process.returncode, document["state"]) == (130, "interrupted"), seen
    assert document["verdict"].startswith("interrupted in the first part, the same command goes on with it; so far ")
    done = sum(row["sessions"] for row in document["matrix"])
    assert 0 < done < SESSIONS
    (work / "go-on").touch()
    ended = make("skills", "--json", "--set", "engines.choosing.waits_for=letters from people now")
    assert ended.code == 0, ended.stderr
    assert ended.document["runs"][0] == document["runs"][0]
    assert pair(ended.document)["relation"] == "shadows"


@pytest.mark.slow
def test_suspects_are_left_out_later(make: Map) -> None:
    """A map without leaving out calls nothing, and a later command pays for that part only."""
    first = make("skills", "--leave-out", "0", "--json")
    assert (first.code, first.document["tested"], pair(first.document)["relation"]) == (0, 0, "fires too")
    second = make("skills", "--json")
    assert second.document["runs"][0] == first.document["runs"][0]
    assert pair(second.document)["relation"] == "shadows"
    assert second.document["cost_usd"] - first.document["cost_usd"] == pytest.approx(0.12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["skills/csv"], "a map needs at least 2 skills"),
        (["nothing"], "'nothing' does not exist"),
        (["empty"], "there is no skill in 'empty'"),
        (["skills", "more"], "skill 'csv' is in the catalogue twice"),
        (["bare"], "none of the 2 skills has a query or a case with a prompt"),
        (["skills", "--output-dir", "skills/csv/SKILL.md"], "skills/csv/SKILL.md"),
        (["skills", "--runs", "auto"], "--runs takes a number here"),
        (["skills", "--engine", "choosing", "--engine", "mock"], "a map is of one agent with one model"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(make: Map, work: Path, words: list[str], message: str) -> None:
    """One skill, a path without skills, a name twice, no query, and options that make no sense here: exit code 2."""
    (work / "empty").mkdir()
    write_skill(work / "more", "csv", "Use for comma separated values.", ["comma separated values"])
    for name in ("one", "two"):
        write_skill(work / "bare", name, f"Use for {name}.", [])
    done = make(*words)
    assert done.code == 2, done.stdout + done.stderr
    assert message in " ".join(done.stderr.split())
    assert not (work / "reports").exists()


def test_an_engine_that_cannot_tell_is_refused(make: Map, work: Path) -> None:
    """Nothing is paid for sessions of which nobody would know which skills fired."""
    done = make("skills", "--json", engine="silent")
    assert done.code == 2
    (problem,) = [one for one in done.document["problems"] if one["severity"] == "error"]
    assert problem["code"] == "map.cannot-tell"
    assert "engine 'silent' does not tell which skills it offered and which of them fired" in problem["message"]
    assert not (work / ".skillgauge").exists()


@pytest.mark.slow
def test_sessions_that_end_in_errors_make_a_map_invalid(make: Map) -> None:
    """More than a quarter of unknown sessions prove nothing: exit code 3, and the reason is in the verdict."""
    done = make("skills", "--json", "--retries", "0", "--set", "engines.choosing.fails=now")
    assert done.code == 3, done.stderr
    assert done.document["verdict"].startswith("invalid map: 9 of 18 sessions ended in an error")
    assert done.document["unknown"] >= 9


@pytest.mark.slow
def test_skills_without_queries_are_installed_and_named(make: Map, work: Path) -> None:
    """A skill that has no evals may still shadow; that nothing is known of its own queries is a warning."""
    (work / "skills/tables/evals/trigger-eval.json").unlink()
    (work / "skills/tables/evals").rmdir()
    done = make("skills", "--json")
    assert done.code == 0, done.stderr
    assert pair(done.document)["relation"] == "shadows"
    warnings = {one["code"]: one["message"] for one in done.document["problems"]}
    assert warnings["map.skills-without-queries"] == "1 skill without queries: tables"
    named = make("skills/csv", "skills/tables", "skills/mail", "--json", "--store", "none")
    assert named.code == 0, named.stderr
    assert pair(named.document)["relation"] == "shadows"


@pytest.mark.slow
def test_cases_and_negative_queries_count_for_their_skill(make: Map, work: Path) -> None:
    """Prompts of evals are asked, negative queries only where they name their skill, and a prompt is asked once."""
    evals = [{"id": 1, "prompt": "comma separated values now", "assertions": ["fine"]}]
    evals += [{"id": 2, "prompt": "comma separated values of a case", "assertions": ["fine"]}]
    (work / "skills/csv/evals/evals.json").write_text(json.dumps({"skill_name": "csv", "evals": evals}))
    items = json.loads((work / "skills/mail/evals/trigger-eval.json").read_text())
    items += [{"query": "spread sheet rows of others", "should_trigger": False, "expected_skill": "tables"}]
    items += [{"query": "what time is it", "should_trigger": False}]
    items += [{"query": "rows of nobody", "should_trigger": False, "expected_skill": "elsewhere"}]
    (work / "skills/mail/evals/trigger-eval.json").write_text(json.dumps(items))
    done = make("skills", "--json", "--runs", "1")
    assert done.code == 0, done.stderr
    sessions = {row["query_of"]: row["sessions"] for row in done.document["matrix"]}
    assert sessions == {"csv": 3, "tables": 3, "mail": 2}
    assert "map.queries-of-others" in {one["code"] for one in done.document["problems"]}


def test_a_skill_that_no_agent_may_choose_is_left_out(make: Map, work: Path) -> None:
    """`disable-model-invocation` keeps a skill out of the map, with a warning at its place."""
    path = work / "skills/tables/SKILL.md"
    path.write_text(path.read_text().replace("name: tables\n", "name: tables\ndisable-model-invocation: true\n"))
    done = make("skills", "--json")
    assert done.code == 0, done.stderr
    assert [row["name"] for row in done.document["skills"]] == ["csv", "mail"]
    (warning,) = [one for one in done.document["problems"] if one["code"] == "map.not-offered"]
    assert (warning["file"], warning["line"]) == (str(path), 3)


@pytest.mark.slow
def test_the_documents_have_schemas(make: Map, program: Program) -> None:
    """`schema map` and `schema map-plan` describe what is printed."""
    jsonschema = pytest.importorskip("jsonschema")
    for name, words in (("map", ()), ("map-plan", ("--dry-run",))):
        schema = program("schema", name).document
        jsonschema.validate(make("skills", *words, "--json", "--store", "none").document, schema)
