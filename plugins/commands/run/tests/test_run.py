"""`run` on real skills, in the installed program."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from skillgauge_command_run.command import schemas
from skillgauge_testkit.program import PROGRAM, Done, Program

from .conftest import MakeSkill

ANSWERS = """import json, pathlib, sys
request = json.loads(sys.stdin.read())
pathlib.Path({log!r}).open("a").write(pathlib.Path.cwd().name + " ")
print(json.dumps({{"jsonrpc": "2.0", "id": 1, "result": {answer!r} if request["params"]["say"] in {right!r} else "?"}}))
"""
ALL = ["a", "b"]


@pytest.fixture
def tasks(work: Path) -> Path:
    """Two tasks, a and b; the right answer to both is yes."""
    file = work / "tasks.json"
    items = [{"id": say, "inputData": {"say": say}, "expectedOutput": {"value": "yes"}} for say in ALL]
    file.write_text(json.dumps(items))
    return file


@pytest.fixture
def make(work: Path, make_skill: MakeSkill) -> Callable[..., None]:
    """Make a skill that solves some of the tasks and notes in `calls` the folder in which it is called."""

    def skill(place: str, /, *right: str, **changes: object) -> None:
        folder = make_skill(place, **changes)
        code = ANSWERS.format(log=str(work / "calls"), answer="yes", right=right)
        (folder / "skill.py").write_text(code)

    return skill


Make = Callable[..., None]


def test_the_schema_is_one() -> None:
    """Looked at once, for it takes longer than all documents of the tests below."""
    jsonschema.Draft202012Validator.check_schema(schemas()["run"])


def document(done: Done, code: int = 0) -> dict[str, object]:
    """The document of a run; it is what its schema says and agrees with the process."""
    assert done.code == code, done.stderr
    shown: dict[str, object] = done.document
    jsonschema.Draft202012Validator(schemas()["run"]).validate(shown)
    assert (shown["exit_code"], shown["verdict"]) == (done.code, done.verdict)
    return shown


def chosen(done: Done) -> list[str]:
    """Ids of the selected skills, best first."""
    document(done)
    return [one["skill"]["id"] for one in done.document["selected"]]


@pytest.mark.slow
@pytest.mark.requirement("ES-RUN-001", "ES-RUN-002", "ES-RUN-003", "ES-RUN-004")
def test_everything_in_one_go(program: Program, work: Path, tasks: Path, make: Make) -> None:
    """Find, eval, select, report: the stages are told, the ranking is shown, and every report is written."""
    make("right", *ALL)
    make("half", "a")
    make("wrong")
    options = ["--tasks", tasks, "--top-k", "3", "--min-completion", "0.5", "--format", "json", "markdown", "html"]
    done = program("run", "--skills-dir", "./skills", *options, "--output-dir", "./out", "--concurrency", "1")
    assert done.code == 0, done.stderr
    stages = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert stages == [
        "[1/4] Find: 3 skills in ./skills",
        "[2/4] Eval: 6 trials",
        "[3/4] Select: 2 of 3 skills",
        "[4/4] Report: markdown, html, eval-skills",
    ]
    assert "not selected: wrong: completion rate 0% is below 50%" in done.stderr
    assert done.verdict == "done: 2 of 3 skills selected (3 of 6 trials passed)"
    *_, heads, first, second, third, last = done.stdout.splitlines()
    assert heads.split() == ["Rank", "Skill", "ID", "Completion", "Error", "Rate", "Score"]
    assert [line.split()[:3] for line in (first, second, third)] == [
        ["1", "right", "100.0%"],
        ["2", "half", "50.0%"],
        ["-", "wrong", "0.0%"],
    ]
    assert last == "Top 2 selected: right, half"
    assert "half — pass rate 50.0% (n = 2 cases" in done.stdout
    assert {path.name for path in (work / "out").glob("eval-result.*")} == {
        f"eval-result.{end}" for end in ("json", "md", "html")
    }
    reports = json.loads((work / "out/eval-result.json").read_text())
    assert {one["skillId"] for one in reports} == {"right", "half", "wrong"}
    assert (work / "calls").read_text().split() == ["half", "half", "right", "right", "wrong", "wrong"]


@pytest.mark.slow
@pytest.mark.requirement("ES-RUN-002", "ES-FIND-003")
def test_a_query_decides_what_is_evaluated(program: Program, work: Path, tasks: Path, make: Make) -> None:
    """Only skills that fit are called, each in its own folder; `-q` is the query here."""
    make("one/adder", *ALL, name="Sums")
    make("two/poet", *ALL, name="Poems", tags=["text"], description="Writes poems.")
    assert chosen(program("run", "-q", "MATH", "--tasks", tasks, "--json")) == ["adder"]
    assert set((work / "calls").read_text().split()) == {"adder"}
    (work / "calls").unlink()
    named = ["--skills", "skills/one", "skills/two/poet", "--query", "poems"]
    assert chosen(program("run", *named, "--tasks", tasks, "--json")) == ["poet"]
    assert set((work / "calls").read_text().split()) == {"poet"}


@pytest.mark.slow
@pytest.mark.requirement("ES-RUN-002")
def test_the_documented_benchmark(program: Program, make_skill: MakeSkill) -> None:
    """The calculator, found by the documented query, solves the documented benchmark."""
    make_skill("calculator")
    done = program(
        "run", "--query", "math", "--benchmark", "coding-easy", "--skills-dir", "./skills", "--top-k", "3",
        "--min-completion", "0.7", "--format", "json", "markdown", "--output-dir", "./reports", "--json",
    )  # fmt: skip
    assert chosen(done) == ["calculator"]
    assert done.document["summary"]["counts"]["passed"] == 20


@pytest.mark.requirement("ES-RUN-003")
def test_nothing_selected_is_no_failure(program: Program, work: Path, tasks: Path, make: Make) -> None:
    """--min-completion filters and is no gate: exit 0, all reports are there, and a notice says why."""
    make("half", "a")
    done = program("run", "--tasks", tasks)
    assert done.code == 0
    assert "not selected: half: completion rate 50% is below 70%" in done.stderr
    assert done.verdict == "done: none of 1 skill selected (1 of 2 trials passed)"
    assert "Top" not in done.stdout
    assert (work / "reports/eval-result.json").exists()
    assert program("run", "--tasks", tasks, "--exit-on-fail").code == 2


@pytest.mark.slow
@pytest.mark.requirement("ES-RUN-002")
def test_command_line_before_strategy_before_default(program: Program, work: Path, tasks: Path, make: Make) -> None:
    """Each limit by itself; what nobody sets is 0.7 and 5."""
    for number in range(6):
        make(f"s{number}", *(ALL if number else ["a"]))
    base = ["run", "--tasks", tasks, "--json"]
    done = program(*base)
    assert len(chosen(done)) == 5
    assert done.document["strategy"]["filters"]["minCompletionRate"] == 0.7
    (work / "s.yaml").write_text("sortBy: completionRate\nfilters: {minCompletionRate: 0.5}\n")
    everyone = chosen(program(*base, "--strategy", "s.yaml", "--top-k", "0"))
    assert len(everyone) == 6
    assert everyone[-1] == "s0"
    (work / "s.yaml").write_text("sortBy: completionRate\norder: asc\nfilters: {minCompletionRate: 0.5}\ntopK: 1\n")
    assert chosen(program(*base, "--strategy", "s.yaml")) == ["s0"]
    assert "s0" not in chosen(program(*base, "--strategy", "s.yaml", "--min-completion", "1", "--top-k", "9"))


def test_a_wrong_strategy_stops_before_anything_runs(program: Program, work: Path, tasks: Path, make: Make) -> None:
    """Exit 2 with the place; no skill was called and nothing was made."""
    make("one", *ALL)
    (work / "s.yaml").write_text("sortby: latency\n")
    before = sorted(work.rglob("*"))
    done = program("run", "--tasks", tasks, "--strategy", "s.yaml")
    assert done.code == 2
    assert "s.yaml:1:1: error[suite.unknown-key]: unknown key 'sortby' (did you mean sortBy" in done.stderr
    assert program("run", "--tasks", tasks, "--min-completion", "nan").code == 2
    assert sorted(work.rglob("*")) == before


def test_a_dry_run_creates_nothing(program: Program, work: Path, tasks: Path, make: Make) -> None:
    """What would run is shown, for the found skills only; nothing is called or made."""
    make("one", *ALL)
    make("two", *ALL)
    before = sorted(work.rglob("*"))
    done = program("run", "-q", "two", "--tasks", tasks, "--dry-run")
    assert done.code == 0, done.stderr
    assert "2 trials" in done.stdout
    shown = program("run", "-q", "two", "--tasks", tasks, "--dry-run", "--json").document
    assert shown["dry_run"]
    assert [target["id"] for suite in shown["plan"]["suites"] for target in suite["targets"]] == ["two"]
    assert sorted(work.rglob("*")) == before


def test_no_skill_is_an_empty_selection(program: Program, work: Path, make: Make) -> None:
    """An absent folder, an empty one, and a query that fits nothing: exit 5 and the reason."""
    (work / "empty").mkdir()
    for place, told in (("absent", "'absent' does not exist"), ("empty", "'empty' holds no skill")):
        done = program("run", "--skills-dir", place)
        assert done.code == 5
        assert told in done.stderr
    make("one", *ALL)
    done = program("run", "-q", "nowhere", "--json")
    assert (done.code, done.document["exit_code"]) == (5, 5)
    assert done.document["problems"][0]["message"] == "none of 1 skill in './skills' fits 'nowhere'"
    assert not (work / "reports").exists()


@pytest.mark.requirement("SE-RUN-006")
def test_a_path_points_at_eval(program: Program, work: Path, tasks: Path, make: Make) -> None:
    """`run PATH` answers with the command that evaluates the path, ready to be copied."""
    make("my skill", *ALL, id="my_skill")
    done = program("run", "skills/my skill", "--tasks", tasks)
    assert done.code == 2
    command = done.stderr.strip().splitlines()[-1].partition("skillgauge ")[2]
    assert command == "eval 'skills/my skill'"
    assert not (work / "calls").exists()
    assert program("eval", "skills/my skill", "--tasks", tasks).code == 0


def test_a_bad_skill_is_told_and_passed_over(program: Program, work: Path, tasks: Path, make: Make) -> None:
    """The others are evaluated; as with `eval`, the exit code says that something is wrong."""
    make("good", *ALL)
    make("bad", *ALL, version="one")
    done = program("run", "--tasks", tasks, "--json")
    shown = document(done, 2)
    assert [one["skill"]["id"] for one in done.document["selected"]] == ["good"]
    assert "bad/skill.json" in done.document["problems"][0]["file"]
    assert str(shown["verdict"]).startswith("some files or cases could not be read")
    assert done.stderr.count("error[suite.value]") == 1


BROKEN_SCORER = """
from skillgauge.api import Provider, Score, hookimpl


class Broken:
    version = "1"

    async def score(self, context):
        return Score.ungraded("out of order")


@hookimpl
def skillgauge_scorers():
    yield Provider(name="broken", factory=Broken, summary="Grades nothing.")
"""


def test_an_invalid_run_selects_nothing(program: Program, work: Path, make: Make) -> None:
    """If nothing could be graded, figures prove nothing: exit 3, no selection, and the reports are there."""
    make("one", *ALL)
    (work / "broken.py").write_text(BROKEN_SCORER)
    task = {"id": "t", "inputData": {"say": "a"}, "expectedOutput": {}, "evaluator": {"type": "broken"}}
    (work / "tasks.json").write_text(json.dumps([task]))
    done = program("run", "--plugin", "broken.py", "--tasks", "tasks.json", "--min-completion", "0", "--json")
    shown = document(done, 3)
    assert shown["selected"] == []
    assert str(shown["verdict"]).startswith("invalid run: custom: 1 of 1 trials ended in an error")
    assert (work / "reports/eval-result.json").exists()


@pytest.mark.slow
def test_an_interrupted_run_is_resumed(
    program: Program, work: Path, environment: dict[str, str], tasks: Path, make_skill: MakeSkill
) -> None:
    """Ctrl-C keeps what is finished, reports it, selects nothing and exits 130; the same command goes on from there."""
    reached = work / "reached"
    os.mkfifo(reached)
    (make_skill("slow") / "skill.py").write_text(f"""import json, os, sys, time
request = json.loads(sys.stdin.read())
if request["params"]["say"] == "b" and not os.path.exists({str(work / "free")!r}):
    with open({str(reached)!r}, "w") as pipe:
        pipe.write("b")
    time.sleep(600)
print(json.dumps({{"jsonrpc": "2.0", "id": 1, "result": "yes"}}))
""")
    command = ["run", "--tasks", tasks, "--concurrency", "1", "--timeout", "600s", "--json"]
    listener = os.open(reached, os.O_RDWR)  # else the program could not be waited for with a limit
    process = subprocess.Popen(
        [PROGRAM, *command],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert select.select([listener], [], [], 60)[0], "the second task was never called"
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        os.close(listener)
        process.kill()
    done = Done(process.returncode, stdout.decode(), stderr.decode())
    shown = document(done, 130)
    assert shown["selected"] == []
    assert shown["notices"] == []
    assert "1 of 2 trials are done" in str(shown["verdict"])
    assert len(json.loads((work / "reports/eval-result.json").read_text())[0]["taskResults"]) == 1
    (work / "free").touch()
    again = program(*command)
    assert chosen(again) == ["slow"]
    assert "not run again: 1 trial\n" in again.stderr
    with sqlite3.connect(work / "skillgauge.db") as store:
        assert store.execute("SELECT count(*), min(state) FROM runs").fetchone() == (1, "finished")
