"""Which skills and which benchmark a request comes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import Loaded, LoadRequest, Problem, Severity
from skillgauge_testkit import FORMATS, Maker

Skill = Callable[..., Path]
Write = Callable[[str, object], Path]
Refused = Callable[..., list[Problem]]
Load = Callable[..., Loaded]

BENCH = {"id": "b", "tasks": [{"id": "t", "expectedOutput": {"value": 1}}]}


def ids(loaded: Loaded) -> list[str]:
    """Ids of the first suite's targets."""
    return [target.id for target in loaded.suites[0].targets]


def test_skills_by_file_folder_and_search(skill: Skill, load: Load, tmp_path: Path) -> None:
    """A file, the folder of a skill, and a folder that holds skills somewhere below all name skills."""
    one, two, _ = skill("one", id="one"), skill("two", id="two"), skill("deep/down/three", id="three")
    skill("deep/node_modules/no", id="no")
    skill("deep/.hidden/no", id="no")
    assert ids(load(one, two.parent, tmp_path / "deep")) == ["one", "two", "three"]


def test_skills_option_is_relative_to_the_current_folder(skill: Skill, load: Load) -> None:
    """`--skills` works like positional paths, and words that the kernel already resolved count once."""
    path = skill("one", id="one")
    skill("two", id="two")
    assert ids(load(skills=["one/skill.json", "./two"])) == ["one", "two"]
    assert ids(load(path, skills=["one/../one/skill.json"])) == ["one"]
    assert ids(load(searched=(path,), skills=["."])) == ["one"]


def test_same_path_twice_is_loaded_once(skill: Skill, load: Load, tmp_path: Path) -> None:
    """File, folder and link to one skill are one skill."""
    path = skill()
    (tmp_path / "link").symlink_to(path.parent)
    assert ids(load(path, path.parent, tmp_path / "link")) == ["echo"]


def test_two_skills_with_one_id_name_both_files(skill: Skill, refused: Refused) -> None:
    """Their results could not be told apart."""
    (problem,) = refused(skill("a"), skill("b"))
    assert problem.code == "suite.duplicate-id"
    assert "a/skill.json" in problem.message
    assert "b/skill.json" in problem.message


def test_named_bad_skills_stop_everything(skill: Skill, refused: Refused) -> None:
    """All problems of all named files are told."""
    problems = refused(skill("a", id="A"), skill("b", version="1"), skill("c", id="c"))
    assert [Path(problem.origin.file).parent.name for problem in problems if problem.origin] == ["a", "b"]


def test_searched_bad_skills_are_passed_over(skill: Skill, load: Load) -> None:
    """Good ones beside them load; what was passed over is told as an error."""
    loaded = load(searched=(skill("a", id="A"), skill("b", id="b")))
    assert ids(loaded) == ["b"]
    assert [problem.severity for problem in loaded.problems] == [Severity.ERROR]
    assert load(searched=(skill("a", id="A"),)).suites == ()


def test_folder_without_skills_is_a_problem(write: Write, refused: Refused, tmp_path: Path) -> None:
    """A folder that was named and holds none is told, and so is a file that does not exist."""
    write("empty/readme.txt", "")
    assert [problem.code for problem in refused(tmp_path / "empty")] == ["suite.no-skills"]
    assert [problem.code for problem in refused(tmp_path / "gone.json")] == ["document.missing"]


def test_benchmark_path_needs_skills(write: Write, refused: Refused, load: Load) -> None:
    """A benchmark alone says how to go on; one that a search came across is only mentioned."""
    path = write("b.json", BENCH)
    (problem,) = refused(path)
    assert problem.code == "suite.no-skills"
    assert problem.hint == f"Name the skills too: --skills PATH --benchmark {path}"
    loaded = load(searched=(path,))
    assert loaded.suites == ()
    assert [problem.severity for problem in loaded.problems] == [Severity.WARNING]


def test_benchmark_path_beside_skills_is_the_benchmark(skill: Skill, write: Write, load: Load) -> None:
    """Paths of both kinds say it all; a benchmark found beside skills by a search is not meant."""
    path, one = write("b.json", BENCH), skill()
    assert [suite.id for suite in load(one, path).suites] == ["b"]
    assert [suite.id for suite in load(one, path, benchmark="coding-easy").suites] == ["b", "coding-easy"]
    assert [suite.id for suite in load(searched=(one, path)).suites] == ["coding-easy"]


def test_benchmark_from_a_folder_of_benchmarks(skill: Skill, write: Write, load: Load) -> None:
    """An id is looked up in ./benchmarks or the folder named, in all places where the original looks."""
    one = skill()
    for name, file in (("x", "x.json"), ("y", "y/benchmark.json"), ("z", "definitions/z.json")):
        write(f"benchmarks/{file}", {**BENCH, "id": name})
        write(f"other/{file}", {**BENCH, "id": f"{name}2"})
    write("benchmarks/notes.json", {"id": "not a benchmark"})
    assert [load(one, benchmark=name).suites[0].id for name in ("x", "y", "z")] == ["x", "y", "z"]
    assert load(one, benchmark="y2", benchmarks_dir="other").suites[0].id == "y2"


def test_bad_file_in_the_folder_is_reported_and_the_rest_read(skill: Skill, write: Write, load: Load) -> None:
    """One broken benchmark does not hide the others, and does not go unnoticed."""
    write("benchmarks/a.json", "{")
    write("benchmarks/x.json", {**BENCH, "id": "x"})
    (suite,) = load(skill(), benchmark="x").suites
    assert [(warning.code, warning.severity) for warning in suite.warnings] == [("document.syntax", Severity.WARNING)]


def test_same_id_twice_in_the_folder(skill: Skill, write: Write, load: Load, refused: Refused) -> None:
    """Which one is meant cannot be guessed; asking for another id is fine."""
    write("benchmarks/a.json", {**BENCH, "id": "x"})
    write("benchmarks/b.json", {**BENCH, "id": "x"})
    write("benchmarks/c.json", {**BENCH, "id": "y"})
    (problem,) = refused(skill(), benchmark="x")
    assert problem.code == "suite.duplicate-id"
    assert "a.json" in problem.message
    assert "b.json" in problem.message
    assert load(skill(), benchmark="y").suites[0].id == "y"


def test_unknown_benchmark_lists_what_there_is(skill: Skill, write: Write, refused: Refused) -> None:
    """The answer to a wrong name is the near ones and all that exist, and what could not be read."""
    write("benchmarks/x.json", {**BENCH, "id": "coding-hard"})
    write("benchmarks/y.json", "[")
    first, second = refused(skill(), benchmark="coding-hrad")
    assert "did you mean coding-hard" in first.message
    assert "coding-easy, gaia-v1, skill-quality, toolbench-lite, web-search-basic, coding-hard" in str(first.hint)
    assert second.code == "document.syntax"


def test_benchmark_by_path(skill: Skill, write: Write, load: Load, refused: Refused, tmp_path: Path) -> None:
    """A file may be named relative or absolute, or by the folder that holds a benchmark.json."""
    write("deep/benchmark.json", BENCH)
    for name in ("deep/benchmark.json", "./deep", str(tmp_path / "deep/benchmark.json")):
        assert load(skill(), benchmark=name).suites[0].id == "b"
    write("bad.json", "{")
    assert [problem.code for problem in refused(skill(), benchmark="bad.json")] == ["document.syntax"]


@pytest.mark.parametrize("place", ["coding-easy.json", "coding-easy/benchmark.json"])
def test_file_hidden_by_a_built_in_benchmark_is_mentioned(skill: Skill, write: Write, load: Load, place: str) -> None:
    """Who has a file of a built-in's id is told which one is used."""
    write(f"benchmarks/{place}", {**BENCH, "id": "coding-easy"})
    (suite,) = load(skill(), benchmark="coding-easy").suites
    assert (suite.version, [warning.code for warning in suite.warnings]) == ("1.1.0", ["suite.hidden"])


def test_the_default_benchmark_is_never_taken_in_silence(skill: Skill, write: Write, load: Load) -> None:
    """F-11: it is named, and so are tests that lie beside the skill and are not run."""
    (warning,) = load(skill()).suites[0].warnings
    assert warning.code == "suite.default-benchmark"
    assert warning.message == "no benchmark is named, so the built-in 'coding-easy' is taken"
    path = skill("own")
    write("own/evals/one.json", BENCH)
    write("own/tests/two.json", BENCH)
    write("own/tests/data.json", {"any": "thing"})
    (warning,) = load(path).suites[0].warnings
    assert warning.message.endswith("and not the tests that lie beside a skill: own/tests/two.json and 1 more")
    assert "--benchmark own/tests/two.json" in (warning.hint or "")


def test_problems_of_skill_and_benchmark_are_told_together(skill: Skill, refused: Refused) -> None:
    """Nothing has to be mended twice."""
    problems = refused(skill("a", id="A"), skill("b", id="b"), benchmark="nope")
    assert [problem.code for problem in problems] == ["suite.value", "suite.no-benchmark"]


def test_root_of_a_built_in_benchmark(skill: Skill, load: Load, tmp_path: Path) -> None:
    """With one skill it is the skill's folder, with several the current folder."""
    one, two = skill("a", id="a"), skill("b", id="b")
    assert load(one).suites[0].root == str(one.parent)
    assert load(one, two).suites[0].root == str(tmp_path)


def test_warnings_about_skills_are_told_once(skill: Skill, write: Write, load: Load) -> None:
    """With two benchmarks only the first suite carries them."""
    one = skill(extra=1)
    first, second = load(one, write("b.json", BENCH), benchmark="coding-easy").suites
    assert (len(first.warnings), len(second.warnings)) == (1, 0)


def test_request_rules_over_configuration(skill: Skill, write: Write, tmp_path: Path) -> None:
    """Configured options hold until the request says otherwise; other formats' options are no concern."""
    write("t.json", [{"id": "t", "expectedOutput": {"value": 1}}])
    configured = Maker(FORMATS, "skillgauge_format_eval_skills.plugin")({"tasks": "t.json"})
    paths = (str(skill()),)
    plain = configured.load(LoadRequest(paths=paths, cwd=str(tmp_path), options={"arms": "of another format"}))
    assert plain.suites[0].id == "custom"
    given = configured.load(LoadRequest(paths=paths, cwd=str(tmp_path), options={"benchmark": "gaia-v1"}))
    assert given.suites[0].id == "gaia-v1"


def test_digest_follows_the_tasks(skill: Skill, write: Write, load: Load) -> None:
    """A suite's digest changes with its file and with the scorer of unnamed tasks."""
    write("t.json", [{"id": "t", "expectedOutput": {"value": 1}}])
    first = load(skill(), tasks="t.json").suites[0].digest
    other = load(skill(), tasks="t.json", evaluator="acme").suites[0].digest
    write("t.json", [{"id": "t", "expectedOutput": {"value": 2}}])
    assert len({first, other, load(skill(), tasks="t.json").suites[0].digest}) == 3
