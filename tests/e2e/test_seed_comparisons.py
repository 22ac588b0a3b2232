"""Every command line that skillevaluation documents, in the order of its page, in one folder that was empty.

Only the name of the program is another, and `run DIR` is `eval DIR`. The services of the lines are scripted servers,
which stand in the user's own configuration, so that the lines are those that people type.
"""

from __future__ import annotations

import json
import shlex
import socket
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from skillevaluation.resources import load_schema

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, by_prompt, with_skill, write_file
from skillgauge_testkit.program import Done, Program

from .judge_replies import claims_reply, said

pytestmark = pytest.mark.e2e

KEY = "made-up-key-of-the-tests-0123456789"
SKILL = (
    "---\nname: my-skill\ndescription: Sorts words into fruit and tools. Use when words are to be sorted.\n---\n{}\n"
)
EVAL_YAML = """
cases:
  - name: sorts_by_kind
    prompt: "Sort these words: pear, hammer."
    expectations:
      - "The response calls the pear a fruit"
    validators:
      - cmd: "grep -q fruit sorted.txt"
  - name: leaves_the_weather_alone
    prompt: "What is the weather in Lima?"
    expectations:
      - "The response speaks of the weather"
"""


def answer(request: ModelRequest) -> ModelReply:
    """A model that sorts with the skill alone and chats about the weather; as judge it looks for its own words."""
    if "END <name>" in request.text:
        question = said(request)[2]
        quote = next((one for one in ("it is a fruit", "It rains") if one in question), None)
        return ModelReply(claims_reply(request, quote is not None, quote=quote, absent="any such thing"))
    return by_prompt(
        {"weather": ModelReply("It rains."), "Sort": with_skill("my-skill", sorts, ModelReply("I cannot sort."))}
    )(request)


def sorts(request: ModelRequest) -> ModelReply:
    """Write the file that the validator wants, then tell."""
    if len(request.results) > 1:
        return ModelReply("The pear: it is a fruit.")
    return ModelReply(tools=[write_file("sorted.txt", "pear: fruit\n")])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every address that this process connects to or looks up."""
    found: list[Any] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def connecting(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            found.append(address[0])
        connect(self, address)

    def looking(host: Any, *arguments: Any, **more: Any) -> Any:
        found.append(host)
        return look_up(host, *arguments, **more)

    monkeypatch.setattr(socket.socket, "connect", connecting)
    monkeypatch.setattr(socket, "getaddrinfo", looking)
    return found


@pytest.mark.slow
@pytest.mark.requirement(
    "SE-RUN-002", "SE-RUN-003", "SE-RUN-004", "SE-RUN-005", "SE-RUN-008", "SE-RUN-009", "SE-RUN-015", "SE-RUN-016"
)
@pytest.mark.requirement("SE-FORMAT-002", "SE-FORMAT-003", "SE-FORMAT-004", "SE-FORMAT-005")
def test_the_page_of_skillevaluation(program: Program, work: Path, asked: list[Any]) -> None:
    """From a model and a key to a gate, with every installed engine around; nothing is asked but the model."""
    skill = work / "my-skill"
    skill.mkdir()
    (skill / "SKILL.md").write_text(SKILL.format("Write what you find to sorted.txt."))
    (skill / "eval.yaml").write_text(EVAL_YAML)

    def say(line: str, code: int = 0) -> Done:
        name, *words = shlex.split(line)
        assert name == "skillgauge"
        done = program(*words, env={**program.environment, "ANTHROPIC_API_KEY": KEY})
        assert done.code == code, done.stdout + done.stderr
        return done

    def sessions(done: Done) -> dict[tuple[str, str], bool]:
        """Whether each session was answered from an earlier run, by case and arm."""
        results = done.document["results"]
        return {(one["case_id"], one["arm"]): bool(one["execution"].get("replayed")) for one in results}

    with ModelServer(answer) as server:
        home = Path(program.environment["HOME"]) / ".config/skillgauge"
        home.mkdir(parents=True)
        engines = {"api": {"base_url": server.url, "provider": "anthropic"}}
        judges = {"anthropic": {"base_url": server.url}}
        (home / "config.yaml").write_text(json.dumps({"plugins": {"engines": engines, "judges": judges}}))

        assert "skillgauge eval ./my-skill" in say("skillgauge run ./my-skill --model claude-haiku-4-5", 2).stderr
        first = say("skillgauge eval ./my-skill --model claude-haiku-4-5")
        assert {request.model for request in server.requests} == {"claude-haiku-4-5"}
        results = json.loads((work / "reports/eval-result.json").read_text())
        jsonschema.validate(results, load_schema("test-run-result"))
        outcomes = {case["case_name"]: case["outcome"] for case in results["cases"]}
        assert outcomes == {"sorts_by_kind": "flip_to_pass", "leaves_the_weather_alone": "pass_kept"}
        assert "+50.0 points" in first.verdict, first.verdict

        (skill / "SKILL.md").write_text(SKILL.format("Write all that you find to sorted.txt."))
        again = say("skillgauge eval ./my-skill --model claude-haiku-4-5 --json")
        assert {arm for (_, arm), replayed in sessions(again).items() if replayed} == {"without_skill"}
        assert sum(sessions(again).values()) == 2

        gate = "skillgauge eval ./my-skill --model claude-haiku-4-5 --fail-on-verdict fail --min-delta-pts {}"
        assert say(gate.format(10), 3).verdict.startswith(
            "gate inconclusive"
        )  # two cases, once each: chance may do that
        assert say(gate.format(60), 1).verdict.startswith("gate missed")
    before = len(asked)
    say("skillgauge eval ./my-skill --adapter mock --store none --output-dir dry")
    assert len(asked) == before  # nothing at all without a model
    assert set(asked) <= {"127.0.0.1", "localhost", None}
    schema = json.loads(say("skillgauge schema skillevaluation-eval").stdout)
    jsonschema.validate(yaml.safe_load(EVAL_YAML), schema)
    (work / "agent.json").write_text("{}")
    say("skillgauge report convert --input reports/eval-result.json --format agentversion --into agent.json")
    (entered,) = json.loads((work / "agent.json").read_text())["evaluation"]["gates"]
    assert (entered["name"], entered["actual_score"]) == ("skillevaluation:my-skill", 1.0)
