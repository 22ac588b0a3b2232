"""Other programs beside skillgauge: their pins, figures of turns, the table, and commands that did too little."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from benchmarks.peer_calls import functions, processes, services, sessions
from benchmarks.peer_installs import (
    PINS,
    SELF,
    UV,
    Pin,
    PinError,
    Tool,
    Tools,
    environment,
    has_launcher,
    install,
    install_wheels,
    read_pins,
)
from benchmarks.peer_jobs import Job, counts
from benchmarks.peer_rows import compare, dry_run, validate
from benchmarks.peer_table import BEGIN, END, Entry, Role, Row, Usage, cpu, ratio, replaced, section, table, wall
from benchmarks.peer_turns import OUTPUT, Command, WrongResultError, measured, once
from benchmarks.peers import JOBS, chosen


def entry(label: str, role: Role, *turns: tuple[float, float], reason: str = "") -> Entry:
    """Return an entry with seconds of wall and processors for each turn."""
    return Entry(label, role, tuple(Usage(*turn) for turn in turns), reason)


FLOOR = entry("bare", Role.FLOOR, (1.0, 1.0), (1.0, 1.0), (1.0, 1.0))
OURS = entry("local", Role.OURS, (2.0, 2.0), (4.0, 2.0), (10.0, 3.0), reason="it does more")
SLOW = entry("slow", Role.PEER, (9.0, 9.0), (9.0, 9.0), (9.0, 9.0))
FAST = entry("fast", Role.PEER, (3.0, 1.0), (3.0, 1.0), (30.0, 1.0))
ROW = Row("a job", (FLOOR, SLOW, OURS, FAST), {"broken": "exit code 3: no such option"}, load=0.5, others=0.02)


def test_the_pins_of_the_project_are_exact() -> None:
    """Each program has an origin and one version, but for those that another file pins."""
    pins = read_pins(PINS.read_text())
    assert pins["inspect"] == Pin("inspect", "pypi", "inspect-ai", pins["inspect"].version, "inspect")
    assert {name for name, pin in pins.items() if not pin.version} == {"claude"}
    assert SELF not in pins


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a", "no TOML"),
        ("a = 1", r"a: a table \[a\] is expected"),
        ('[a]\nfrom = "cargo"', "from: one of pypi, npm, engines, checkout"),
        ('[a]\nfrom = "pypi"', "version: needed"),
        ('[a]\nfrom = "pypi"\nversion = ">=1"', "one exact version"),
        ('[a]\nfrom = "pypi"\nversion = 1', "version: a text is expected"),
        ('[a]\nfrom = "pypi"\nversion = "1"\nverison = "2"', "verison: unknown"),
        ('[a]\nfrom = "engines"\nprogram = "a"', "package: needed"),
        ('[a]\nfrom = "checkout"\nversion = "abc"', "program: needed"),
    ],
)
def test_pins_that_cannot_be_meant(text: str, said: str) -> None:
    """What is wrong is said with the name of the entry."""
    with pytest.raises(PinError, match=said):
        read_pins(text)


def test_wheels_are_those_that_were_built_last(tmp_path: Path) -> None:
    """A wheel that was built anew under its old name is installed, and not the one of before from a cache."""
    told = []
    for answer in ("old", "new"):
        with zipfile.ZipFile(tmp_path / "told-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr("told.py", f"print({answer!r})\n")
            wheel.writestr("told-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: told\nVersion: 1.0\n")
            wheel.writestr("told-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr("told-1.0.dist-info/RECORD", "")
        folder = tmp_path / answer
        subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
        install_wheels(tmp_path, folder, "told", "--no-index")
        done = subprocess.run([folder / "bin/python", "-m", "told"], capture_output=True, text=True, check=True)
        told.append(done.stdout.strip())
    assert told == ["old", "new"]


def test_what_cannot_be_had_is_named(tmp_path: Path) -> None:
    """A checkout that nobody named, and one in which nothing was built, are absent, with what to do."""
    pin = Pin("tool", "checkout", "tool", "abc", "dist/index.js")
    assert "--checkout tool=FOLDER" in install({"tool": pin}, {}).absent["tool"]
    tools = install({"tool": pin}, {"tool": tmp_path})
    assert not tools.found
    assert "build it there" in tools.absent["tool"]
    assert f"- tool is in no row: {tools.absent['tool']}." in section([ROW], tools.absent, "Today.")


def test_quotients_are_medians_of_pairs() -> None:
    """The quotient of the medians would be another one."""
    found = ratio(FAST, OURS, wall)
    assert (found.median, found.least, found.most) == (1.5, 0.75, 3.0)
    assert FAST.wall_s / OURS.wall_s == 0.75
    assert ratio(FAST, OURS, cpu).median == 0.5


def test_the_table_compares_with_the_fastest() -> None:
    """The floor is none of the others, and each way in which skillgauge ran has a line."""
    confined = entry("confined", Role.OURS, (3.0, 4.0), (3.0, 4.0), (3.0, 4.0))
    lines = table([Row("a job", (*ROW.entries, confined), {}, 0.5, None)]).splitlines()
    assert lines[2] == (
        "| a job | bare 1/1 | slow 9/9; fast 3/1 | local 4/2 "
        "| 1.50 (0.75 to 3.00) | **0.50** (0.33 to 0.50) | 2.00 | 3 |"
    )
    assert lines[3] == '| the same | " | " | confined 3/4 | 1.00 (1.00 to 10.00) | **0.25** | 4.00 | 3 |'


def test_losses_and_failures_are_told() -> None:
    """By how much, why, and that a program was left out."""
    text = section([ROW], {}, "Today.")
    assert "- a job, local: 2.00 times the processor time of fast; it does more." in text
    assert "- a job: broken is left out: exit code 3: no such option." in text
    assert "in no row" not in text
    assert "not quiet" not in text
    busy = Row(ROW.title, ROW.entries, {}, load=9.0, others=0.5)
    assert "The machine was not quiet" in section([busy], {}, "Today.")


def test_a_floor_that_another_program_is_faster_than_is_told() -> None:
    """The greatest floor counts, and only if it is slower in each turn: then nothing that stands on it can be first."""
    deeper = entry("imports", Role.FLOOR, (6.0, 2.0), (6.0, 2.0), (60.0, 1.5))
    text = section([Row("a job", (FLOOR, deeper, OURS, FAST), {}, 0.5, None)], {}, "Today.")
    assert "bare 1/1; imports 6/2" in text
    assert "of fast; it does more; its floor (imports) alone takes 2.00 times as long and 2.00 times" in text
    undecided = entry("imports", Role.FLOOR, (6.0, 2.0), (6.0, 2.0), (30.0, 0.9))
    assert "alone takes" not in section([Row("a job", (undecided, OURS, FAST), {}, 0.5, None)], {}, "Today.")


def test_only_the_section_is_replaced() -> None:
    """It is added at the end once, and replaced from then on."""
    first = replaced("# Results\n\nText.\n", section([ROW], {}, "Monday."))
    second = replaced(f"{first}\n## After\n", section([ROW], {}, "Tuesday."))
    assert second.startswith("# Results\n\nText.\n\n")
    assert second.endswith("\n## After\n")
    assert "Monday" not in second
    assert second.count(BEGIN) == second.count(END) == 1
    with pytest.raises(ValueError, match="marks"):
        replaced(f"{END}\n{BEGIN}", "new")


SPENDING = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass"


def accept(_work: Path) -> None:
    """Find nothing wrong."""


def refuse(work: Path) -> None:
    """Find a result wrong that was printed."""
    raise WrongResultError(f"{(work / OUTPUT).read_text().strip()} of 3 cases")


def test_processor_time_is_that_of_all_processes() -> None:
    """A program that has the work done by another one takes what that takes."""
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SPENDING!r}], check=True)"
    usage = once(Command("a", Role.FLOOR, [sys.executable, "-c", script], accept))
    assert usage.cpu_s >= 0.2


def test_what_failed_counts_for_nothing() -> None:
    """An exit code and a result that is too small are both told; the others are measured as if it were not there."""
    commands = [
        Command("bad", Role.PEER, [sys.executable, "-c", "import sys; sys.exit('no key')"], accept),
        Command("little", Role.PEER, [sys.executable, "-c", "print(2)"], refuse),
        Command("gone", Role.PEER, ["/no/such/program"], accept),
        Command("good", Role.OURS, [sys.executable, "-c", "pass"], accept),
    ]
    row = measured("a job", commands, turns=2)
    assert [(one.label, len(one.turns)) for one in row.entries] == [("good", 2)]
    assert row.failures == {
        "bad": "exit code 1: no key",
        "little": "2 of 3 cases",
        "gone": "it could not be started: No such file or directory",
    }


def test_wheels_without_a_launcher_are_told_from_those_with_one(tmp_path: Path) -> None:
    """Only the compiled program counts, not the sources that every wheel has."""
    folder = tmp_path / "lib/python3.11/site-packages/skillgauge_sandbox_bubblewrap/native"
    folder.mkdir(parents=True)
    (folder / "launcher.c").touch()
    assert not has_launcher(tmp_path)
    (folder / "launcher").touch()
    assert has_launcher(tmp_path)


def test_programs_see_nothing_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are made up, and only peers are kept from the network by variables."""
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-user")
    monkeypatch.setenv("HTTPS_PROXY", "http://of.the.user:3128")
    seen = environment(tmp_path, peer=True)
    assert "of-the-user" not in seen.values()
    assert seen["HTTPS_PROXY"] == seen["https_proxy"] == "http://127.0.0.1:9"
    assert not [name for name in environment(tmp_path, peer=False) if "proxy" in name.lower()]


def test_rows_have_names() -> None:
    """Some of them can be asked for; a name that is unknown is refused with those that there are."""
    assert chosen([]) == list(JOBS)
    assert [job.name for job in chosen(["validate-500"])] == ["validate-500"]
    with pytest.raises(SystemExit, match=r"validate-5: unknown; the rows are .*validate-500"):
        chosen(["validate-5"])


def test_what_did_too_little_is_refused(tmp_path: Path) -> None:
    """A result that is not there, is none, or is of fewer cases, is told with the file."""
    check = counts("out-*.json", 3, lambda document: len(document["cases"]))
    with pytest.raises(WrongResultError, match=r"there is no out-\*\.json"):
        check(tmp_path)
    for text, message in (('{"cases": [1, 2]}', "2 of 3"), ("{}", "no result: KeyError"), ("[", "no result: JSON")):
        (tmp_path / "out-1.json").write_text(text)
        with pytest.raises(WrongResultError, match=message):
            check(tmp_path)
    (tmp_path / "out-1.json").write_text('{"cases": [1, 2, 3]}')
    check(tmp_path)


ENVIRONMENT = Path(sys.executable).parent
HERE = Tools(
    {
        SELF: Tool("here", (str(ENVIRONMENT / "skillgauge"),), sys.executable),
        "skillevaluation": Tool("here", (str(ENVIRONMENT / "skillevaluation"),), sys.executable),
    }
)
SMALL = (
    dry_run(3),
    validate(3),
    services(3, 2),
    processes(3, 2),
    functions(3),
    sessions(3),
    compare(3, validators=False),
    compare(3, validators=True),
)
"""Rows that the environment of the project can run, with few cases."""


@pytest.mark.slow
@pytest.mark.parametrize("job", SMALL, ids=[job.name for job in SMALL])
def test_programs_of_a_row_do_all_of_it(job: Job, tmp_path: Path) -> None:
    """Each command ends well, and its check finds all cases."""
    with job.commands(HERE, tmp_path) as commands:
        assert {Role.FLOOR, Role.OURS} <= {command.role for command in commands}
        for command in commands:
            if command.label != "bubblewrap":  # which is not everywhere
                assert once(command).cpu_s > 0
