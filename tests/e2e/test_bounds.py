"""What a run needs of the system is looked at before it starts, and what a closed terminal leaves."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, task

Tasks = Callable[..., Path]

WRITING = """import json, pathlib, sys
request = json.loads(sys.stdin.read())
pathlib.Path(__file__).with_name("cache.txt").write_text("made")
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": pathlib.Path(__file__).with_name("cache.txt").read_text()}))
"""
BOMBS = (
    "(((a{300}){300}){300})",
    "((((((a{1000}){1000}){1000}))))",
    "(?:(?:a+){1000}){1000}{1000}",
    "(?x) # )\n (((a{300}){300}){300})",
    "[[:a:](((a{300}){300}){300})]",
    "(" * 5000,
    "(?:hello){e<=2}(((a{300}){300}){300})",
    "x" * 3000 + "(((a{300}){300}){300})",
    r"\p{L}(((\p{L}{300}){300}){300})",
)
"""Patterns that take gigabytes, or minutes, to compile."""
SLEEPING = """import sys, time
sys.stdin.read()
print("begun", file=open({flag!r}, "w"))
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.e2e
def test_too_few_descriptors_are_told_before_anything_runs(
    work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks
) -> None:
    """With what to ask for instead, and what is allowed is used (T-M10)."""
    file = tasks(*(task(f"t{number}", "x") for number in range(60)))
    words = [PROGRAM, "eval", "--skills", make_skill(), "--tasks", file, "--store", "none"]

    def limited(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", 'ulimit -n 128; exec "$@"', "sh", *words, *more],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    refused = limited("--concurrency", "40")
    assert refused.returncode == 2
    assert "40 trials at once need 288 file descriptors, and 128 are allowed" in refused.stderr
    assert "--concurrency 13" in refused.stderr
    done = limited("--concurrency", "13", "--exit-on-fail")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.e2e
def test_what_is_allowed_is_used(work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks) -> None:
    """A low limit that may be raised is raised (T-M10)."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 512:
        pytest.skip("few file descriptors are allowed here")
    file = tasks(*(task(f"t{number}", "x") for number in range(60)))
    words = [PROGRAM, "eval", "--skills", make_skill(), "--tasks", file, "--store", "none", "--concurrency", "40"]
    line = ["sh", "-c", 'ulimit -S -n 64; exec "$@"', "sh", *words, "--exit-on-fail"]
    done = subprocess.run(line, cwd=work, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("sandbox", ["local", "bubblewrap"])
def test_a_closed_terminal_ends_a_run_as_ctrl_c_does(
    work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks, sandbox: str
) -> None:
    """No process goes on, and no workspace is left (T-M5)."""
    if sandbox == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    temporary = work / "temporary"
    temporary.mkdir()
    skill = make_skill("")
    flag = skill.parent / "begun"
    (skill.parent / "skill.py").write_text(SLEEPING.format(flag=str(flag)))
    words = [PROGRAM, "eval", "--skills", skill, "--tasks", tasks(task("a", "x")), "--sandbox", sandbox]
    process = subprocess.Popen(
        words, cwd=work, env=environment | {"TMPDIR": str(temporary)}, stderr=subprocess.PIPE, text=True
    )
    with process:
        until = time.monotonic() + 60
        while not flag.exists() and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert not list(temporary.iterdir())


@pytest.mark.e2e
@pytest.mark.parametrize("sandbox", ["local", "bubblewrap"])
def test_a_skill_may_write_beside_itself(program: Program, make_skill: MakeSkill, tasks: Tasks, sandbox: str) -> None:
    """Whichever sandbox is installed; only who is not trusted may not."""
    if sandbox == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    skill = make_skill(WRITING)
    words = ("eval", "--skills", skill, "--tasks", tasks(task("a", "x", "made")), "--store", "none", "--exit-on-fail")
    done = program(*words, "--sandbox", sandbox)
    assert done.code == 0, done.stderr
    if sandbox == "bubblewrap":
        (skill.parent / "cache.txt").unlink()
        assert program(*words, "--sandbox", sandbox, "--untrusted").code == 1
        assert not (skill.parent / "cache.txt").exists()


PEAK = """import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""Runs a command and prints its peak in KiB; a process counts as its own what the one was that it was forked from."""


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("pattern", ["(((a{300}){300}){300})", "((((((a{1000}){1000}){1000}))))"])
def test_a_pattern_that_takes_gigabytes_is_refused_by_validate(
    work: Path, environment: dict[str, str], make_skill: MakeSkill, tasks: Tasks, pattern: str
) -> None:
    """By a dry run, too, in the memory that any suite takes: what stops it is not a limit of the machine (T-S8)."""
    check = task("a", "x") | {
        "evaluator": {"type": "regex"},
        "expectedOutput": {"type": "regex", "patterns": [pattern]},
    }
    file = tasks(check)
    (work / "greet/evals").mkdir(parents=True)
    (work / "greet/SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
    asked = {"id": 1, "prompt": "Hello", "assertions": [{"text": "x", "type": "regex", "value": pattern}]}
    (work / "greet/evals/evals.json").write_text(json.dumps({"skill_name": "greet", "evals": [asked]}))
    for words in (["validate", "greet"], ["eval", "--skills", make_skill(), "--tasks", file, "--dry-run"]):
        line = ["sh", "-c", 'ulimit -v 1500000; exec "$@"', "sh", PROGRAM, *words]
        measured = subprocess.run(
            [sys.executable, "-c", PEAK, *line], cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        assert measured.returncode == 2, measured.stderr
        assert "it asks for too much" in measured.stderr
        assert int(measured.stdout.split()[-1]) < 200 * 1024


def cpu_s_of_validate(work: Path, environment: dict[str, str], pattern: str, code: int) -> float:
    """Processor time of `validate` for a suite with a pattern, with that of the processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = {"id": 1, "prompt": "Hello", "assertions": [{"text": "x", "type": "regex", "value": pattern}]}
    (work / "greet/evals/evals.json").write_text(json.dumps({"skill_name": "greet", "evals": [asked]}))
    done = subprocess.run(
        [PROGRAM, "validate", "greet"], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
@pytest.mark.e2e
def test_patterns_that_are_bombs_take_no_second_of_validate(work: Path, environment: dict[str, str]) -> None:
    """Each of the bombs, beyond what `validate` takes for a pattern that is none (T-S8)."""
    (work / "greet/evals").mkdir(parents=True)
    (work / "greet/SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
    plain_s = max(cpu_s_of_validate(work, environment, "a+", 0) for _ in range(3))
    taken_s = {pattern: cpu_s_of_validate(work, environment, pattern, 2) - plain_s for pattern in BOMBS}
    assert {pattern: seconds for pattern, seconds in taken_s.items() if seconds >= 1} == {}
