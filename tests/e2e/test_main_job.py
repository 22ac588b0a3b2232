"""The main job: a skill called through its real protocol, measured on a benchmark, scored, stored, reported."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Program

from .conftest import ROOT, MakeSkill, task

CALCULATOR = ROOT / "examples" / "skills" / "calculator" / "skill.json"
Tasks = Callable[..., Path]

REPORT_KEYS = [
    "skillId",
    "skillVersion",
    "benchmarkId",
    "timestamp",
    "summary",
    "latency",
    "taskResults",
    "evaluatorMetadata",
]
SUMMARY_KEYS = [
    "completionRate",
    "partialScore",
    "errorRate",
    "consistencyScore",
    "compositeScore",
    "confidenceInterval",
]


@pytest.mark.slow
@pytest.mark.requirement("ES-DEFECT-02", "ES-DEFECT-25")
@pytest.mark.e2e
@pytest.mark.requirement(
    "ES-EVAL-001", "ES-EVAL-004", "ES-EVAL-009", "ES-EVAL-011", "ES-EVAL-012", "ES-EVAL-017", "ES-EVAL-020"
)
@pytest.mark.requirement("ES-EVAL-022", "ES-EVAL-023", "ES-BENCH-001", "ES-REPORT-004", "ES-REPORT-005", "SE-RUN-016")
def test_the_documented_command_gives_60_of_60_and_again_a_new_run(program: Program, work: Path) -> None:
    """The calculator passes coding-easy three times over; the same command again is a new run with its own row."""
    command = ["eval", "--skills", CALCULATOR, "--benchmark", "coding-easy", "--runs", "3"]
    command += ["--format", "json", "markdown"]
    done = program.process(*command)
    assert done.code == 0, done.stderr
    assert done.verdict == "done: 60 of 60 passed"
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    assert list(report) == REPORT_KEYS
    assert list(report["summary"]) == SUMMARY_KEYS
    assert report["summary"]["completionRate"] == 1
    assert report["summary"]["consistencyScore"] == 1
    assert len(report["taskResults"]) == 60
    assert [one["runId"] for one in report["taskResults"]] == [1] * 20 + [2] * 20 + [3] * 20
    assert {one["scorerType"] for one in report["taskResults"]} == {"exact_match"}
    assert all(one["latencyMs"] > 0 for one in report["taskResults"])
    assert "coding\\_001" in (work / "reports" / "eval-result.md").read_text()
    again = program.process(*command)
    assert again.code == 0
    assert "resum" not in again.stderr
    with sqlite3.connect(work / "skillgauge.db") as store:
        rows = store.execute("SELECT count(*), count(DISTINCT run_id), min(state) FROM runs").fetchone()
    assert rows == (2, 2, "finished")
    assert len(list((work / "reports").glob("eval-result-*.json"))) == 2
    assert all("taskResults" in path.read_text() for path in (work / "reports").glob("eval-result-*.json"))


PUBLISHED = ROOT / "plugins" / "formats" / "eval-skills" / "tests" / "data" / "calculator-coding-easy.json"
TIMES = {"timestamp", "latencyMs", "p50Ms", "p95Ms", "p99Ms", "compositeScore"}
"""The composite score has a latency in it."""


def without_times(value: Any) -> Any:
    """A document with everything blanked that a clock decides."""
    if isinstance(value, list):
        return [without_times(one) for one in value]
    if isinstance(value, dict):
        return {key: "-" if key in TIMES else without_times(one) for key, one in value.items()}
    return value


@pytest.mark.slow
@pytest.mark.e2e
def test_the_report_is_that_of_the_original(program: Program, work: Path) -> None:
    """The calculator on coding-easy: the same keys in the same order and, times aside, the same values.

    What we add stands in `evaluatorMetadata`, which is empty there; the skill's own version is another.
    """
    program("eval", "--skills", CALCULATOR, "--benchmark", "coding-easy", "--format", "json")
    ours = json.loads((work / "reports" / "eval-result.json").read_text())
    theirs = json.loads(PUBLISHED.read_text())
    assert ours[0]["evaluatorMetadata"].pop("skillgauge")["passRate"]["method"] == "wilson"
    theirs[0]["skillVersion"] = ours[0]["skillVersion"]
    assert json.dumps(without_times(ours)) == json.dumps(without_times(theirs))


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-EVAL-002", "ES-EVAL-003")
def test_a_path_or_nothing_at_all_is_enough(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """By PATH, by --skills and by searching the current folder, a skill without a benchmark gets coding-easy."""
    path = make_skill()
    for arguments in ([path], ["--skills", path], [path.parent], []):
        done = program("eval", *arguments, "--json")
        assert done.document["plan"]["suites"][0]["id"] == "coding-easy"
        assert done.document["summary"]["counts"]["total"] == 20
    empty = work / "empty"
    empty.mkdir()
    done = program("eval", cwd=empty)
    assert done.code == 2
    assert "holds nothing that an installed format knows" in done.stderr


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-EVAL-005", "ES-FLOW-009", "ES-METRIC-001", "ES-METRIC-003")
def test_tasks_replace_the_benchmark(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """Own tasks run without installing anything; failed and broken tasks stay in the divisor."""
    code = """import json, sys
request = json.loads(sys.stdin.read())
say = request["params"]["say"]
if say == "crash":
    sys.exit(3)
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": say}))
"""
    file = tasks(task("a", "x"), task("b", "x", "y"), task("c", "crash"), task("d", "z"))
    done = program("eval", "--skills", make_skill(code), "--tasks", file)
    assert done.code == 0, done.stderr
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    assert report["benchmarkId"] == "custom"
    assert report["summary"]["completionRate"] == 0.5
    assert report["summary"]["errorRate"] == 0.25
    statuses = {one["taskId"]: one["status"] for one in report["taskResults"]}
    assert statuses == {"a": "pass", "b": "fail", "c": "error", "d": "pass"}
    assert 'Expected "y" but got "x"' in json.dumps(report, ensure_ascii=False).replace('\\"', '"')


@pytest.mark.requirement("ES-DEFECT-15")
@pytest.mark.e2e
@pytest.mark.requirement("ES-EVAL-015")
def test_a_dry_run_shows_the_matrix_and_creates_nothing(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """Everything is checked and counted, nothing is executed, and no file appears."""
    marker = work / "ran"
    path = make_skill(f"open({str(marker)!r}, 'w')\n")
    before = sorted(work.rglob("*"))
    done = program("eval", "--skills", path, "--runs", "2", "--dry-run")
    assert done.code == 0
    assert "40 trials" in done.stdout
    assert sorted(work.rglob("*")) == before
    (arm,) = program("eval", "--skills", path, "--dry-run", "--json", env={"TZ": "UTC"}).document["arms"]
    assert (arm["arm"], arm["kind"], arm["runner"], arm["model"]) == ("direct", "direct", "subprocess", None)
    assert (arm["skills"], arm["sessions"], arm["paid"]) == ([], 20, False)
    assert "TZ" in arm["environment"]
    bad = program("eval", "--skills", path, "--benchmark", "coding-esy", "--dry-run")
    assert bad.code == 2
    assert "coding-easy" in bad.stderr


@pytest.mark.slow
@pytest.mark.requirement("ES-DEFECT-01")
@pytest.mark.e2e
@pytest.mark.requirement("ES-EVAL-007", "ES-BENCH-007", "ES-METRIC-007", "ES-EVAL-008", "ES-EVAL-021")
def test_timeouts_and_retries(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """A task over its limit has status timeout; a task's own limit rules; a crash is tried again and may pass."""
    counter = work / "count"
    code = f"""import json, sys, time, os
request = json.loads(sys.stdin.read())
say = request["params"]["say"]
if say == "hang":
    time.sleep(60)
if say == "slow":
    time.sleep(0.6)
if say == "second":
    with open({str(counter)!r}, "a") as file:
        file.write("x")
    if os.path.getsize({str(counter)!r}) < 2:
        sys.exit(1)
print(json.dumps({{"jsonrpc": "2.0", "id": 1, "result": say}}))
"""
    file = tasks(task("hang", "hang"), task("slow", "slow", timeoutMs=20000), task("second", "second"))
    done = program("eval", "--skills", make_skill(code), "--tasks", file, "--timeout", "500")
    assert done.code == 0, done.stderr
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    assert [one["status"] for one in report["taskResults"]] == ["timeout", "pass", "error"]
    assert report["taskResults"][0]["latencyMs"] >= 400
    counter.unlink()
    done = program(
        "eval", "--skills", make_skill(code), "--tasks", file, "--case", "second", "--retries", "1", "--json"
    )
    assert done.document["summary"]["counts"]["passed"] == 1
    assert done.document["results"][0]["attempts"] == 2


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-FLOW-008", "ES-EVAL-006")
def test_concurrency_one_keeps_the_order(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """With --concurrency 1 tasks run strictly one after another; the default is 4."""
    log = work / "order"
    code = f"""import json, sys
request = json.loads(sys.stdin.read())
with open({str(log)!r}, "a") as file:
    file.write(request["params"]["say"] + "<")
print(json.dumps({{"jsonrpc": "2.0", "id": 1, "result": request["params"]["say"]}}))
with open({str(log)!r}, "a") as file:
    file.write(">")
"""
    names = [f"t{number}" for number in range(8)]
    file = tasks(*(task(name, name) for name in names))
    program("eval", "--skills", make_skill(code), "--tasks", file, "--concurrency", "1", "--runs", "2")
    assert log.read_text() == "".join(f"{name}<>" for name in names * 2)
    assert program("config", "get", "concurrency").stdout == "4\n"


@pytest.mark.e2e
@pytest.mark.requirement("ES-EVAL-010", "ES-SCORE-001", "ES-SCORE-002", "ES-SCORE-003", "ES-SCORE-004")
def test_scorers_as_documented(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """The evaluator of a task rules, --evaluator serves the others, and case sensitivity is honoured."""

    def one(name: str, say: object, expected: dict[str, object], **evaluator: object) -> dict[str, object]:
        item = {"id": name, "description": name, "inputData": {"say": say}, "expectedOutput": expected}
        return item | ({"evaluator": evaluator} if evaluator else {})

    file = tasks(
        one("exact", "Yes", {"type": "exact", "value": "yes"}, type="exact"),
        one("alias", {"answer": True}, {"type": "exact_match", "value": "true"}, type="exact_match"),
        one("folded", "Yes", {"type": "exact", "value": "yes"}, type="exact", caseSensitive=False),
        one("part", "one two", {"type": "contains", "keywords": ["ONE", "three"]}, type="contains"),
        one("strict", "one", {"type": "contains", "keywords": ["ONE"]}, type="contains", caseSensitive=True),
        one("default", "a b", {"type": "contains", "keywords": ["a", "b"]}),
    )
    program("eval", "--skills", make_skill(), "--tasks", file, "--evaluator", "contains")
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    got = {one["taskId"]: (one["status"], one["score"]) for one in report["taskResults"]}
    assert got == {
        "exact": ("fail", 0),
        "alias": ("pass", 1),
        "folded": ("pass", 1),
        "part": ("fail", 0.5),
        "strict": ("fail", 0),
        "default": ("pass", 1),
    }


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-BENCH-008", "UA-CLI-002", "UA-CLI-010")
def test_selection_by_case_tag_and_target(program: Program, make_skill: MakeSkill, tasks: Tasks) -> None:
    """--case, --tag and --target select; a path after them is a path; a selector that matches nothing is exit 5."""
    path = make_skill()
    file = tasks(task("a1", "x", tags=["math"]), task("a2", "x", tags=["text"]), task("b1", "x"))

    def count(*arguments: str | Path) -> int:
        return int(program("eval", "--tasks", file, *arguments, "--json").document["summary"]["counts"]["total"])

    assert count("--tag", "math", path) == 1
    assert count("--tag", "math,text", path) == 2
    assert count("--case", "a*", path) == 2
    assert count("--target", "echo", path) == 3
    assert count(path, "b1") == 1
    done = program("eval", "--tasks", file, path, "--tag", "nothing")
    assert done.code == 5
    assert "matches no case" in done.stderr


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-EVAL-025")
def test_a_crashing_candidate_leaves_the_others_alone(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """One skill that always crashes is a fail of that skill: the run is valid, and the gate gives 1, not 3."""
    good = make_skill((CALCULATOR.parent / "skill.py").read_text(), folder="good")
    bad = make_skill("raise SystemExit(1)\n", folder="bad")
    done = program("eval", "--skills", good, bad)
    assert done.code == 0, done.stderr
    reports = {one["skillId"]: one for one in json.loads((work / "reports" / "eval-result.json").read_text())}
    assert reports["good"]["summary"]["completionRate"] == 1
    assert reports["bad"]["summary"]["errorRate"] == 1
    gated = program("eval", "--skills", good, bad, "--exit-on-fail", "--min-completion", "0.8")
    assert gated.code == 1
    assert gated.verdict.startswith("gate missed: completion rate below 80.0%: bad 0.0%")
    passed = program("eval", "--skills", good, "--exit-on-fail")
    assert passed.code == 0
    assert passed.verdict == "gate met: 20 of 20 passed"


@pytest.mark.e2e
@pytest.mark.requirement("ES-EVAL-016", "ES-BENCH-005", "ES-BENCH-006")
def test_further_benchmarks_lie_in_a_folder(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """A benchmark in ./benchmarks is known by its id, and with --benchmarks-dir one elsewhere is."""
    benchmark = {
        "id": "mine",
        "name": "Mine",
        "version": "1.2.0",
        "domain": "general",
        "scoringMethod": "mean",
        "maxLatencyMs": 30000,
        "metadata": {"source": "internal", "lastUpdated": "2026-02-28"},
        "tasks": [task("t1", "x", evaluator={"type": "exact"}, timeoutMs=10000, tags=["one"])],
    }
    path = make_skill()
    for folder in ("benchmarks", "elsewhere"):
        (work / folder).mkdir()
    (work / "benchmarks" / "mine.json").write_text(json.dumps(benchmark))
    (work / "elsewhere" / "other.json").write_text(json.dumps(benchmark | {"id": "other"}))
    assert program("eval", "--skills", path, "--benchmark", "mine").code == 0
    assert program("eval", "--skills", path, "--benchmark", "other").code == 2
    done = program("eval", "--skills", path, "--benchmark", "other", "--benchmarks-dir", "elsewhere", "--json")
    assert done.document["summary"]["counts"]["passed"] == 1
    assert program("eval", "--skills", path, "--benchmark", "elsewhere/other.json").code == 0


@pytest.mark.slow
@pytest.mark.requirement("ES-DEFECT-05")
@pytest.mark.e2e
@pytest.mark.requirement("ES-EVAL-019", "ES-CONFIG-006", "ES-CONFIG-007")
def test_configuration_reaches_the_run(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """Flag before variable before file here before user file before default, each per key."""
    path = make_skill()
    (work / "skillgauge.config.yaml").write_text("runs: 2\noutputDir: ./from-file\n")
    assert program("config", "set", "runs", "5").code == 0
    assert program("config", "set", "concurrency", "3").code == 0

    def runs(*arguments: str, env: dict[str, str] | None = None) -> int:
        return int(program("eval", path, *arguments, "--json", "--dry-run", env=env).document["plan"]["runs"])

    assert runs() == 2
    assert runs(env={"SKILLGAUGE_RUNS": "4"}) == 4
    assert runs("--runs", "1", env={"SKILLGAUGE_RUNS": "4"}) == 1
    other = work / "other.yaml"
    other.write_text("outputDir: ./x\n")
    assert runs("-c", str(other)) == 5
    origins = {one["key"]: one["source"] for one in program("config", "list", "--origin", "--json").document}
    assert (origins["runs"], origins["concurrency"], origins["timeoutMs"]) == ("project file", "user file", "default")
    program("eval", path)
    assert (work / "from-file" / "eval-result.json").is_file()


@pytest.mark.e2e
@pytest.mark.requirement("ES-CONFIG-001", "ES-CONFIG-002", "ES-CONFIG-003")
def test_config_commands(program: Program, environment: dict[str, str]) -> None:
    """List shows all values, get takes a dotted key, set writes the user's own file."""
    assert program("config", "set", "llm.model", "gpt-4o").code == 0
    assert program("config", "get", "llm.model").stdout == "gpt-4o\n"
    values = program("config", "list", "--json").document
    assert (values["concurrency"], values["timeoutMs"], values["outputDir"]) == (4, 30000, "./reports")
    assert values["llm"]["model"] == "gpt-4o"
    assert "gpt-4o" in (Path(environment["HOME"]) / ".config" / "skillgauge" / "config.yaml").read_text()
    done = program("config", "set", "concurency", "3")
    assert done.code == 2
    assert "did you mean concurrency" in done.stderr
    assert program("config", "set", "concurrency", "0").code == 2


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-GLOBAL-001", "ES-GLOBAL-002", "ES-GLOBAL-003")
@pytest.mark.parametrize(
    "command",
    [
        ["eval", "--dry-run"],
        ["validate"],
        ["config", "list"],
        ["config", "get", "runs"],
        ["schema"],
        ["schema", "eval"],
        ["plugins", "list"],
        ["plugins", "info", "scorers", "exact"],
    ],
)
def test_global_options_work_before_and_after_the_command(
    program: Program, make_skill: MakeSkill, command: list[str]
) -> None:
    """-c, --json, --no-color, -v and -h are taken on either side; --json prints exactly one document."""
    make_skill()
    before = program("--json", "--no-color", "-v", *command)
    after = program(*command, "--json", "--no-color", "-v")
    assert before.code == after.code == 0, before.stderr + after.stderr
    assert before.document == after.document
    assert "Usage: skillgauge" in program(*command[:1], "-h").stdout
    missing = program(*command, "-c", "nowhere.yaml", "--json")
    assert missing.code == 2 or command[:2] == ["plugins", "list"]


@pytest.mark.slow
@pytest.mark.e2e
def test_version_and_help(program: Program) -> None:
    """--version prints one line, --help lists the commands, an unknown command is exit 2 with a hint."""
    assert program.process("--version").stdout == "skillgauge 0.1.0\n"
    assert program.process("-V").stdout == "skillgauge 0.1.0\n"
    assert "eval" in program.process("--help").stdout
    assert program.process("evla").code == 2
    assert program.process("eval", "--no-such-option").code == 2
    assert program.process("eval", "--no-such-option", "--json").document["exit_code"] == 2


@pytest.mark.slow
@pytest.mark.e2e
def test_results_carry_what_made_them(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """The record names every distribution and version that took part, the sandbox, and the moment."""
    done = program("eval", make_skill(), "--format", "record")
    assert done.code == 0
    (path,) = (work / "reports").glob("run-*.record.json")
    record = json.loads(path.read_text())
    assert record["plan"]["provenance"]["skillgauge-core"] == "0.1.0"
    assert record["plan"]["provenance"]["skillgauge-adapter-subprocess"] == "0.1.0"
    assert {one["execution"]["sandbox"] for one in record["results"]} == {"local/none"}
    assert path.stat().st_mode & 0o777 == 0o600
    assert (work / "skillgauge.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("ES-DEFECT-12")
@pytest.mark.e2e
@pytest.mark.requirement("ES-ADAPT-005", "ES-SKILL-006")
def test_adapter_settings_beside_the_skill(program: Program, make_skill: MakeSkill, tasks: Tasks) -> None:
    """`command` and `args` of adapter.config.json replace the entrypoint; any metadata of the skill is accepted."""
    code = """import json, sys
request = json.loads(sys.stdin.read())
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": sys.argv[1:]}))
"""
    metadata = {"author": "A. Uthor", "license": "MIT", "homepage": "https://example.org", "own": [1]}
    skill = make_skill(code, metadata=metadata)
    settings = {"type": "subprocess", "command": "python3 -S", "args": ["skill.py", "two words", "--flag"]}
    (skill.parent / "adapter.config.json").write_text(json.dumps(settings))
    done = program("eval", "--skills", skill, "--tasks", tasks(task("argv", "x")), "--json")
    assert done.document["results"][0]["execution"]["output"] == ["two words", "--flag"]
    (skill.parent / "adapter.config.json").write_text(json.dumps(settings | {"comand": "x"}))
    bad = program("validate", skill)
    assert bad.code == 2
    assert "command" in bad.stderr
