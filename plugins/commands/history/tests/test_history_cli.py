"""`history` as a user runs it, on real stores, in an empty folder."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge_command_history.documents import FlakyDocument, ImportDocument, ListDocument, TrendDocument
from skillgauge_testkit.program import Done, Program

pytestmark = pytest.mark.e2e
Evaluate = Callable[..., Done]
GOOD = {"one": "one", "two": "two"}
BAD = {"one": "one", "two": "three"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "--target", "x"],
        ["show", "latest"],
        ["show", "2025"],
        ["show", "latest", "--format", "html", "--output", "x.html"],
        ["trend", "x"],
        ["flaky"],
        ["flaky", "--suite", "x"],
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_reading_makes_no_store(program: Program, work: Path, arguments: list[str], as_json: bool) -> None:
    """Where no store is, that is said and all is well; nothing is made."""
    done = program("history", *arguments, *(["--json"] if as_json else []))
    assert done.code == 0
    assert "stored in ./skillgauge.db" in done.stderr
    assert list(work.iterdir()) == []
    if as_json:
        json.loads(done.stdout)
    else:
        assert done.stdout == ""


@pytest.mark.slow
def test_what_people_say_of_a_run(program: Program, evaluate: Evaluate, work: Path) -> None:
    """A run is named when it begins and later, found by its labels, and is otherwise as it was."""
    evaluate(GOOD)
    evaluate(BAD, more=("--name", "after the <change>", "--label", "team=search", "--label", "x=1", "--note", "a note"))
    newest, oldest = ListDocument.model_validate(program("history", "list", "--json").document).runs
    assert (newest.name, newest.note, newest.labels) == ("after the <change>", "a note", {"team": "search", "x": "1"})
    assert (oldest.name, oldest.note, oldest.labels) == ("", "", {})
    shown = program("history", "show", "latest", "--json").document

    done = program("history", "note", "latest", "--label", "x=", "--label", "y=2", "--note", "")
    assert done.code == 0
    assert done.stderr.strip().splitlines()[-1] == f"run {newest.run.run_id} has a name and 2 labels"
    program("history", "note", oldest.run.run_id, "--label", "team=search")
    both = program("history", "list", "--label", "team=search", "--json").document["runs"]
    assert [one["labels"] for one in both] == [{"team": "search", "y": "2"}, {"team": "search"}]
    one_line = program("history", "list", "--label", "y=2", "--label", "team=search").stdout.splitlines()
    assert len(one_line) == 2
    assert one_line[1].endswith("after the <change> team=search, y=2")
    assert "that match" in program("history", "list", "--label", "team=ranking").stderr
    assert program("history", "show", "latest", "--json").document == shown

    for words, reason in {
        ("history", "note", "latest", "--label", "team"): "'team' is no label",
        ("history", "note", "latest", "--label", "a b=1"): "cannot be kept",
        ("history", "note", "latest", "--name", "x" * 201): "cannot be kept",
        ("history", "list", "--label", "team="): "'team=' is no label",
    }.items():
        refused = program(*words)
        assert refused.code == 2
        assert reason in refused.stderr
    assert program("history", "list", "--json").document["runs"][0]["labels"] == {"team": "search", "y": "2"}

    copied = program("store", "copy", "skillgauge.db", "other.db")
    assert copied.code == 0
    again = program("history", "list", "--store", "other.db", "--json").document["runs"]
    assert [one["name"] for one in again] == ["after the <change>", ""]


def test_a_run_that_is_kept_nowhere_has_no_name(program: Program, evaluate: Evaluate, work: Path) -> None:
    """The refusal comes before anything runs."""
    evaluate(GOOD)
    (work / "skillgauge.db").unlink()
    refused = program("eval", "--skills", "skill", "--tasks", "tasks.json", "--store", "none", "--name", "x")
    assert refused.code == 2
    assert "need a store that keeps them" in refused.stderr
    assert not (work / "skillgauge.db").exists()


@pytest.mark.slow
def test_list_and_show(program: Program, evaluate: Evaluate, work: Path) -> None:
    """Runs are listed newest first, filtered, and shown by id, by its beginning and as the latest one."""
    evaluate(GOOD)
    evaluate(BAD, skill="other")
    listed = ListDocument.model_validate(program("history", "list", "--json").document)
    assert [one.targets[0].id for one in listed.runs] == ["other", "echo"]
    newest, oldest = (one.run.run_id for one in listed.runs)
    table = program("history", "list").stdout.splitlines()
    assert table[0].split() == ["Run", "Began", "State", "Suite", "Target", "Passed", "Errors"]
    assert [line.split()[0] for line in table[1:]] == [newest, oldest]
    assert "1 of 2" in table[1]
    for options in (["--target", "echo"], ["--target", "echo", "--suite", "custom"]):
        assert [one["run"]["run_id"] for one in program("history", "list", "--json", *options).document["runs"]] == [
            oldest
        ]
    assert len(program("history", "list", "--json", "--limit", "1").document["runs"]) == 1
    none = program("history", "list", "--suite", "absent")
    assert (none.code, none.stdout, none.verdict) == (0, "", "no runs that match are stored in ./skillgauge.db")
    shown = program("history", "show", "latest")
    assert shown.stdout == program("history", "show", newest).stdout
    assert "other — pass rate 50.0% (n = 2 cases" in shown.stdout
    assert 'Expected "three" but got "two"' in shown.stdout
    assert shown.verdict == "1 of 2 passed"
    assert program("history", "show", oldest[:-1], "--json").document["run"]["run_id"] == oldest


def test_show_through_a_reporter(program: Program, evaluate: Evaluate, work: Path) -> None:
    """A stored run becomes any installed report; what makes no sense is refused."""
    evaluate(GOOD)
    printed = program("history", "show", "latest", "--format", "markdown")
    assert printed.code == 0
    assert printed.stdout.startswith("# ")
    done = program("history", "show", "latest", "--format", "json", "--output", "again.json")
    assert done.stdout == "json report: again.json\n"
    (again,) = json.loads((work / "again.json").read_text())
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    assert again == report
    assert program("history", "show", "latest", "--output", "x").code == 2
    wrong = program("history", "show", "latest", "--format", "markdwon")
    assert wrong.code == 2
    assert "did you mean markdown?" in wrong.stderr


def test_ids_that_mean_no_run_or_several(program: Program, evaluate: Evaluate) -> None:
    """Both are errors that list what there is."""
    evaluate(GOOD)
    evaluate(GOOD)
    ids = [one["run"]["run_id"] for one in program("history", "list", "--json").document["runs"]]
    several = program("history", "show", "2")
    assert several.code == 2
    assert all(one in several.stderr for one in ids)
    assert "Give more characters of the id." in several.stderr
    none = program("history", "show", ids[0][:-1] + "x")
    assert none.code == 2
    assert f"did you mean {ids[0]}" in none.stderr
    assert ids[1] in program("history", "show", "latest~1").stdout
    far = program("history", "show", "latest~2")
    assert (far.code, "there is no run latest~2: the store has 2" in far.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.requirement("ES-FLOW-007")
def test_trend(program: Program, evaluate: Evaluate) -> None:
    """One line per finished run, oldest first: version, rate with interval, change, and what is different."""
    evaluate(GOOD)
    evaluate(BAD, version="1.1.0")
    evaluate(GOOD, version="1.1.0")
    done = program("history", "trend", "echo", "--suite", "custom")
    assert done.code == 0
    head, heads, *rows = done.stdout.splitlines()
    assert head == "echo · custom  █▅█  3 runs"
    assert heads.split()[:4] == ["Began", "Run", "Version", "Pass"]
    assert [row.split()[4:6] for row in rows[:3]] == [["1.0.0", "100.0%"], ["1.1.0", "50.0%"], ["1.1.0", "100.0%"]]
    assert "-50.0" in rows[1]
    assert "version, files" in rows[1]
    assert "+50.0" in rows[2]
    assert " ms " not in done.stdout, "a percentile of two calls (N-B7)"
    trend = TrendDocument.model_validate(program("history", "trend", "echo", "--json").document)
    (series,) = trend.series
    assert [point.pass_rate.rate for point in series.points] == [1.0, 0.5, 1.0]
    assert all(point.pass_rate.method and point.p95_s for point in series.points)
    wrong = program("history", "trend", "ecko")
    assert wrong.code == 2
    assert "did you mean echo?" in wrong.stderr


def test_unfinished_runs_are_no_part_of_a_trend(program: Program, evaluate: Evaluate, work: Path) -> None:
    """They are counted aloud, and listed as what they are."""
    evaluate(GOOD)
    evaluate(BAD)
    with closing(sqlite3.connect(work / "skillgauge.db")) as db, db:
        db.execute("UPDATE runs SET state = 'interrupted' WHERE run = 2")
    done = program("history", "trend", "echo")
    assert "1 run\n" in done.stdout
    assert "runs that did not finish and are left out: 1" in done.stderr
    assert "interrupted" in program("history", "list").stdout
    assert program("history", "show", "latest").verdict == "interrupted: 1 of 2 passed"


@pytest.mark.slow
def test_invalid_runs_are_marked_and_no_part_of_a_trend(program: Program, evaluate: Evaluate, work: Path) -> None:
    """A run with too many errors proves nothing: it is counted aloud, and says so in the list (N-A13)."""
    evaluate(GOOD)
    evaluate(BAD)
    with closing(sqlite3.connect(work / "skillgauge.db")) as db, db:
        (stored,) = db.execute("SELECT summary FROM runs WHERE run = 2").fetchone()
        summary = json.loads(stored)
        summary["validity"] = [{"suite_id": "custom", "valid": False, "error_share": 0.5, "reason": "too many errors"}]
        db.execute("UPDATE runs SET summary = ? WHERE run = 2", (json.dumps(summary),))
    done = program("history", "trend", "echo")
    assert "1 run\n" in done.stdout
    assert "runs that are invalid and are left out: 1" in done.stderr
    assert program("history", "trend", "echo", "--json").document["invalid"] == 1
    first, second = program("history", "list").stdout.splitlines()[1:]
    assert "finished, invalid" in first
    assert "invalid" not in second
    newest, oldest = program("history", "list", "--json").document["runs"]
    assert (newest["invalid"][0]["reason"], oldest["invalid"]) == ("too many errors", [])
    assert "Invalid: custom: too many errors" in program("history", "show", "latest").stdout


@pytest.mark.slow
def test_flaky_cases(program: Program, evaluate: Evaluate, work: Path) -> None:
    """A case that passes in two of three runs of the same skill stands in the table; steady ones are counted."""
    for _ in range(3):
        evaluate(GOOD)
    assert program("history", "flaky").verdict == "0 of 2 repeated cases flaky in 3 runs"
    with closing(sqlite3.connect(work / "skillgauge.db")) as db, db:
        last, body = db.execute("SELECT id, body FROM results ORDER BY id DESC LIMIT 1").fetchone()
        failed = json.dumps(json.loads(body) | {"verdict": "fail", "value": 0.0})
        db.execute("UPDATE results SET verdict = 'fail', body = ? WHERE id = ?", (failed, last))
    done = program("history", "flaky")
    assert (done.code, done.verdict) == (0, "1 of 2 repeated cases flaky in 3 runs")
    heads, row, *_ = done.stdout.splitlines()
    assert heads.split()[:3] == ["Case", "Of", "Passed"]
    assert re.match(r"two +echo · custom +2 of 3 +66.7% +20.8% to 93.9% +ppf +66.7% +0.0% +3 +0 ", row)
    document = FlakyDocument.model_validate(program("history", "flaky", "--json").document)
    assert [one.case for one in document.cases] == ["two"]
    assert (
        program("history", "flaky", "--limit", "1").verdict
        == "no case was repeated in 1 run; run again unchanged, or evaluate with --runs 3"
    )


def originals(original: ModuleType, path: Path) -> bytes:
    """A database with two good evaluations, one that was killed and one that is damaged; its content."""
    database = original.OriginalDatabase(path)
    tasks = [original.task(f"coding_{n:03}", run=run) for n in range(1, 11) for run in (1, 2)]
    database.add("V1StGXR8_Z5jdHi6B-myT", [*tasks[:-1], original.task("coding_010", "fail", run=2, reason="wrong")])
    database.add("second", tasks, version="0.2.0", timestamp="2025-04-01T10:00:00.000Z")
    database.add("killed", tasks[:3], told=None, skill="another")
    database.add("damaged", [original.task("x", "maybe")], skill="another")
    return path.read_bytes()


@pytest.mark.requirement("ES-FLOW-007")
def test_import(program: Program, evaluate: Evaluate, work: Path, original: ModuleType) -> None:
    """Each evaluation becomes a finished run of its own date; again adds nothing; the database is only read."""
    before = originals(original, work / "eval-skills.db")
    done = program("history", "import", "eval-skills.db")
    assert done.code == 2, "one evaluation is damaged"
    assert "calculator on coding-easy, 20 results" in done.stdout
    assert "it has no complete summary" in done.stdout
    assert "'status' must be" in done.stdout
    assert done.verdict == ("imported 2 runs into ./skillgauge.db, 1 did not finish and are left out, 1 cannot be read")
    again = ImportDocument.model_validate(program("history", "import", "eval-skills.db", "--json").document)
    assert (len(again.imported), len(again.present)) == (0, 2)
    assert [(one.evaluation, one.damaged) for one in again.not_imported] == [("killed", False), ("damaged", True)]
    assert (work / "eval-skills.db").read_bytes() == before
    assert sorted(path.name for path in work.iterdir()) == ["eval-skills.db", "skillgauge.db"]
    listed = ListDocument.model_validate(program("history", "list", "--json").document)
    assert [one.run.started_at for one in listed.runs] == [1743501600.0, 1740823200.0]
    assert [one.targets[0].version for one in listed.runs] == ["0.2.0", None]
    assert all(one.run.state == "finished" for one in listed.runs)
    oldest = listed.runs[1]
    assert (oldest.counts.passed, oldest.counts.failed) == (19, 1)
    rate = oldest.groups[0].pass_rate
    assert (rate.rate, rate.n) == (pytest.approx(0.95), 10)
    assert rate.method is not None
    shown = program("history", "show", oldest.run.run_id)
    assert "wrong" in shown.stdout
    assert "Completion rate: 95.0%" in shown.stdout


@pytest.mark.requirement("ES-FLOW-007")
def test_an_imported_past_continues_into_the_present(
    program: Program, evaluate: Evaluate, work: Path, original: ModuleType
) -> None:
    """The trend of a skill goes on from what the original measured to what was measured today."""
    database = original.OriginalDatabase(work / "eval-skills.db")
    database.add("old", [original.task("one"), original.task("two", "fail")], skill="echo", benchmark="custom")
    evaluate(GOOD)
    assert program("history", "import", "eval-skills.db").code == 0
    (series,) = program("history", "trend", "echo", "--json").document["series"]
    assert [point["pass_rate"]["rate"] for point in series["points"]] == [0.5, 1.0]
    assert series["points"][1]["delta"] == 0.5


@pytest.mark.requirement("ES-EVAL-018")
def test_the_original_database_is_refused_as_a_store(
    program: Program, work: Path, evaluate: Evaluate, original: ModuleType
) -> None:
    """By name, with the command that takes it over, by running as by reading, and it is not changed."""
    before = originals(original, work / "eval-skills.db")
    evaluate(GOOD)
    for command in (
        ["eval", "--skills", "skill", "--tasks", "tasks.json"],
        ["history", "list"],
        ["history", "import", "eval-skills.db"],
    ):
        done = program(*command, "--store", "eval-skills.db")
        assert done.code == 2
        assert "belongs to eval-skills" in done.stderr
        assert "skillgauge history import" in done.stderr
        assert (work / "eval-skills.db").read_bytes() == before
        assert not list(work.glob("eval-skills.db-*"))


def test_an_import_with_nothing_damaged_is_a_success(program: Program, work: Path, original: ModuleType) -> None:
    """Evaluations that were killed are no mistake of the user's; an empty database is none either."""
    database = original.OriginalDatabase(work / "old.db")
    assert program("history", "import", "old.db").verdict == "imported 0 runs into ./skillgauge.db"
    database.add("killed", [original.task("a")], told=None)
    done = program("history", "import", "old.db", "--store", "my.db")
    assert (done.code, done.verdict) == (0, "imported 0 runs into my.db, 1 did not finish and are left out")


def test_hostile_rows(program: Program, work: Path, original: ModuleType) -> None:
    """Ids with escape sequences stay on their line; values of any type are taken over or left out, never half."""
    nasty = "\x1b[2J\n| x |\u202e"
    database = original.OriginalDatabase(work / "old.db")
    database.add(f"id{nasty}", [original.task(f"task{nasty}", "fail", reason=nasty)], skill=f"s{nasty}")
    for number, change in enumerate(("status = 7", "score = 9e999", "latency_ms = 'soon', data = '{}'", "run_id = -1")):
        database.add(f"bad{number}", [original.task("a")], skill=f"bad{number}")
        database.execute(f"UPDATE task_results SET {change} WHERE eval_id = 'bad{number}'")
    database.add("half", [original.task("a", output="\ud800")], skill="half")
    database.add("bytes", [original.task("a")], skill="bytes")
    database.execute("UPDATE task_results SET task_id = CAST(x'ff61' AS TEXT) WHERE eval_id = 'bytes'")
    done = program("history", "import", "old.db")
    assert done.code == 2
    imported = program("history", "import", "old.db", "--json").document
    assert [one["evaluation"] for one in imported["present"]] == [f"id{nasty}", "bytes"]
    assert {one["evaluation"] for one in imported["not_imported"]} == {"bad0", "bad1", "bad2", "bad3", "half"}
    outputs = [
        done,
        program("history", "list"),
        program("history", "show", "latest"),
        program("history", "trend", f"s{nasty}"),
    ]
    for output in outputs:
        assert not set(output.stdout + output.stderr) & set("\x1b\u202e")
        assert "\n| x |" not in output.stdout
    assert outputs[3].code == 0


@pytest.mark.parametrize(("name", "reason"), [("absent.db", "No such file"), ("text.db", "not an SQLite database")])
def test_files_that_cannot_be_imported(program: Program, work: Path, name: str, reason: str) -> None:
    """The file is named, and no store is made."""
    (work / "text.db").write_text("x" * 200)
    done = program("history", "import", name)
    assert done.code == 2
    assert name in done.stderr
    assert reason in done.stderr
    assert not (work / "skillgauge.db").exists()


def test_a_store_that_takes_in_no_runs(program: Program, work: Path, original: ModuleType) -> None:
    """It is said before anything is read."""
    (work / "store.py").write_text(
        """
from skillgauge.api import Frozen, Provider, Traits, hookimpl

class Options(Frozen):
    location: str

class Nothing:
    durable = False
    async def begin(self, head, *, fresh): ...
    def scan(self, query): return iter(())
    async def close(self): ...

@hookimpl
def skillgauge_stores():
    yield Provider(name="nothing", factory=lambda _options: Nothing(), summary="Keeps nothing.",
                   options=Options, traits=Traits(schemes=("nothing",)))
"""
    )
    done = program("history", "import", "absent.db", "--store", "nothing://x", "--plugin", "store.py")
    assert done.code == 2
    assert "cannot take in runs from elsewhere" in done.stderr


def test_without_a_store(program: Program) -> None:
    """`none` keeps nothing, so there is nothing to show."""
    done = program("history", "list", "--store", "none")
    assert done.code == 2
    assert "there is no store" in done.stderr
