"""Whole packages with the outcome of each of their cases written down: `skillgauge test` and `skillgauge eval` agree.

`expected/tests.json` holds the verdicts of the tests; `expected/evals.json` holds, for each run of a package's evals,
what agent and judge do and what then has to come of it: by a scripted agent, and by the real programs whose model says
the same. Everything runs once more in the strict sandbox, with nothing of a package trusted.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, write_file
from skillgauge_testkit.program import Done, Program

from .judge_replies import first_word, said

pytestmark = pytest.mark.e2e

PACKAGES = Path(__file__).with_name("data") / "packages"
TESTS: dict[str, Any] = json.loads((PACKAGES / "expected/tests.json").read_text())
RUNS: list[dict[str, Any]] = json.loads((PACKAGES / "expected/evals.json").read_text())["runs"]
PROTECTED = "/etc/skillgauge-was-here.txt"
"""Where an agent writes that is to be blocked: nothing may be there, whatever the hook does."""
KEY = "made-up-key-of-the-tests-0123456789"
ENGINES = {
    "claude-code": ("claude", "ANTHROPIC_API_KEY", "", "claude-sonnet-4-5"),
    "codex": ("codex", "OPENAI_API_KEY", "/v1", "gpt-5.5"),
}
"""Program, variable of the key, path after the server's address, model."""
NAMES = [f"{run['package']}-{number}" for number, run in enumerate(RUNS)]


@pytest.fixture(params=[False, True], ids=["trusted", "untrusted"])
def trust(request: pytest.FixtureRequest) -> list[str]:
    """The options for packages that are trusted, and for those that are not."""
    if not request.param:
        return []
    request.getfixturevalue("strongest")
    return ["--untrusted"]


@dataclass(frozen=True)
class Scene:
    """A copy of a package, and what agent and judge do with its evals."""

    package: Path
    run: Mapping[str, Any]
    cases: Mapping[str, Mapping[str, Any]]
    """What the file of each case says, by the name of the case."""

    def case_of(self, text: str, *keys: str) -> str:
        """Whose prompt or criteria stand in a text."""
        flat = " ".join(text.split())
        for name, case in self.cases.items():
            value: Any = case
            for key in keys:
                value = value[key]
            if " ".join(value.split()) in flat:
                return name
        raise AssertionError(f"no case has {keys} in {flat[:400]}")

    def agent(self, request: ModelRequest) -> ModelReply:
        """What the model of an agent says: first the tool call of the script, if there is one, then the answer."""
        does = self.run["agent"][self.case_of(request.text, "input", "prompt")]
        writes: dict[str, str] = dict(does.get("write", {})) | ({PROTECTED: "on\n"} if does.get("blocked") else {})
        tools = [write_file(path, text) for path, text in writes.items()]
        return ModelReply(tools=tools) if tools and not request.results else ModelReply(does["output"])

    def replies(self) -> Iterator[dict[str, Any]]:
        """The same as a script of the engine `mock`."""
        for name, does in self.run["agent"].items():
            event = self.cases[name].get("target", "").partition(":")[2]
            block = {"tool": "Write", "by": "hook", "event": event}
            yield {
                "match": self.cases[name]["input"]["prompt"].replace("/", "."),
                "text": does["output"],
                "files": does.get("write", {}),
                "blocks": [block] if does.get("blocked") else [],
            }

    def judge(self, request: ModelRequest) -> ModelReply:
        """What the judge says of the case that it is asked about."""
        does = self.run["agent"][self.case_of(request.text, "judge", "criteria")]
        quote = first_word(request) if does["judge"] == "PASS" else None
        answer = {"number": 1, "result": does["judge"], "quote": quote, "absent": "anything else", "reason": "so it is"}
        return ModelReply(json.dumps({"marker": said(request)[0], "answers": [answer]}))


@pytest.fixture(params=RUNS, ids=NAMES)
def scene(request: pytest.FixtureRequest, work: Path) -> Scene:
    """One of the runs."""
    run: dict[str, Any] = request.param
    shutil.copytree(PACKAGES / run["package"], work / run["package"])
    package = work / run["package"]
    read = (yaml.safe_load(path.read_text()) for path in sorted((package / "evals/cases").glob("*.yaml")))
    return Scene(package, run, {case["name"]: case for case in read})


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
@pytest.mark.requirement("UA-TIER-001", "UA-TIER-002", "UA-TIER-003")
def test_the_tests_of_a_package(program: Program, work: Path, trust: list[str], name: str) -> None:
    """Every case has the verdict that is written down; trusted or not, and neither way is the package changed."""
    package = work / name
    shutil.copytree(PACKAGES / name, package)
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    done = program("test", package, "--json", *trust)
    assert done.code == TESTS[name]["exit"], done.stderr
    words = {"pass": "PASS", "fail": "FAIL", "skipped": "SKIP", "error": "ERROR"}
    cases = [one for one in done.document["cases"] if not one["suite"].endswith(" package")]
    assert {one["case"]: words[one["verdict"]] for one in cases} == TESTS[name]["cases"]
    assert {path: path.read_bytes() for path in package.rglob("*") if path.is_file()} == before


def test_a_package_without_evals(program: Program, work: Path, trust: list[str]) -> None:
    """Nothing of it is wrong, so it ends well and says so; only a selection is then one of nothing."""
    package = work / "line-counter"
    shutil.copytree(PACKAGES / "line-counter", package)
    done = program("eval", package, *trust)
    assert (done.code, done.verdict) == (0, "done: 0 of 0 passed"), done.stderr
    assert "package '@sample-org/line-counter' has no evals" in done.stderr
    assert not (package / "evals").exists()
    assert program("eval", package, "--case", "groups-*", *trust).code == 5
    assert program("validate", package).code == 0


@pytest.mark.slow
def test_evals_by_a_scripted_agent(program: Program, scene: Scene, work: Path, trust: list[str]) -> None:
    """Verdict, checks and whether the judge was asked are as written down for every case, and so is the exit code."""
    script = work / "script.json"
    script.write_text(json.dumps({"replies": list(scene.replies())}))
    with ModelServer(scene.judge) as judge:
        done = program(
            *("eval", str(scene.package), "--engine", "mock", "--set", f"engines.mock.script={script}", *trust),
            *("--set", f"judges.anthropic.base_url={judge.url}"),
            env={**program.environment, "ANTHROPIC_API_KEY": KEY},
        )
    _agrees(scene, done, judge)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.requirement("UA-FLOW-003", "UA-CASE-013")
def test_evals_by_a_real_agent(
    program: Program, scene: Scene, strongest: None, agent_program: Callable[[str], Path], engine: str
) -> None:
    """The same comes of the real programs with real hooks, strictly confined: what was blocked left no file."""
    command, variable, path, model_id = ENGINES[engine]
    with ModelServer(scene.agent) as model, ModelServer(scene.judge) as judge:
        done = program(
            *("eval", str(scene.package), "--untrusted", "--engine", engine, "--model", model_id),
            *("--set", f"engines.{engine}.program={agent_program(command)}"),
            *("--set", f"engines.{engine}.base_url={model.url}{path}"),
            *("--set", f"judges.anthropic.base_url={judge.url}"),
            env={**program.environment, "ANTHROPIC_API_KEY": KEY, variable: KEY},
        )
    report = _agrees(scene, done, judge)
    assert (report["agent"]["runtime"], report["environment"]["sandbox"]) == (engine, "bubblewrap/strict")
    assert not Path(PROTECTED).exists()


def _agrees(scene: Scene, done: Done, judge: ModelServer) -> dict[str, Any]:
    expected = scene.run["expect"]
    (path,) = (scene.package / "evals/reports").glob("*.json")
    report: dict[str, Any] = json.loads(path.read_text())
    asked = {scene.case_of(request.text, "judge", "criteria") for request in judge.requests}
    found = {
        case["name"]: {
            "verdict": case["verdict"],
            "deterministic_checks": case["deterministic_checks"],
            "judge_called": case["name"] in asked,
        }
        for case in report["cases"]
    }
    assert found == expected["cases"], report
    assert {key: report["summary"][key] for key in expected["summary"]} == expected["summary"]
    assert done.code == expected["exit"], done.stderr
    for case in report["cases"]:
        assert case.get("package_checks", {}).get("writable_paths", "PASS") == "PASS"
        assert ("judge_verdict" in case) == (case["name"] in asked)
    return report
