"""Bad files are named with file, line and column, all at once, and nothing runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

from .conftest import SKILL, MakeSkill, task

Tasks = Callable[..., Path]


def text_of(**changes: object) -> str:
    """A skill.json over several lines."""
    return json.dumps(SKILL | changes, indent=2)


BAD_SKILLS = {
    "not JSON": ('{"id": "a",\n  "name": }', "2:11", "syntax"),
    "empty": ("", "1:1", "syntax"),
    "wrong type": (text_of(tags="math"), "6:", "tags"),
    "id": (text_of(id="Not An Id"), "2:", "id"),
    "version": (text_of(version="1.0"), "4:", "version"),
    "missing key": (
        json.dumps({key: SKILL[key] for key in SKILL if key != "entrypoint"}, indent=2),
        "1:1",
        "entrypoint",
    ),
    "missing program": (text_of(entrypoint="python3 nowhere.py"), "12:", "nowhere.py"),
    "escaping path": (text_of(entrypoint="python3 ../skill.py"), "12:", "../skill.py"),
    "schema": (text_of(inputSchema={"type": 5}), "", "inputSchema"),
    "duplicate key": (text_of().replace('"name"', '"id"'), "3:3", "id"),
    "NUL": ('{"id": "a\x00"}', "1:", ""),
    "deep nesting": ("[" * 100_000, "1:", "deep"),
    "not UTF-8": (b'{"id": "\xff"}', "1:", "UTF-8"),
    "adapter absent": (
        text_of(adapterType="grpc", entrypoint="x"),
        "11:",
        "publishes none of that name",
    ),
}


@pytest.mark.e2e
@pytest.mark.requirement("ES-SKILL-001", "ES-SKILL-002", "ES-SKILL-003", "ES-SKILL-004", "ES-SKILL-005")
@pytest.mark.parametrize("kind", BAD_SKILLS)
def test_a_bad_skill_is_named_with_its_place(program: Program, work: Path, make_skill: MakeSkill, kind: str) -> None:
    """Each way a skill.json can be wrong ends with exit 2, the place, the reason, and no traceback."""
    content, place, word = BAD_SKILLS[kind]
    path = make_skill()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for arguments in (["eval", "--skills", path], ["validate", path]):
        done = program(*arguments)
        assert done.code == 2, done.stdout + done.stderr
        assert f"{path}:{place}" in done.stderr or (not place and f"{path}:" in done.stderr), done.stderr
        assert word in done.stderr
        assert "Traceback" not in done.stderr
    assert not (work / "skillgauge.db").exists()
    assert not (work / "reports").exists()


@pytest.mark.e2e
def test_all_problems_of_all_files_come_at_once(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """Two bad skills and a bad task file: one answer lists every problem."""
    one = make_skill(folder="one", version="x", tags=1)
    two = make_skill(folder="two", id="Bad Id")
    broken = [
        task("same", "x"),
        task("same", "y"),
        {"id": "no-value", "inputData": {}, "expectedOutput": {"type": "exact"}},
    ]
    file = tasks(*broken)
    done = program("eval", "--skills", one, two, "--tasks", file, "--json")
    assert done.code == 2
    problems = done.document["problems"]
    assert {Path(problem["file"]).name for problem in problems} == {"skill.json", "tasks.json"}
    assert {problem["file"] for problem in problems} >= {str(one), str(two)}
    messages = " ".join(problem["message"] for problem in problems)
    for word in ("version", "tags", "same", "no-value"):
        assert word in messages
    assert all(problem["line"] for problem in problems)


@pytest.mark.e2e
def test_bom_and_crlf_are_accepted(program: Program, make_skill: MakeSkill) -> None:
    """Files as Windows editors write them are read."""
    path = make_skill()
    path.write_bytes(b"\xef\xbb\xbf" + text_of().replace("\n", "\r\n").encode())
    assert program("validate", path).code == 0


@pytest.mark.e2e
@pytest.mark.slow
def test_one_bad_skill_beside_fifty_good_ones(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """In a searched folder the good ones run, the bad one is listed, and the exit code is 2 in the end."""
    for number in range(50):
        make_skill(folder=f"skills/s{number:02}")
    bad = make_skill(folder="skills/bad")
    bad.write_text('{"id": ')
    done = program("eval", "--skills", work / "skills", "--tasks", tasks(task("t", "x")), "--json")
    assert done.code == 2
    assert done.document["summary"]["counts"] == {
        "total": 50,
        "passed": 50,
        "failed": 0,
        "errors": 0,
        "skipped": 0,
        "timeouts": 0,
        "broken": 0,
        "retried": 0,
    }
    assert f"{bad}:1:" in done.stderr
    assert [problem["file"] for problem in done.document["problems"]] == [str(bad)]
    named = program("eval", "--skills", bad, work / "skills" / "s01", "--tasks", work / "tasks.json")
    assert named.code == 2
    assert "passed" not in named.stderr


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("concurency: 3\n", ["1:1", "did you mean concurrency"]),
        ("concurrency: many\n", ["concurrency must be a whole number"]),
        ("concurrency: [\n", ["skillgauge.config.yaml:"]),
        ("a: &a [x, x]\nb: &b [*a, *a]\nruns: 1\nruns: 2\n", ["runs"]),
        (
            "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
            + "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(8)),
            ["skillgauge.config.yaml:", "alias"],
        ),
    ],
)
def test_bad_configuration_is_named_with_its_place(program: Program, work: Path, text: str, words: list[str]) -> None:
    """An unknown key, a wrong type, broken YAML, a doubled key and an alias bomb are refused with their place."""
    (work / "skillgauge.config.yaml").write_text(text)
    done = program("config", "list")
    assert done.code == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--timeout", "soon"], "30s, 2m or 500ms"),
        (["--min-completion", "abc"], "--min-completion"),
        (["--min-completion", "1.5"], "--min-completion"),
        (["--concurrency", "0"], "--concurrency"),
        (["--format", "xml"], "publishes none of that name"),
        (["--sandbox", "jail"], "publishes none of that name"),
        (["--store", "mysql://127.0.0.1/x"], "publishes none of that name"),
        (["--evaluator", "acme"], "publishes none of that name"),
        (["--set", "scorers.exact.case_sensitiv=true"], "case_sensitive"),
        (["--set", "nonsense"], "--set"),
        (["--suite-format", "acme"], "acme"),
        (["nowhere/skill.json"], "does not exist"),
    ],
)
def test_bad_arguments_run_nothing(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks, arguments: list[str], word: str
) -> None:
    """A wrong option, or one that names what is not installed, ends with exit 2 and says what to do."""
    benchmark = [] if "--benchmark" in arguments else ["--tasks", tasks({**task("t", "x")})]
    done = program("eval", "--skills", make_skill(), *benchmark, *arguments)
    assert done.code == 2, done.stderr
    assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert not (work / "reports").exists()


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("command", [("plugins", "list", "--json"), ("schema", "record"), ("--help",)])
def test_a_reader_that_stops_reading_is_no_error(work: Path, command: tuple[str, ...]) -> None:
    """As `head` does: nothing is said, and the exit code is 0."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "skillgauge", *command], cwd=work, stdout=gone, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.e2e
@pytest.mark.parametrize("command", [("eval",), ("validate",), ("report", "show")], ids=" ".join)
@pytest.mark.parametrize("word", ["x" * 300, f"./{'x' * 300}", "a\udcff"], ids=["word", "path", "bytes"])
def test_a_name_that_no_file_can_have(program: Program, command: tuple[str, ...], word: str) -> None:
    """F-8: it is not there, as any other that is not there."""
    done = program(*command, word)
    assert done.code == 2, done.stderr
    assert "internal error" not in done.stderr
    assert "next:" in done.stderr or "does not exist" in done.stderr


SCORER = """
from pydantic import BaseModel
from skillgauge.api import *

class Options(BaseModel, extra="forbid"):
    phrases: tuple[str, ...] = ()

class Brief:
    version = "1"

    def __init__(self, options):
        pass

    async def score(self, context):
        return Score.passed()

@hookimpl
def skillgauge_scorers():
    yield Provider(name="brief", factory=Brief, options=Options, summary="Is brief.")
"""


def test_a_scorer_that_does_not_take_what_tasks_expect(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """R3-M7: the message says at the task's line which options the private scorer takes."""
    (work / "brief.py").write_text(SCORER)
    command = ("eval", "--skills", make_skill(), "--tasks", tasks(task("a", "x", "x")), "--plugin", "brief.py")
    done = program(*command, "--evaluator", "brief")
    assert done.code == 2
    assert "scorers.brief.value: unknown option; it takes phrases" in done.stderr, done.stderr
