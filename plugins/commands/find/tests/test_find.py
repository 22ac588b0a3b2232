"""`find` on real skills, in the installed program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest

from skillgauge_command_find.command import schemas
from skillgauge_testkit.program import Done, Program

from .conftest import MakeSkill


def ids(done: Done) -> list[str]:
    """Ids of the found skills, best first; the document is what its schema says."""
    assert done.code == 0, done.stderr
    jsonschema.validate(done.document, schemas()["find"])
    return [one["id"] for one in done.document["skills"]]


def result(rate: object, benchmark: str = "coding-easy") -> dict[str, object]:
    """Published benchmark results."""
    return {
        "benchmarkResults": [{"benchmarkId": benchmark, "completionRate": rate, "timestamp": "2026-02-03T00:00:00Z"}]
    }


@pytest.mark.requirement("ES-FIND-001")
def test_skills_are_found_at_any_depth(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """The default folder is ./skills, searched to the bottom; another one can be named; nothing is created."""
    make_skill("one")
    make_skill("group/deeper/two")
    before = sorted(work.rglob("*"))
    assert ids(program("find", "--json")) == ["one", "two"]
    assert ids(program("find", "--json", "--skills-dir", "skills/group")) == ["two"]
    assert ids(program("find", "--json", "--skills-dir", work / "skills/one")) == ["one"]
    assert sorted(work.rglob("*")) == before


def test_the_table(program: Program, make_skill: MakeSkill) -> None:
    """For people: a count, the documented columns and the rate with its source; the verdict is last on stderr."""
    make_skill("one", metadata=result(0.85))
    make_skill("two", name="A\u202eB\x1b[31m")
    done = program("find", "--limit", "1")
    first, heads, row = done.stdout.splitlines()
    assert first == "Found 2 skills (showing 1):"
    assert heads.split() == ["ID", "Name", "Version", "Adapter", "Tags", "Completion"]
    assert row.split("  ")[0] == "one"
    assert "math, string, example" in row
    assert row.endswith("85.0% (published 2026-02-03 on coding-easy)")
    assert done.verdict == "2 skills found"
    assert "\x1b" not in program("find").stdout


@pytest.mark.requirement("ES-FIND-002", "ES-FIND-003", "ES-FIND-008")
def test_a_query_finds_and_ranks(program: Program, make_skill: MakeSkill) -> None:
    """Words are found in id, name, tags and description, and the better place ranks first."""
    plain = {"name": "Other", "tags": ["x"], "description": "Does something."}
    make_skill("a", **plain | {"description": "Knows the weather."})
    make_skill("b", **plain | {"tags": ["weather"]})
    make_skill("c", **plain | {"name": "Weather report"})
    make_skill("d", **plain)
    make_skill("weather_service", **plain)
    for query in (["WEATHER"], ["-q", "WEATHER"]):
        assert ids(program("find", *query, "--json")) == ["c", "weather_service", "b", "a"]
    assert ids(program("find", "report", "weather", "--json")) == ["c"]
    assert ids(program("find", "report", "-q", "weather", "--json")) == ["c"]
    assert ids(program("find", "--query", "report weather", "--json")) == ["c"]
    assert ids(program("find", "-q", "weather snow", "--json")) == []
    assert ids(program("find", "-q", "", "--json")) == ["a", "b", "c", "d", "weather_service"]


@pytest.mark.requirement("ES-FIND-004")
@pytest.mark.parametrize("tags", [["--tag", "a", "b"], ["-t", "a", "b"], ["--tag", "a,b"], ["-t", "a", "-t", "b"]])
def test_all_tags_must_be_there(program: Program, make_skill: MakeSkill, tags: Sequence[str]) -> None:
    """Several words, commas or a repeated option mean the same: all of these tags."""
    make_skill("both", tags=["b", "a", "c"])
    make_skill("one", tags=["a"])
    make_skill("case", tags=["A", "B"])
    assert ids(program("find", *tags, "--limit", "5", "--json")) == ["both"]


@pytest.mark.requirement("ES-FIND-005")
def test_adapter(program: Program, make_skill: MakeSkill) -> None:
    """Only skills of that type, also of a type for which no adapter is installed."""
    make_skill("script")
    make_skill("service", adapterType="http", entrypoint="http://127.0.0.1:9/")
    make_skill("chain", adapterType="some-private-adapter", entrypoint="x")
    assert ids(program("find", "--adapter", "http", "--json")) == ["service"]
    assert ids(program("find", "-a", "some-private-adapter", "--json")) == ["chain"]
    assert ids(program("find", "-a", "mcp", "--json")) == []


@pytest.mark.requirement("ES-FIND-007")
def test_limit(program: Program, make_skill: MakeSkill) -> None:
    """Twenty unless told otherwise; the count is that of all."""
    for number in range(22):
        make_skill(f"s{number:02}")
    done = program("find", "--json")
    assert len(ids(done)) == 20
    assert done.document["total"] == 22
    assert ids(program("find", "--limit", "2", "--json")) == ["s00", "s01"]
    assert program("find", "--limit", "0").code == 2


@pytest.mark.requirement("ES-FIND-006", "ES-FIND-009")
def test_published_rates_filter_and_rank(program: Program, make_skill: MakeSkill) -> None:
    """The best published rate counts, the highest goes first, and an unknown one is last and below every limit."""
    several = {"benchmarkResults": [{"completionRate": 0.2}, {"completionRate": 0.9}, {"completionRate": "1"}]}
    make_skill("unknown")
    make_skill("half", metadata=result(0.5))
    make_skill("best", metadata=several)
    make_skill("zero", metadata=result(0))
    assert ids(program("find", "--json")) == ["best", "half", "zero", "unknown"]
    assert ids(program("find", "--min-completion", "0.5", "--json")) == ["best", "half"]
    assert ids(program("find", "--min-completion", "0", "--json")) == ["best", "half", "zero"]


@pytest.mark.requirement("ES-FIND-006")
@pytest.mark.parametrize("rate", ["1.5", "-0.1", "abc", "nan", "80%"])
def test_a_rate_that_is_none_is_refused(program: Program, make_skill: MakeSkill, rate: str) -> None:
    """Exit 2, not a filter that silently lets everything or nothing through."""
    make_skill("one")
    done = program("find", "--min-completion", rate)
    assert done.code == 2
    assert "--min-completion" in done.stderr


@pytest.mark.slow
@pytest.mark.requirement("ES-FIND-006", "ES-FIND-009")
def test_own_runs_are_known_too(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """The newest finished run of a skill in the store counts beside what is published, and its source is told."""
    make_skill("good")
    make_skill("bad", entrypoint="python3 wrong.py")
    (work / "skills/bad/wrong.py").write_text('print(\'{"jsonrpc": "2.0", "id": 1, "result": "?"}\')\n')
    make_skill("claimed", metadata=result(0.5))
    assert [one["completion"] for one in program("find", "--json").document["skills"]][1:] == [None, None]
    task = {"id": "t", "inputData": {"expression": "1+1"}, "expectedOutput": {"value": "2"}}
    (work / "tasks.json").write_text(json.dumps([task, task | {"id": "u", "expectedOutput": {"value": "3"}}]))
    assert program("eval", "skills/good", "skills/bad", "--tasks", "tasks.json").code == 0
    (work / "tasks.json").write_text(json.dumps([task]))
    assert program("eval", "skills/good", "--tasks", "tasks.json").code == 0
    done = program("find", "--json")
    assert ids(done) == ["good", "claimed", "bad"]
    known = {one["id"]: one["completion"] for one in done.document["skills"]}
    newest = known["good"]
    assert (newest["rate"], newest["source"], newest["benchmark"], newest["cases"]) == (1.0, "own run", "custom", 1)
    assert (known["bad"]["rate"], known["bad"]["cases"]) == (0.0, 2)
    assert known["claimed"]["source"] == "published"
    assert ids(program("find", "--min-completion", "0.9", "--json")) == ["good"]
    assert "100.0% (own run 20" in program("find").stdout
    for elsewhere in ("none", "other.db"):
        assert ids(program("find", "--json", env={"SKILLGAUGE_STORE": elsewhere})) == ["claimed", "bad", "good"]
    assert not (work / "other.db").exists()
    assert ids(program("find", "--json", "--no-plugin", "skillgauge-store-sqlite")) == ["claimed", "bad", "good"]


def test_nothing_found_is_no_error(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """A folder that is absent or holds no skill, and a search without a hit: a notice, exit 0, an empty document."""
    for place in ("absent", "empty"):
        done = program("find", "--skills-dir", place)
        assert (done.code, done.stdout) == (0, "")
        assert place in done.stderr
        assert done.verdict == "0 skills found"
        assert ids(program("find", "--skills-dir", place, "--json")) == []
        (work / "empty").mkdir(exist_ok=True)
    (work / "empty/benchmark.json").write_text('{"id": "b", "tasks": [{"id": "t"}]}')
    assert program("find", "--skills-dir", "empty").code == 0
    make_skill("one")
    done = program("find", "-q", "nowhere")
    assert (done.code, done.stdout) == (0, "")
    assert "none of 1 skill fits" in done.stderr


def test_a_bad_file_is_told_and_passed_over(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """An unreadable skill hides no other; as with every search, the exit code says that something is wrong."""
    make_skill("good")
    make_skill("bad", version="one")
    (work / "skills/broken").mkdir()
    (work / "skills/broken/skill.json").write_text('{"id": "broken",\n')
    done = program("find", "--json")
    assert done.code == 2
    assert [one["id"] for one in done.document["skills"]] == ["good"]
    places = [(Path(one["file"]).parent.name, one["line"]) for one in done.document["problems"]]
    assert places == [("bad", 1), ("broken", 2)]
    assert done.verdict == "1 skill found; some files could not be read"
    assert "skills/broken/skill.json:2:1: error[" in done.stderr


def test_only_bad_files_are_an_error(program: Program, work: Path) -> None:
    """A folder in which nothing can be read is not an empty one."""
    (work / "skills/broken").mkdir(parents=True)
    (work / "skills/broken/skill.json").write_text("{")
    done = program("find")
    assert done.code == 2
    assert "skill.json" in done.stderr
