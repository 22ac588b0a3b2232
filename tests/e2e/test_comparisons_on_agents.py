"""Comparisons in the two file formats on real agents: scripted models that do well only with the skill."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, by_prompt, run_shell, with_skill
from skillgauge_testkit.model_server import Script
from skillgauge_testkit.program import Done, Program

from .judge_replies import claims_reply, said

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

KEY = "made-up-key-of-the-tests-0123456789"
SKILL = """---
name: stamp-notes
description: Stamps a note. Use when a note is to be stamped.
---
Write the stamp with scripts/stamp.py.
"""
STAMP = "import sys\nprint(f'stamp {int(sys.argv[1]) * 7}')\n"
ENGINES = {
    "claude-code": ("claude", "ANTHROPIC_API_KEY", "", "claude-sonnet-4-5", ".claude/skills"),
    "codex": ("codex", "OPENAI_API_KEY", "/v1", "gpt-5.5", ".agents/skills"),
}
"""Program, variable of the key, path after the server's address, model, and where the agent has its skills."""
EVAL_YAML = """
cases:
  - name: stamped
    prompt: Stamp the note of seed.txt
    setup: {files: {seed.txt: "6"}, commands: [test -f seed.txt, cp seed.txt note.txt]}
    validators:
      - {cmd: "python3 scripts/stamp.py $(cat note.txt) | diff - stamp.txt", label: stamp}
    expectations: [The note is stamped]
  - {name: capital, prompt: "Name the capital of Peru", validators: [{cmd: 'echo "$RESPONSE_TEXT" | grep -qi lima'}]}
  - {name: unknown, prompt: "Stamp what is not there", validators: [{cmd: test -f nowhere.txt}]}
"""
EVALS_JSON = {
    "skill_name": "stamp-notes",
    "cases": [
        {"id": "stamped", "question": "Stamp the note", "ground_truth": "stamp 42", "expected_script": "stamp.py"},
        {"id": "capital", "question": "Name the capital of Peru", "ground_truth": "Lima"},
        {"id": "unknown", "question": "Stamp what is not there", "ground_truth": "stamp 4711"},
    ],
}


def model(request: ModelRequest) -> ModelReply:
    """What a model says that knows the stamp only from the skill, as judge what it is asked for."""
    if "END <name>" in request.text:
        holds = "stamp 42" in said(request)[2]
        return ModelReply(claims_reply(request, holds, quote="stamp 42" if holds else None, absent="a stamp"))
    unskilled = ModelReply("There is no stamp here.")
    skilled = with_skill("stamp-notes", stamped, unskilled)
    return by_prompt(
        {
            "capital": ModelReply("It is Lima."),
            "Stamp the note": unskilled if "haiku" in (request.model or "") else skilled,
        },
        ModelReply("There is nothing."),
    )(request)


def stamped(request: ModelRequest) -> ModelReply:
    """Run the skill's script where this agent has it, and say what came of it."""
    if len(request.results) > 1:
        return ModelReply("It says: stamp 42")
    folder = ".claude/skills" if request.dialect == "anthropic" else ".agents/skills"
    return ModelReply(tools=[run_shell(f"python3 {folder}/stamp-notes/scripts/stamp.py 6 > stamp.txt; cat stamp.txt")])


@pytest.fixture
def skill(work: Path) -> Path:
    """The skill alone; each test adds the file of a format."""
    folder = work / "stamp-notes"
    (folder / "scripts").mkdir(parents=True)
    (folder / "evals").mkdir()
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "scripts/stamp.py").write_text(STAMP)
    return folder


@pytest.fixture
def evaluate(program: Program, agent_program: Callable[[str], Path], skill: Path) -> Callable[..., Done]:
    """Evaluate the skill on several agents that ask one scripted server; their keys are in nothing that is written."""

    def call(engines: Sequence[str], *arguments: str, models: str = "", says: Script = model) -> Done:
        environment, settings = dict(program.environment), ["--set", "judges.anthropic.base_url={}"]
        plain = [name.partition("+")[0] for name in engines]
        for name in dict.fromkeys(plain):
            command, variable, path, _, _ = ENGINES[name]
            environment[variable] = KEY
            settings += ["--set", f"engines.{name}.program={agent_program(command)}"]
            settings += ["--set", f"engines.{name}.base_url={{}}{path}"]
        models = models or ",".join(ENGINES[name][3] for name in plain)
        with ModelServer(says) as server:
            done = program(
                *("eval", skill, "--engine", ",".join(engines), "--model", models, "--json", "-o", "own.json"),
                *(word.format(server.url) for word in settings),
                *arguments,
                env={**environment, "ANTHROPIC_API_KEY": KEY},
            )
        told = [
            (one["case_id"], one["arm"], one.get("scores"), one["execution"].get("failure"))
            for one in done.document.get("results", ())
        ]
        assert done.code == 0, (told, done.stderr)
        for path_ in program.work.rglob("*"):
            assert not path_.is_file() or path_.is_symlink() or KEY.encode() not in path_.read_bytes(), path_
        return done

    return call


def verdicts(done: Done) -> Counter[tuple[str, str, str]]:
    """How many trials of each engine and arm came to which verdict."""
    return Counter((one["runner"], one["arm"], one["verdict"]) for one in done.document["results"])


def lifts(done: Done) -> dict[str, tuple[str, float]]:
    """By engine, the model and the lift in points."""
    pairs: list[dict[str, Any]] = done.document["summary"]["pairs"]
    return {
        one["candidate"]["runner"]: (one["candidate"]["model"], round(100 * one["evidence"]["estimate"], 1))
        for one in pairs
    }


MATRIX = [["claude-code"], ["codex"], ["claude-code", "codex"]]
EXPECTED = {"with": {"pass": 2, "fail": 1}, "without": {"pass": 1, "fail": 2}}


@pytest.mark.parametrize("engines", MATRIX, ids="+".join)
@pytest.mark.parametrize("format_name", ["skillevaluation", "benchflow"])
@pytest.mark.requirement("SE-ARM-001", "SE-ARM-004", "BF-RUN-001", "BF-RUN-003")
def test_the_lift_that_was_planted(
    evaluate: Callable[..., Done], skill: Path, work: Path, engines: list[str], format_name: str
) -> None:
    """One case of three is turned by the skill on each agent, one both can, one none can: a lift of 33.3 points."""
    judge = ["--judge", "anthropic", "--judge-model", "claude-haiku-4-5"]
    if format_name == "skillevaluation":
        (skill / "eval.yaml").write_text(EVAL_YAML)
        arms = {"with_skill": EXPECTED["with"], "without_skill": EXPECTED["without"]}
    else:
        (skill / "evals/evals.json").write_text(json.dumps(EVALS_JSON))
        arms, judge = {"with-skill": EXPECTED["with"], "baseline": EXPECTED["without"]}, []
    done = evaluate(engines, *judge)
    assert verdicts(done) == {
        (engine, arm, verdict): count
        for engine in engines
        for arm, expected in arms.items()
        for verdict, count in expected.items()
    }
    assert lifts(done) == {engine: (ENGINES[engine][3], 33.3) for engine in engines}
    for one in done.document["results"]:
        assert one["execution"]["arm_integrity"] == "verified"
        fired = [used["name"] for used in one["execution"]["trajectory"].get("skills_fired") or ()]
        turned = one["case_id"] == "stamped" and one["arm"].startswith("with") and "without" not in one["arm"]
        assert fired == (["stamp-notes"] if turned else [])


@pytest.mark.requirement("BF-RUN-003")
def test_two_models_of_one_agent(evaluate: Callable[..., Done], skill: Path) -> None:
    """Each is asked by its own name and has its own lift; with few cases none is called the better one."""
    (skill / "evals/evals.json").write_text(json.dumps(EVALS_JSON))
    done = evaluate(["claude-code"], models="claude-haiku-4-5,claude-sonnet-4-5")
    found = {one["candidate"]["model"]: one["evidence"]["estimate"] for one in done.document["summary"]["pairs"]}
    assert found == {"claude-haiku-4-5": 0.0, "claude-sonnet-4-5": pytest.approx(1 / 3)}
    assert {one["execution"]["trajectory"]["model"] == one["model"] for one in done.document["results"]} == {True}
    undecided = "which of claude-sonnet-4-5, claude-haiku-4-5 has the greatest lift cannot be told"
    assert f"{undecided} (+33.3 points to +0.0 points)" in done.verdict


@pytest.mark.requirement("BF-RUN-003")
def test_two_settings_of_one_agent(evaluate: Callable[..., Done], skill: Path) -> None:
    """Each gets its own settings and has its own lift; what asks the model low asks as often as what does not."""
    (skill / "evals/evals.json").write_text(json.dumps(EVALS_JSON))
    efforts: Counter[str | None] = Counter()

    def says(request: ModelRequest) -> ModelReply:
        efforts[(request.body.get("reasoning") or {}).get("effort")] += 1
        return model(request)

    low = 'engines.codex+low.config={"model_reasoning_effort": "low"}'
    done = evaluate(["codex", "codex+low"], "--set", low, models="gpt-5.5", says=says)
    pairs = done.document["summary"]["pairs"]
    assert [one["candidate"]["runner"] for one in pairs] == ["codex", "codex+low"]
    assert [round(100 * one["evidence"]["estimate"], 1) for one in pairs] == [33.3, 33.3]
    assert efforts["low"] * 2 == efforts.total()
