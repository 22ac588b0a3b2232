"""Names, ids, types and answers of others act on no terminal and on no runner of CI, whichever command shows them."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Done, Program

from .conftest import MakeSkill, task

Tasks = Callable[..., Path]

HOSTILE = "\x1b]0;PWN\x07\x1b[2J\x9b31m\rX\u202e\n::error file=a::PWN\n##[error]PWN"
"""A title, a cleared screen, a colour, a line begun anew, text turned around, and commands of two ages of CI."""
AS_A_NAME = HOSTILE.replace("/", "")


def acts(text: str) -> list[str]:
    """What of a text a terminal or a runner of CI would obey."""
    controls = [repr(one) for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs") and one not in "\n\t"]
    commands = [line for line in text.split("\n") if line.strip().startswith("::") or re.search(r"##\w*\[", line)]
    return controls + commands


def harmless(done: Done) -> Done:
    """What was printed, none of which acts, and which shows that something was taken out."""
    assert acts(done.stdout) == []
    assert acts(done.stderr) == []
    assert "PWN" in done.stdout + done.stderr, "the test shows nothing if the text is not printed"
    assert "Traceback" not in done.stderr
    return done


def test_the_search_finds_what_acts() -> None:
    """What these tests look for is found in the text that they use."""
    assert len(acts(HOSTILE)) == 8
    assert acts("a::b\n\tc ## [d]") == []


@pytest.mark.e2e
@pytest.mark.parametrize("flag", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize(
    "command", [["validate"], ["eval", "--dry-run", "--skills"], ["eval", "--skills"]], ids=" ".join
)
def test_an_adapter_that_is_not_installed(
    program: Program, make_skill: MakeSkill, command: list[str], flag: list[str]
) -> None:
    """The type of an adapter is told in a message about bad input (T-S12)."""
    done = harmless(program(*command, make_skill(adapterType=HOSTILE), *flag))
    assert done.code == 2
    assert not flag or any("\x1b]0;PWN" in problem["message"] for problem in done.document["problems"])


@pytest.mark.e2e
@pytest.mark.parametrize("flag", [[], ["--json"]], ids=["text", "json"])
def test_the_name_of_a_folder(program: Program, make_skill: MakeSkill, work: Path, flag: list[str]) -> None:
    """A path is told with every problem of its file (T-S12), and lines in it look like nobody's message."""
    folder = f"{AS_A_NAME}\nerror[fake.code]: nothing"
    make_skill(folder=f"skills/{folder}", id="Not An Id")
    done = harmless(program("validate", work / "skills", *flag))
    assert done.code == 2
    assert not re.search(r"^error\[fake", done.stderr, re.MULTILINE)


@pytest.mark.e2e
@pytest.mark.parametrize("flag", [[], ["--json"]], ids=["text", "json"])
def test_an_evaluator_that_is_not_known(program: Program, make_skill: MakeSkill, tasks: Tasks, flag: list[str]) -> None:
    """The type of an evaluator is told by a dry run (T-S12)."""
    file = tasks(task("one", "x", evaluator={"type": HOSTILE}))
    done = harmless(program("eval", "--skills", make_skill(), "--tasks", file, "--dry-run", *flag))
    assert done.code == 2


@pytest.mark.slow
@pytest.mark.e2e
def test_ids_and_answers_of_a_run(program: Program, make_skill: MakeSkill, tasks: Tasks, work: Path) -> None:
    """Whatever shows a run: the command that made it, its history, its reports on stdout and in files (T-M6, T-S12)."""
    hostile = "::error file=a::PWN \x9b31m\x7f\u202e ##[error]PWN"
    file = tasks(task(hostile, hostile, "something else"), task("fine", "x"))
    skill = make_skill(name=hostile, description=hostile)
    formats = ["json", "markdown", "html", "csv", "record"]
    harmless(program("eval", "--skills", skill, "--tasks", file, "--format", *formats))
    harmless(program("eval", "--skills", skill, "--tasks", file, "--json"))
    for command in (
        ["history", "show", "latest"],
        ["history", "show", "latest", "--json"],
        ["report", "show", "latest"],
        ["report", "show", "latest", "--json"],
        *(
            ["report", "convert", "--input", "latest", "--format", name]
            for name in formats
            if name not in ("html", "csv")
        ),
    ):
        harmless(program(*command))
    for path in sorted((work / "reports").iterdir()):  # a page is looked at, and no log shows it
        assert acts(path.read_text() if path.suffix != ".html" else "") == [], path


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize(
    "command",
    [
        [HOSTILE],
        ["eval", f"--{HOSTILE}"],
        ["eval", "--skills", HOSTILE],
        ["plugins", "info", "scorers", HOSTILE],
        ["report", "show", HOSTILE],
        ["schema", HOSTILE],
        ["--config", HOSTILE, "eval"],
    ],
    ids=lambda command: " ".join("X" if HOSTILE in word else word for word in command),
)
def test_words_that_mean_nothing(program: Program, command: list[str]) -> None:
    """A script may hand on words of others; the answer repeats them."""
    assert harmless(program(*command)).code == 2


@pytest.mark.e2e
def test_keys_of_a_configuration(program: Program, work: Path) -> None:
    """An unknown key is repeated with its place."""
    (work / "skillgauge.config.yaml").write_text(json.dumps({HOSTILE: 1}))
    assert harmless(program("eval")).code == 2


@pytest.mark.e2e
def test_finding_skills(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """A table of skills holds their names."""
    make_skill(folder="skills/a", name=HOSTILE, description=HOSTILE, tags=[HOSTILE])
    for flag in ([], ["--json"]):
        harmless(program("find", "--skills-dir", work / "skills", *flag))


@pytest.mark.e2e
@pytest.mark.parametrize("encoding", ["ascii", pytest.param("latin-1", marks=pytest.mark.slow)])
def test_a_terminal_that_has_few_characters(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks, encoding: str
) -> None:
    """What it cannot show is escaped, in text and in JSON, and the run ends with its verdict (F-8)."""
    variables = {**program.environment, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    file = tasks(task("größe ✓ 🐍", "x", "y"))

    def run(*more: str) -> tuple[str, str]:
        command = [PROGRAM, "eval", "--skills", make_skill(), "--tasks", file, *more]
        done = subprocess.run(command, cwd=work, env=variables, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode(encoding), done.stderr.decode(encoding)

    assert [result["case_id"] for result in json.loads(run("--json")[0])["results"]] == ["größe ✓ 🐍"]
    stdout, stderr = run()
    assert "\\u2713 \\ud83d\\udc0d" in stdout + stderr
    assert "Traceback" not in stderr
    assert "0 of 1 passed" in stderr.splitlines()[-1]
