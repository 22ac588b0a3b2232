"""`skillgauge test` on real packages, whose commands really run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from skillgauge_command_test.command import schemas
from skillgauge_testkit.program import Done, Program

SKILL, HOOKS, QUALITY = (f"@sample/word-tools {one}" for one in ("skill:word-count", "hooks", "package"))
PASSED = {
    SKILL: ["counts-a-file", "counts-standard-input", "missing-file-exits-four", "sees-its-environment"],
    HOOKS: ["refuses-generated-file", "allows-source-file", "refuses-deleting"],
    QUALITY: ["compiles"],
}


def test_the_schema_is_one() -> None:
    """Looked at once, for it takes longer than all documents of the tests below."""
    jsonschema.Draft202012Validator.check_schema(schemas()["test"])


def verdicts(done: Done, code: int = 0) -> dict[str, dict[str, str]]:
    """Verdict by suite and case; the document is what its schema says and agrees with the process."""
    assert done.code == code, done.stderr
    document = done.document
    jsonschema.Draft202012Validator(schemas()["test"]).validate(document)
    assert (document["exit_code"], document["verdict"]) == (done.code, done.verdict)
    found: dict[str, dict[str, str]] = {}
    for case in document["cases"]:
        found.setdefault(case["suite"], {})[case["case"]] = case["verdict"]
    return found


def change(package: Path, path: str, old: str, new: str) -> None:
    """Replace a text in a file."""
    file = package / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.slow
@pytest.mark.requirement("UA-LAYOUT-004", "UA-LAYOUT-009", "UA-TIER-001", "UA-TIER-002", "UA-TIER-003")
def test_a_package_is_tested_as_a_whole(program: Program, package: Path) -> None:
    """Skills, hooks and the package itself; what needs a model is skipped, and nothing in the package changes."""
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    found = verdicts(program("test", package, "--json"))
    assert found == {
        SKILL: dict.fromkeys(PASSED[SKILL], "pass"),
        HOOKS: {**dict.fromkeys(PASSED[HOOKS], "pass"), "prompt-is-skipped": "skipped"},
        QUALITY: {"compiles": "pass"},
    }
    assert {path: path.read_bytes() for path in package.rglob("*") if path.is_file()} == before
    assert [path.name for path in program.work.iterdir()] == ["word-tools"]  # no store, no report unasked


@pytest.mark.slow
def test_what_people_read(program: Program, package: Path) -> None:
    """A line a case below its suite, the reason of a skipped one, and a verdict."""
    done = program("test", cwd=package)
    assert done.code == 0
    shown = [line.split(" (")[0] for line in done.stdout.splitlines()]
    assert shown[:2] == [SKILL, "  PASS counts-a-file"]
    assert shown[5:11] == [
        HOOKS,
        *(f"  PASS {name}" for name in PASSED[HOOKS]),
        "  SKIP prompt-is-skipped",
        "       a prompt hook needs a model, and tests ask none",
    ]
    assert done.verdict == "done: 8 of 9 passed, 1 case skipped"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--skill", "word-count"], {SKILL: 4}),
        (["--skill", "word-count", "--case", "02-stdin"], {SKILL: 1}),
        (["--case", "counts-standard-input"], {SKILL: 1}),
        (["--hooks"], {HOOKS: 4}),
        (["--hooks", "--case", "03-*"], {HOOKS: 1}),
        (["--hooks", "--event", "stop"], {HOOKS: 1}),
        (["--event", "pre-tool-use"], {HOOKS: 3}),
    ],
)
def test_selection(program: Program, package: Path, options: list[str], expected: dict[str, int]) -> None:
    """By skill, by hooks, by event, by the name of a case or of its file."""
    found = verdicts(program("test", package, "--json", *options))
    assert {suite: len(cases) for suite, cases in found.items()} == expected


@pytest.mark.slow
def test_a_selection_that_fits_nothing(program: Program, package: Path) -> None:
    """A selector that matches nothing is told apart from a package without tests."""
    assert program("test", package, "--case", "no-such-*").code == 5
    assert program("test", package, "--event", "session-end").code == 5
    wrong = program("test", package, "--skill", "other")
    assert wrong.code == 2
    assert "there is no skill 'other' (there are: word-count)" in wrong.stderr
    assert program("test", package, "--skill", "word-count", "--hooks").code == 2


def test_a_package_without_tests(program: Program, work: Path) -> None:
    """It has nothing that could fail, which is said."""
    (work / "package.agent.json").write_text('{"name": "bare", "version": "1.0.0"}')
    done = program("test", "--json")
    assert verdicts(done) == {}
    assert done.verdict.startswith("done: there are no tests")


FAILURES: list[tuple[str, str, str, str, str]] = [
    (
        "skills/word-count/tests/cases/01-file.yaml",
        "words: 4",
        "words: 5",
        "stdout_json",
        "/words: expected 5 but got 4",
    ),
    ("skills/word-count/tests/cases/01-file.yaml", "[Traceback]", "[longest]", "not_contains", '"longest"'),
    (
        "skills/word-count/tests/cases/02-stdin.yaml",
        "exit-code: 0",
        "exit-code: 1",
        "exit_code",
        "Exit code 0, expected 1",
    ),
    ("skills/word-count/tests/cases/02-stdin.yaml", "longest: null", "longest: x", "stdout_json", "expected"),
    ("skills/word-count/tests/cases/02-stdin.yaml", "longest: null", "other: null", "stdout_json", "is missing"),
    ("skills/word-count/tests/cases/03-missing.yaml", "[cannot", "[Cannot", "stderr_contains", '"Cannot read'),
    ("hooks/tests/cases/02-allowed.yaml", "[refused]", "[]\n  , stdout-contains: [x]", "stdout_contains", '"x"'),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "old", "new", "check", "reason"), FAILURES, ids=[f"{one[3]}-{one[2]}" for one in FAILURES]
)
def test_each_expectation_can_fail(
    program: Program, package: Path, path: str, old: str, new: str, check: str, reason: str
) -> None:
    """Whatever is expected and is not so fails its case, by name and with what was found instead."""
    change(package, path, old, new)
    done = program("test", package, "--json")
    verdicts(done, code=1)
    (failed,) = [case for case in done.document["cases"] if case["verdict"] == "fail"]
    assert failed["checks"][check] == "failed"
    assert reason in failed["reason"]


@pytest.mark.slow
def test_a_time_limit_ends_everything_and_fails_the_case(program: Program, package: Path) -> None:
    """Also what the command left in the background."""
    change(package, "skills/word-count/tests/test-config.json", "25", "0.4")
    change(package, "skills/word-count/tests/cases/02-stdin.yaml", "python3 scripts/count.py -", "sleep 60 & wait")
    done = program("test", package, "--skill", "word-count", "--case", "02-stdin", "--json")
    verdicts(done, code=1)
    assert done.document["cases"][0]["reason"] == "timeout after 0.4 s"


@pytest.mark.slow
def test_a_hook_has_the_shorter_of_two_limits(program: Program, package: Path) -> None:
    """That of its entry holds beside that of the configuration."""
    change(package, "hooks/hooks.json", "python3 ${PACKAGE_ROOT}/hooks/scripts/generated.py", "sleep 60")
    change(package, "hooks/hooks.json", '"timeout": 10', '"timeout": 1')
    done = program("test", package, "--hooks", "--case", "02-*", "--json")
    verdicts(done, code=1)
    assert done.document["cases"][0]["reason"] == "timeout after 1 s"


def test_commands_see_a_built_environment(program: Program, package: Path) -> None:
    """No variable of the user gets through, least of all a key."""
    change(package, "skills/word-count/tests/cases/02-stdin.yaml", "python3 scripts/count.py -", "env")
    change(
        package,
        "skills/word-count/tests/cases/02-stdin.yaml",
        "stdout-json: { words: 0, longest: null }",
        "stdout-contains: [nothing]",
    )
    env = {**program.environment, "ANTHROPIC_API_KEY": "sk-made-up-key", "MINE": "private"}
    done = program("test", package, "--case", "02-stdin", "--format", "record", "--json", env=env)
    record = Path(done.document["reports"]["record"]).read_text()
    assert "PACKAGE_ROOT=" in record
    assert "made-up" not in done.stdout + record
    assert "MINE" not in record


@pytest.mark.slow
def test_cases_do_not_see_each_other(program: Program, package: Path) -> None:
    """Each has a copy of the package, which goes with it."""
    change(
        package,
        "skills/word-count/tests/cases/02-stdin.yaml",
        "python3 scripts/count.py -",
        "ls ../..; touch ../../mark",
    )
    change(
        package,
        "skills/word-count/tests/cases/02-stdin.yaml",
        "stdout-json: { words: 0, longest: null }",
        "not-contains: [mark]",
    )
    assert program("test", package, "--case", "02-stdin", "--runs", "3", "--concurrency", "1").code == 0
    assert not (package / "mark").exists()


def test_what_is_tested_does_not_see_what_is_expected_of_it(program: Program, package: Path) -> None:
    """The files of cases, of hooks too, are in no copy of the package; what lies beside them is."""
    (package / "skills/word-count/tests/cases/note.txt").write_text("beside the cases\n")
    case = {
        "name": "looks-around",
        "input": {"command": "find ../.. -path '*/tests/cases/*'"},
        "expected": {"stdout-contains": ["skills/word-count/tests/cases/note.txt"], "not-contains": [".yaml"]},
    }
    (package / "skills/word-count/tests/cases/99-looks.yaml").write_text(json.dumps(case))
    found = verdicts(program("test", package, "--skill", "word-count", "--case", "looks-around", "--json"))
    assert found == {SKILL: {"looks-around": "pass"}}


@pytest.mark.slow
def test_reports(program: Program, package: Path) -> None:
    """JUnit has a suite for each skill, and for the hooks."""
    done = program("test", package, "--format", "junit", "--output-dir", "out", "--json")
    root = ElementTree.parse(done.document["reports"]["junit"]).getroot()
    told = {suite.find("properties/property").get("value"): suite.get("tests") for suite in root}  # type: ignore[union-attr]
    assert told == {SKILL: "4", HOOKS: "4", QUALITY: "1"}


@pytest.mark.slow
def test_a_workspace_of_packages(program: Program, work: Path, package: Path) -> None:
    """Every package that its globs match is tested; each has suites of its own."""
    other = work / "other"
    other.mkdir()
    quality = {"tests": [{"name": "fails", "command": "exit 7"}]}
    (other / "package.agent.yaml").write_text(json.dumps({"name": "other", "version": "1.0.0", "quality": quality}))
    (work / "workspace.agent.json").write_text('{"packages": ["*"]}')
    found = verdicts(program("test", "--workspace", "--json"), code=1)
    assert found["other package"] == {"fails": "fail"}
    assert set(found) == {SKILL, HOOKS, QUALITY, "other package"}
    (work / "workspace.agent.json").write_text('{"packages": ["../*"]}')
    assert program("test", "--workspace").code == 2


def test_dry_run_runs_nothing(program: Program, package: Path) -> None:
    """It shows the suites and how many cases each has."""
    change(package, "skills/word-count/tests/cases/02-stdin.yaml", "python3 scripts/count.py -", "touch /tmp/never")
    done = program("test", package, "--dry-run", "--json")
    document: dict[str, Any] = done.document
    assert {suite["id"]: suite["case_count"] for suite in document["plan"]["suites"]} == {
        SKILL: 4,
        HOOKS: 4,
        QUALITY: 1,
    }


def test_one_bad_file_stops_everything(program: Program, package: Path) -> None:
    """All problems of all files are told, with their places, and nothing runs."""
    change(package, "skills/word-count/tests/cases/02-stdin.yaml", "python3 scripts/count.py -", "touch ../../../ran")
    change(package, "skills/word-count/tests/cases/01-file.yaml", "not-contains", "not_contains")
    change(package, "hooks/tests/cases/03-shell.yaml", "hook-index: 1", "hook-index: 2")
    change(package, "hooks/tests/cases/02-allowed.yaml", "fixtures/write.json", "../../package.agent.json")
    done = program("test", package)
    assert done.code == 2
    assert (
        "01-file.yaml:9:3: error[suite.unknown-key]: unknown key 'not_contains' (did you mean not-contains"
        in done.stderr
    )
    assert "03-shell.yaml:3:1: error[suite.no-such-hook]: hook-index 2 is out of range" in done.stderr
    assert "02-allowed.yaml:3:10: error[suite.value]: 'fixture' must not lead out of its folder" in done.stderr
    assert not (package.parent / "ran").exists()
