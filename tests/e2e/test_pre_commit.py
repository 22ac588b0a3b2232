"""The hook of `.pre-commit-hooks.yaml`, run by pre-commit itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from skillgauge_testkit.program import Program

from .conftest import ROOT
from .hostile_checkout import HostileCheckout

pytestmark = pytest.mark.slow

Git = Callable[..., str]
CANNOT_FAIL = {"type": "command", "value": "true || true"}


@pytest.fixture
def git(environment: dict[str, str], work: Path) -> Git:
    """Runs git in the work folder, or in another, as somebody."""
    environment["GIT_CONFIG_GLOBAL"] = "/dev/null"
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")

    def run(*words: str, cwd: Path = work) -> str:
        command = ["git", *identity, *words]
        return subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True, text=True).stdout

    return run


def hooks(git: Git, folder: Path) -> str:
    """A repository at a folder that offers our hook, as ours does; gives its newest commit."""
    folder.mkdir()
    (folder / ".pre-commit-hooks.yaml").write_bytes((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    git("init", "-q", cwd=folder)
    git("add", "-A", cwd=folder)
    git("commit", "-qm", "hooks", cwd=folder)
    return git("rev-parse", "HEAD", cwd=folder).strip()


@pytest.fixture
def commit(git: Git, work: Path, tmp_path: Path, environment: dict[str, str]) -> Callable[..., tuple[int, str]]:
    """Write files, stage them and run the hook with the installed program; return exit code and output.

    Words are the hook's `args`, `entry` replaces its command, and further keywords are texts of files by name.
    """
    revision = hooks(git, tmp_path / "hooks")
    git("init", "-q")

    def run(*arguments: str, entry: str | None = None, **files: str) -> tuple[int, str]:
        # The program is there already, so nothing has to be fetched; a journey installs it as pre-commit would.
        hook = {"id": "skillgauge-validate", "language": "system", "args": list(arguments)}
        hook |= {"entry": entry} if entry else {}
        repos = [{"repo": str(tmp_path / "hooks"), "rev": revision, "hooks": [hook]}]
        (work / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": repos}))
        for name, text in files.items():
            path = work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git("add", "-A")
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pre_commit", "run", "--color=never"],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def suite(*checks: object) -> str:
    """An evals.json with these checks."""
    cases = [{"id": number, "prompt": f"Greet {number}.", "assertions": list(checks)} for number in range(4)]
    return json.dumps({"skill_name": "greet", "evals": cases}, indent=1)


SKILL = "---\nname: greet\ndescription: Greets. Use when asked to.\n---\nHello.\n"
GOOD = {"type": "contains", "value": "hello"}


def test_the_suites_around_what_changed_are_checked(git: Git, commit: Callable[..., tuple[int, str]]) -> None:
    """A broken suite stops the commit, with its place; one that nobody touched stops nothing."""
    files = {"skills/greet/SKILL.md": SKILL, "skills/greet/evals/evals.json": suite(GOOD)}
    code, told = commit(**files)
    assert (code, "Passed" in told) == (0, True), told

    code, told = commit(**{"skills/greet/evals/evals.json": '{"evals": [{"id": 1}]}'})
    assert code == 1
    assert "evals.json:1:12: error" in told

    git("commit", "-qm", "broken all the same")
    code, told = commit(**{"README.md": "Something else.\n"})
    assert code == 0, told
    code, told = commit(**{"skills/greet/notes.txt": "A file of the skill.\n"})
    assert code == 1, told


def test_warnings_stop_a_commit_where_they_are_to(commit: Callable[..., tuple[int, str]]) -> None:
    """Where the configuration or an entry of the user's own says so; `args` come too late for that, and are refused."""
    files = {"skills/greet/SKILL.md": SKILL, "skills/greet/evals/evals.json": suite(GOOD, CANNOT_FAIL)}
    assert commit(**files)[0] == 0
    code, told = commit("--lint=cannot-fail=error", "--strict", **files)
    assert code == 1
    assert "'--lint=cannot-fail=error' follows --around" in told
    assert "'--strict' follows --around" in told
    code, told = commit(entry="skillgauge validate --lint=cannot-fail=error --around --", **files)
    assert code == 1
    assert "lint.cannot-fail" in told
    code, told = commit(**files, **{"skillgauge.config.yaml": "lints: [cannot-fail=error]\n"})
    assert code == 1
    assert "lint.cannot-fail" in told


@pytest.mark.parametrize("line", ["the hook", "the page", "without --"])
def test_names_of_files_are_never_options(
    git: Git,
    commit: Callable[..., tuple[int, str]],
    work: Path,
    tmp_path: Path,
    environment: dict[str, str],
    line: str,
) -> None:
    """However the names of changed files begin, no file is executed and all suites around them are checked."""
    git("commit", "-q", "--allow-empty", "-m", "base")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    hostile = HostileCheckout(work, tmp_path / "trace")
    files = {"a skill/SKILL.md": SKILL, "a skill/evals/evals.json": '{"evals": [{"id": 1}]}'}
    code, told = commit(**files)
    if line != "the hook":
        page = (ROOT / "docs/ci.md").read_text()
        (shown,) = re.findall(r"^git diff .*\| xargs .*$", page, re.M)
        script = shown if line == "the page" else shown.removesuffix(" --")
        done = subprocess.run(
            ["sh", "-c", script], cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        code, told = done.returncode, done.stdout + done.stderr
    assert hostile.executed() == []
    assert code != 0
    assert "a skill/evals/evals.json:1:12: error" in told
    assert "usage." not in told


def test_nothing_around(program: Program, work: Path) -> None:
    """Files of no suite are fine, in every form of the answer; JSON follows the schema."""
    (work / "README.md").write_text("hello")
    files = ("--around", "README.md", "removed/file.txt")
    done = program("validate", *files)
    assert (done.code, done.verdict) == (0, "valid: no suite is around these files")
    document = program("validate", "--json", *files).document
    assert document["plan"]["suites"] == document["problems"] == []
    (run,) = program("validate", "--format", "sarif", *files).document["runs"]
    assert run["results"] == []


@pytest.mark.parametrize("sandbox", ["docker", "absent"])
def test_the_sandbox_of_runs_is_not_asked_for(program: Program, work: Path, tmp_path: Path, sandbox: str) -> None:
    """A job that validates may lack what runs need: nothing is started, and the document tells that there is none."""
    (work / "s").mkdir()
    (work / "s/SKILL.md").write_text("---\nname: s\ndescription: Says hello. Use when greeted.\n---\n\nSay hello.\n")
    (work / "s/eval.yaml").write_text("cases:\n  - {name: a, prompt: hello, expectations: [it greets]}\n")
    asked, folder = tmp_path / "asked", tmp_path / "bin"
    folder.mkdir()
    (folder / "docker").write_text(f"#!/bin/sh\necho started >> '{asked}'\nexit 1\n")
    (folder / "docker").chmod(0o755)
    env = {"PATH": f"{folder}:{program.environment['PATH']}", "SKILLGAUGE_SANDBOX": sandbox}
    done = program("validate", "s", env=env)
    assert (done.code, asked.exists()) == (0, False), done.stderr
    told = program("validate", "s", "--json", env=env)
    assert (told.code, told.document["sandbox"]) == (0, "none"), told.stderr
    assert asked.exists() == (sandbox == "docker")
    run = program("eval", "s", "--engine", "mock", env=env)
    assert run.code == 2
    assert f"sandbox '{sandbox}'" in run.stderr


def test_the_store_of_runs_need_not_be_installed(program: Program, work: Path) -> None:
    """It is told, since a run would end there, and no suite is the worse for it, even where warnings count."""
    (work / "s/evals").mkdir(parents=True)
    (work / "s/SKILL.md").write_text("---\nname: s\ndescription: Says hello. Use when greeted.\n---\n\nSay hello.\n")
    cases = [{"id": 1, "prompt": "hi", "assertions": ["it greets"]}]
    (work / "s/evals/evals.json").write_text(json.dumps({"skill_name": "s", "evals": cases}))
    env = {"SKILLGAUGE_STORE": "absent://place"}
    for words in ((), ("--strict", "--lint", "lint.too-few-cases=off")):
        done = program("validate", "s", *words, env=env)
        assert done.code == 0, done.stderr
        assert "warning[plugin.not-installed]: no installed store keeps runs in 'absent://place'" in done.stderr
    assert program("eval", "s", "--engine", "mock", "--dry-run", env=env).code == 2
