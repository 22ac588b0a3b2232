"""What a command says on a terminal, in a pipe, and when it is to say little."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, Scripted, letters, task

pytestmark = pytest.mark.e2e
Tasks = Callable[..., Path]


def test_quiet_is_the_verdict_alone(scripted: Scripted) -> None:
    """F-K21: nothing on stdout and one sentence on stderr, with the exit code that it has in any case."""
    gate = ("--exit-on-fail", "--min-completion", "0.9")
    done = scripted.evaluate(letters("p", case_2="f"), letters("f"), *gate, "--quiet", code=1)
    assert done.stdout == ""
    assert done.stderr.splitlines() == [done.verdict]
    assert done.verdict.startswith("gate missed")
    assert list((scripted.work / "reports").glob("run-*.record.json"))
    loud = scripted.evaluate(letters("p", case_2="f"), letters("f"), *gate, code=1)
    assert "did not pass" in loud.stdout
    assert loud.verdict == done.verdict


def test_quiet_hides_no_data(program: Program) -> None:
    """Commands that print what they were asked for print it."""
    assert program("config", "get", "concurrency", "--quiet").stdout == "4\n"
    assert program("eval", "--list", "--quiet", cwd=Path(program.work).parent).code in (2, 5)


@pytest.mark.parametrize("width", [40, 72])
def test_problems_fit_the_terminal(program: Program, make_skill: MakeSkill, tasks: Tasks, width: int) -> None:
    """F-K17: broken between words, with their next step below; what is there to be copied stays whole."""
    command = ("eval", "--skills", make_skill(), "--tasks", tasks(task("a", "x")), "--dry-run", "--check")
    plain, narrow = (program(*command, "exct", env=env).stderr for env in ({}, {"COLUMNS": str(width)}))
    assert max(map(len, plain.splitlines())) > 200
    assert max(map(len, narrow.splitlines())) <= width
    assert narrow.split() == plain.split()
    assert all(line.startswith("  ") for line in narrow.splitlines()[1:])


def test_a_command_in_a_next_step_is_not_broken(program: Program, make_skill: MakeSkill, tasks: Tasks) -> None:
    """It stands on a line of its own where it does not fit, however narrow the terminal."""
    words = ("eval", "--skills", make_skill(), "--tasks", tasks(task("a", "x")))
    done = program(*words, "--check", 'exact={"a": 1}', env={"COLUMNS": "30"})
    assert "skillgauge plugins info scorers exact" in {line.strip() for line in done.stderr.splitlines()}


@pytest.mark.slow
@pytest.mark.parametrize("command", [("--help",), ("schema", "eval"), ("eval", "--help")])
def test_a_reader_that_goes_away_is_no_error(program: Program, command: tuple[str, ...]) -> None:
    """F-8: as `| head -1`: no traceback and no message, in whichever moment it goes."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [PROGRAM, *command], cwd=program.work, env=dict(program.environment), stdout=writing, stderr=subprocess.PIPE
        )
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.slow
def test_a_reader_that_goes_away_changes_no_verdict(program: Program, make_skill: MakeSkill, tasks: Tasks) -> None:
    """The run ends as it would have: verdict on stderr, exit code of the gate."""
    skill, file = make_skill(), tasks(task("a", "x"), task("b", "x", "y"))
    reading, writing = os.pipe()
    os.close(reading)
    command = ["eval", "--skills", skill, "--tasks", file, "--exit-on-fail", "--min-completion", "1"]
    try:
        done = subprocess.run(
            [PROGRAM, *command], cwd=program.work, env=dict(program.environment), stdout=writing, stderr=subprocess.PIPE
        )
    finally:
        os.close(writing)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1].startswith("gate missed")
    assert b"Traceback" not in done.stderr


def test_cases_are_listed_without_anybody_to_run_them(scripted: Scripted) -> None:
    """F-O3: `--list` needs no engine, and every selection narrows it."""
    done = scripted.program("eval", "s", "--list")
    assert done.code == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["s", str(one)] for one in (1, 2, 3, 4)]
    assert "s/evals/evals.json:1" in done.stdout
    assert done.verdict == "listed: 4 cases of 1 suite"
    some = scripted.program("eval", "s", "--list", "-k", "2 or 3", "--json").document
    assert [one["case"] for one in some["cases"]] == ["2", "3"]
    none = scripted.program("eval", "s", "--list", "-k", "nothing")
    assert none.code == 5
    assert not (scripted.work / "skillgauge.db").exists()


def test_a_name_that_lies_a_folder_below_is_found(program: Program) -> None:
    """F-K9: `create` makes ./skills/NAME, and NAME alone is what people type next."""
    assert program("create", "--name", "adder", "--from-template", "python_script").code == 0
    done = program("eval", "adder")
    assert done.code == 2
    assert "there is no path or case called 'adder'" in done.stderr
    assert "(did you mean skills/adder?)" in done.stderr


@pytest.mark.slow
def test_a_word_that_is_neither_path_nor_case(scripted: Scripted) -> None:
    """F-11: it is told as such, with what is near of both, and nothing runs, though another word would be right."""
    scripted.write(name="sql-migrations")
    scripted.script(letters("p"), letters("p"))
    for words in (("sql-migration",), ("sql-migrations", "1", "sql-migration")):
        for more in ((), ("--list",)):
            done = scripted.run("eval", *words, *more, "--engine", "scripted", code=2)
            said = done.stderr
            assert "there is no path or case called 'sql-migration'" in said
            assert "did you mean sql-migrations" in said
    assert scripted.sessions() == []
    scripted.run("eval", "sql-migrations", "1", "--engine", "scripted", "--no-baseline")
    assert scripted.sessions() == ["with_skill 1 1"]


def test_a_word_is_told_before_what_others_do_wrong(program: Program, work: Path) -> None:
    """F-11: bad files around it do not hide that the word means nothing, and are told behind it."""
    (work / "bad").mkdir()
    (work / "bad" / "skill.json").write_text("{")
    for command in ("eval", "validate"):
        done = program(command, "sql-migration")
        assert done.code == 2
        assert "there is no path or case called 'sql-migration'" in done.stderr.splitlines()[0]
        assert "skill.json:1:2: error[document.syntax]" in done.stderr


def test_a_reporter_that_is_absent_is_no_case(scripted: Scripted) -> None:
    """P-S3: `--format json html` without the html reporter names what installs it."""
    done = scripted.run("eval", "s", "--engine", "scripted", "--format", "json", "html", "--no-plugin", "html", code=2)
    assert "reporter 'html'" in done.stderr
    assert "no case" not in done.stderr


def test_a_reporter_that_is_misspelt_is_guessed(scripted: Scripted) -> None:
    """P-S3: the last of several words after `--format` may be a path, a case or a reporter; what is near is named."""
    done = scripted.run("eval", "s", "--engine", "scripted", "--format", "json", "htm", code=2)
    assert "there is no path or case called 'htm' (did you mean html?)" in done.stderr
    far = scripted.run("eval", "s", "--engine", "scripted", "--format", "json", "sarif", code=2)
    assert "next: No report is called so either: `skillgauge plugins list --kind reporters`." in far.stderr
    alone = scripted.run("eval", "s", "--engine", "scripted", "--format", "htm", code=2)
    assert "reporter 'htm' is not installed (did you mean html?)" in alone.stderr


def test_the_time_limit_of_agents_can_be_set(scripted: Scripted) -> None:
    """F-11: by configuration, which a folder may do; direct calls have a limit of their own."""
    (scripted.work / "skillgauge.config.yaml").write_text("agentTimeoutMs: 45000\ntimeoutMs: 1000\n")
    scripted.evaluate(letters("p"), letters("p"), "--no-baseline")
    (record,) = (scripted.work / "reports").glob("run-*.record.json")
    assert json.loads(record.read_text())["plan"]["suites"][0]["timeout_s"] == 45


def test_no_benchmark_is_taken_in_silence(program: Program, make_skill: MakeSkill, work: Path) -> None:
    """F-11: whoever names none is told which is taken, and which tests of the skill are not."""
    skill = make_skill()
    benchmark = {"id": "mine", "name": "Mine", "version": "1", "tasks": [task("a", "x")]}
    (skill.parent / "tests").mkdir()
    (skill.parent / "tests" / "basic.eval.json").write_text(json.dumps(benchmark))
    done = program("eval", "echo", "--dry-run")
    assert "no benchmark is named, so the built-in 'coding-easy' is taken, and not the tests" in done.stderr
    assert "--benchmark echo/tests/basic.eval.json" in done.stderr
    for name in ("echo/tests/basic.eval.json", "coding-easy"):
        assert "no benchmark is named" not in program("eval", "echo", "--dry-run", "--benchmark", name).stderr


def test_words_choose_cases(scripted: Scripted) -> None:
    """F-O2: `-k` runs what it fits, and nothing else."""
    scripted.evaluate(letters("p"), letters("p"), "--no-baseline", "-k", "1 or 4")
    assert scripted.sessions() == ["with_skill 1 1", "with_skill 4 1"]


def test_the_first_failure_ends_a_run(scripted: Scripted) -> None:
    """F-O2: `-x` stops there, says where it stopped and why, and the same command goes on with the others."""
    failing = (letters("p", case_2="f"), letters("f"))
    done = scripted.evaluate(*failing, "-x", "-j", "1", code=1)
    assert done.verdict.startswith("failed: 2 (with_skill): ")
    assert "the same command resumes the run" in done.verdict
    first = scripted.sessions()
    assert "with_skill 3 1" not in first
    scripted.run("eval", "s", "--engine", "scripted", "--format", "record", "-x", "-j", "1", code=0)
    assert len(set(scripted.sessions())) == 8
    assert scripted.sessions().count("with_skill 2 1") == 1


@pytest.mark.slow
def test_a_failure_at_the_end_is_one_too(scripted: Scripted) -> None:
    """`-x` is exit code 1 wherever the failure is, and that of a mere baseline is none."""
    done = scripted.evaluate(letters("p", case_4="f"), letters("f"), "-x", "-j", "1", code=1)
    assert done.verdict.startswith("failed: 4 (with_skill)")
    scripted.evaluate(letters("p"), letters("f"), "-x", "--fresh", code=0)


def test_an_error_ends_a_run(scripted: Scripted) -> None:
    """It is none of the skill's failures, so the exit code is another one."""
    done = scripted.evaluate(letters("p", case_1="e"), letters("p"), "--fail-fast", "-j", "1", "--retries", "0", code=3)
    assert done.verdict.startswith("error: 1 (with_skill)")


@pytest.mark.slow
def test_the_last_failed_cases(scripted: Scripted) -> None:
    """F-O2: what failed with the skill is run again, what failed without it is not; all where nothing failed."""
    scripted.evaluate(letters("p", case_2="f", case_4="e"), letters("f"), "--retries", "0")
    done = scripted.evaluate(letters("p"), letters("f"), "--last-failed")
    assert scripted.sessions() == sorted(
        f"{arm} {case} 1" for arm in ("with_skill", "without_skill") for case in (2, 4)
    )
    assert "--last-failed: 2 cases that did not pass in run " in done.stderr
    scripted.evaluate(letters("p", case_1="f"), letters("f"), "-k", "1")
    scripted.evaluate(letters("p"), letters("f"), "-k", "3")
    scripted.evaluate(letters("p"), letters("f"), "--last-failed", "--no-baseline")
    assert scripted.sessions() == ["with_skill 1 1"]
    done = scripted.evaluate(letters("p"), letters("f"), "--last-failed", "--no-baseline")
    assert "nothing failed in run" in done.stderr
    assert len(scripted.sessions()) == 4


def test_without_an_earlier_run_all_are_run(scripted: Scripted) -> None:
    """Neither option is an error on a fresh clone."""
    for option in ("--last-failed", "--changed"):
        done = scripted.evaluate(letters("p"), letters("p"), "--no-baseline", option, "--store", f"{option[2:]}.db")
        assert "no earlier run of this is stored" in done.stderr
        assert len(scripted.sessions()) == 4


@pytest.mark.slow
def test_changed_cases(scripted: Scripted) -> None:
    """F-O2: a case that asks something else, a skill that says something else, a case without a verdict; else none."""
    scripted.evaluate(letters("p", case_3="f"), letters("p"))
    done = scripted.evaluate(letters("p"), letters("p"), "--changed")
    assert scripted.sessions() == []
    assert done.verdict == "done: nothing has changed, so nothing was run"
    file = scripted.work / "s/evals/evals.json"
    file.write_text(file.read_text().replace("number 2", "another number"))
    done = scripted.evaluate(letters("p"), letters("p"), "--changed")
    assert scripted.sessions() == ["with_skill 2 1", "without_skill 2 1"]
    assert "--changed: 1 case since run " in done.stderr
    scripted.evaluate(letters("p"), letters("p"), "--changed")
    assert scripted.sessions() == []  # the last run was of one case, and an older one tells of the others
    scripted.write(says="something else")
    scripted.evaluate(letters("p"), letters("p"), "--changed")
    assert len([one for one in scripted.sessions() if one.startswith("with_skill")]) == 4


def test_alike_problems_are_folded(scripted: Scripted) -> None:
    """Of one kind in one file the first twenty and the number of the others; the document has all (R3-V2)."""
    file = scripted.work / "s/evals/evals.json"
    check = {"text": "ok", "type": "command", "value": "test -f a || true"}
    evals = [{"id": number, "prompt": f"number {number}", "assertions": [check]} for number in range(1, 31)]
    file.write_text(json.dumps({"skill_name": "s", "evals": evals}))
    done = scripted.program("validate", "s")
    assert done.stderr.count("cannot fail: it ends with") == 20
    assert f"warning[lint.cannot-fail]: 10 more in {file}; --json has all" in done.stderr
    assert done.verdict == "valid: 1 suite, 30 cases, 31 warnings"
    listed = scripted.program("validate", "s", "--json").document["problems"]
    assert len([problem for problem in listed if problem["code"] == "lint.cannot-fail"]) == 30


def test_short_forms(scripted: Scripted) -> None:
    """F-O2: `-n` repeats, `-j` is how many at once."""
    scripted.evaluate(letters("pp"), letters("pp"), "-n", "2", "-j", "2", "--no-baseline", "-k", "1")
    assert scripted.sessions() == ["with_skill 1 1", "with_skill 1 2"]
    document = scripted.program("eval", "s", "--list", "--json").document
    assert json.dumps(document).count('"suite": "s"') == 4


def test_kinds_in_either_number(program: Program) -> None:
    """F-D3: the singular is understood, and what is no kind is refused."""
    plural, singular = (program("plugins", "list", "--kind", kind) for kind in ("engines", "engine"))
    assert plural.stdout == singular.stdout
    assert "claude-code" in plural.stdout
    assert program("plugins", "list", "--kind", "foo").code == 2


def test_help_is_in_groups_with_examples(program: Program) -> None:
    """F-O9: what belongs together stands together, under a title, and examples show how it is written."""
    lines = program("eval", "--help", "--all").stdout.splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles[0] == "What to evaluate:"
    assert titles[-3:] == ["Format-specific options:", "On every command:", "Examples:"]
    assert any(line.startswith("  skillgauge eval my-skill --list") for line in lines)
    gates = lines[lines.index("Gates:") : lines.index("Isolation:")]
    assert any("--min-delta-pts" in line for line in gates)


def test_help_begins_with_what_most_need(program: Program) -> None:
    """Options of single formats, and those of every command, come with `--help --all`, on either side."""
    short = program("eval", "--help").stdout
    assert len(short.splitlines()) <= 104, "two screens"
    hidden = ("--benchmark", "--log-json", "Format-specific options:", "On every command:")
    assert not [words for words in hidden if words in short]
    more = (
        "skillgauge eval --help --all also lists the options of single formats and the options that every command has."
    )
    assert more in " ".join(short.split())
    for asked in (("--help", "--all"), ("--all", "-h")):
        told = program("eval", *asked).stdout
        assert not [words for words in hidden if words not in told]
    assert "--log-json" in program("--help").stdout
    assert "No such option '--all'" in program("eval", "--all").stderr


@pytest.mark.parametrize("command", ["history", "history list", "cache gc", "plugins", "config set", "report diff"])
def test_every_help_keeps_what_it_says_of_all(program: Program, command: str) -> None:
    """Groups and commands of plugins too, and a command that has an option `--all` of its own."""
    short = " ".join(program(*command.split(), "--help").stdout.split())
    assert f"skillgauge {command} --help --all also lists the options that every command has." in short
    told = program(*command.split(), "--help", "--all")
    assert (told.code, "--log-json" in told.stdout) == (0, True)
    assert "also lists" not in told.stdout


def test_a_command_that_is_left_out(program: Program) -> None:
    """`--no-plugin` takes the command along, whichever side it stands on; help does not name it."""
    assert "there is no command 'history'" in program("--no-plugin", "history", "history", "list").stderr
    after = program("history", "list", "--no-plugin", "skillgauge-command-history")
    assert after.code == 2
    assert "left out by --no-plugin" in after.stderr
    assert "  history " in program("--help").stdout
    assert "  history " not in program("--no-plugin", "history", "--help").stdout


def test_options_of_formats_stay_with_their_formats(program: Program) -> None:
    """What one command learns of formats is in no other one that comes later in the same process."""
    first = program("eval", "--help", "--all").stdout
    assert "--benchmark" in first
    assert program("eval", "--help", "--all").stdout == first
    assert program("validate", "--help", "--all").stdout.count("--benchmark ") == 1


def test_a_shell_completes_names_of_plugins(program: Program, work: Path) -> None:
    """F-O8: one command installs it, and it knows what is installed."""
    done = program("completion", "bash", "--install")
    assert done.code == 0, done.stderr
    (script,) = Path(program.environment["HOME"]).rglob("bash-completion/completions/skillgauge")
    assert "_SKILLGAUGE_COMPLETE=bash_complete" in script.read_text()
    asked = {"_SKILLGAUGE_COMPLETE": "bash_complete", "COMP_CWORD": "3"}
    for words, name in (
        ("eval --engine cla", "claude-code"),
        ("eval --format htm", "html"),
        ("eval --judge moc", "mock"),
    ):
        told = program("anything", env=asked | {"COMP_WORDS": f"skillgauge {words}"})
        assert (told.code, told.stderr) == (0, "")
        assert f"plain,{name}" in told.stdout.splitlines()
    assert program("completion", env={"SHELL": "/bin/tcsh"}).code == 2


@pytest.mark.slow
def test_a_page_is_opened(scripted: Scripted) -> None:
    """F-O1: `--open` shows the HTML report, which is written although other formats are named."""
    browser = scripted.work / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > opened\n')
    browser.chmod(0o700)
    scripted.script(letters("p"), letters("f"))
    command = ("eval", "s", "--engine", "scripted", *scripted.options, "--format", "record", "--open")
    done = scripted.program.process(*command, env={"BROWSER": f"{browser} %s"})
    assert done.code == 0, done.stderr
    opened = (scripted.work / "opened").read_text().strip()
    assert opened.startswith("file://")
    assert Path(opened.removeprefix("file://")).read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_verbose_is_for_people_and_log_json_for_programs(scripted: Scripted) -> None:
    """P-M1: what every trial comes to, in words; or every event as JSON."""
    done = scripted.evaluate(letters("p"), letters("p", case_3="f"), "-v")
    assert "3 (without_skill) fail in " in done.stderr
    assert "4 (with_skill) begins" in done.stderr
    assert '{"event"' not in done.stderr
    logged = scripted.run("eval", "s", "--engine", "scripted", "--log-json", "--quiet", "--fresh")
    assert logged.stderr.splitlines() == [logged.verdict]
    logged = scripted.run("eval", "s", "--engine", "scripted", "--log-json", "--fresh")
    events = [json.loads(line) for line in logged.stderr.splitlines() if line.startswith("{")]
    assert [one["event"] for one in events].count("trial.finished") == 8
    assert "begins" not in logged.stderr


def on_a_terminal(program: Program, width: int, *command: str, **variables: str) -> str:
    """What a terminal of a width gets to see."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in program.environment.items() if name != "CI"}
    environment |= {"TERM": "xterm-256color", **variables}
    running = subprocess.Popen(
        [PROGRAM, *command], cwd=program.work, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    told = b""
    with suppress(OSError):  # which is how a terminal says that nobody writes to it any more
        while part := os.read(ours, 65536):
            told += part
    os.close(ours)
    running.wait()
    return told.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_tables_fit_the_terminal(program: Program, width: int) -> None:
    """F-K17: no line of `plugins list` is wider than the terminal."""
    lines = on_a_terminal(program, width, "plugins", "list").splitlines()
    assert any("eval-skills" in line for line in lines)
    assert max(map(len, lines)) <= width


@pytest.mark.slow
def test_colours_have_a_meaning_and_can_be_left_out(scripted: Scripted) -> None:
    """F-K18: red is wrong and green is right; NO_COLOR, --no-color and dumb terminals get none."""
    command = ("eval", "s", "--engine", "scripted", *scripted.options, "--exit-on-fail", "--min-completion", "0.9")
    scripted.script(letters("p"), letters("f"))
    assert "\x1b[32mgate met" in on_a_terminal(scripted.program, 80, *command)
    scripted.script(letters("f"), letters("f"))
    failed = on_a_terminal(scripted.program, 80, *command)
    assert "\x1b[31mgate missed" in failed
    assert "\x1b[31mdid not pass" in failed
    for more, variables in (((), {"NO_COLOR": "1"}), (("--no-color",), {}), ((), {"TERM": "dumb"})):
        plain = on_a_terminal(scripted.program, 80, *command, "--fresh", *more, **variables)
        assert "gate missed" in plain
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain)


@pytest.mark.slow
def test_the_verdict_is_the_last_line_of_a_terminal(scripted: Scripted) -> None:
    """Whatever the live display showed is gone, and the sentence that counts is at the end."""
    scripted.script(letters("p"), letters("f"))
    told = on_a_terminal(scripted.program, 60, "eval", "s", "--engine", "scripted", *scripted.options, "--no-color")
    assert "0/8 trials" in told
    assert "done: " in told.strip().splitlines()[-1] or "4 of 4 passed" in told.strip().splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 80])
def test_the_verdict_is_broken_at_words(scripted: Scripted, width: int) -> None:
    """R3-F12: on a terminal; a pipe gets one line, whatever `COLUMNS` says."""
    command = ("eval", "s", "--engine", "scripted", "--runs", "3", *scripted.options)
    scripted.script(letters("p"), letters("f"))
    piped = scripted.program(*command, env={"COLUMNS": str(width)}).verdict
    assert piped.startswith("done: s · with_skill helps on these cases: ")
    shown = on_a_terminal(scripted.program, width, *command, "--no-color", "--fresh")
    lines = shown[shown.rindex("done: ") :].splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(line.strip() for line in lines) == piped


def test_a_command_that_is_in_a_group_elsewhere(program: Program) -> None:
    """Whoever types a line of another program gets the line that does it here, and only where there is one."""
    done = program("skills", "eval", "my skill", "--agent", "codex")
    assert done.code == 2
    assert "there is no command 'skills'; here it is: skillgauge eval 'my skill' --agent codex" in done.stderr
    assert "here it is" not in program("skills", "improve", "eval").stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [(("evl",), "eval"), (("plugins", "lst"), "list"), (("histroy",), "history"), (("config", "gett"), "get")],
)
def test_a_command_that_is_misspelt(program: Program, words: tuple[str, ...], near: str) -> None:
    """F-K7: the message names what was probably meant."""
    done = program(*words)
    assert done.code == 2
    assert f"there is no command {words[-1]!r} (did you mean {near}" in done.stderr


def test_a_command_that_is_inside_a_group(program: Program) -> None:
    """The message names the groups that have it."""
    told = program("show").stderr
    assert "there is no command 'show' (did you mean" in told
    assert "report show" in told


def test_two_reports_are_no_suites(program: Program, work: Path) -> None:
    """`eval diff A B` is answered with the command that was meant, and with no complaint about the reports."""
    for name in ("a.json", "b.json"):
        (work / name).write_text('{"summary": {}}')
    refused = program("eval", "diff", "a.json", "b.json")
    assert refused.code == 2
    assert "To compare two reports: skillgauge report diff A B." in refused.stderr
    assert refused.stderr.count("error[") == 1


@pytest.mark.parametrize(
    ("words", "time"),
    [
        (("--timeout", "5", "minutes"), "--timeout 5m"),
        (("--timeout=90", "sec"), "--timeout 90s"),
        (("--timeout", "1.5", "hours"), "--timeout 90m"),
        (("--timeout", "5 minutes"), "Write 5m"),
        (("--timeout", "2h"), "Write 120m"),
    ],
)
def test_a_time_of_two_words(program: Program, words: tuple[str, ...], time: str) -> None:
    """The one word that was meant is told, not that there is no case of the unit's name."""
    refused = program("eval", *words)
    assert (refused.code, time in refused.stderr) == (2, True)
    assert "List the cases" not in refused.stderr
    assert "List the cases" in program("eval", "minutes").stderr
    assert "List the cases" in program("eval", "--timeout", "5m", "minutes").stderr


def test_a_percentage_is_told_how_a_share_is_written(program: Program) -> None:
    """Both are natural; which one is meant can be told."""
    refused = program("eval", "--min-completion", "80")
    assert (refused.code, "80 is above 1: write 0.8 for 80 %" in refused.stderr) == (2, True)
    assert "is not in the range" in program("eval", "--min-completion", "-1").stderr
    assert "is not in the range" in program("eval", "--margin", "101").stderr


def test_lines_and_notices_keep_their_order(program: Program, work: Path, environment: dict[str, str]) -> None:
    """R3-F18: in one pipe, as in the log of a CI job, a notice stands after the line that it is about."""
    command = [PROGRAM, "config", "set", "engine", "mockk"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=work, env=environment, text=True, check=True, **streams)
    first, second = done.stdout.splitlines()
    assert first.startswith("engine = mockk in ")
    assert second.startswith("nothing called 'mockk' is installed")


def test_a_warning_of_several_files_is_one_line(program: Program, work: Path) -> None:
    """R3-F18: the same warning of four suites is printed once with its places; `validate` lists each at its own."""
    for number in range(1, 5):
        folder = work / f"s{number}/evals"
        folder.mkdir(parents=True)
        (folder.parent / "SKILL.md").write_text(f"---\nname: s{number}\ndescription: Says things.\n---\nSay GOOD.\n")
        check = {"text": "good", "type": "equals", "value": "GOOD"}
        (folder / "evals.json").write_text(json.dumps([{"query": "number", "assertions": [check]}]))
    done = program("eval", ".", "--engine", "mock", "--format", "record")
    assert done.stderr.count("warning[suite.other-name]") == 1
    line = next(line for line in done.stderr.splitlines() if line.startswith("  also: "))
    assert [place.split("/evals/")[0][-2:] for place in line.split(", ")] == ["s2", "s3", "s4"]
    assert program("validate", ".").stderr.count("warning[suite.other-name]") == 4
