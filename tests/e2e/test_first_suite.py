"""From a repository with one SKILL.md to an answer, with a real agent and a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, by_prompt, run_shell, with_skill
from skillgauge_testkit.program import Program

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

SKILL = "---\nname: greet-well\ndescription: Says hello the house's way\n---\n# Greeting\nWrite hello.txt with ZEBRA.\n"
HAS_ZEBRA = {"text": "The greeting is the house's", "type": "file-contains", "path": "hello.txt", "value": "ZEBRA"}
HAS_FILE = {"text": "There is a greeting", "type": "file-exists", "value": "hello.txt"}
ANSWERS = {"text": "It says what it did", "type": "icontains", "value": "done"}
DRAFTS = {
    "evals": [
        {"id": name, "prompt": f"Greet {name} for us.", "assertions": [HAS_ZEBRA, HAS_FILE, ANSWERS]}
        for name in ("Ann", "Bob", "Cem", "Dana", "Eve", "Fay")
    ],
    "must_not_trigger": ["What is two and two?"],
}


def script(request: ModelRequest) -> ModelReply:
    """Draft evals when asked to; greet in the house's way with the skill, and in some way without it."""
    if "You write evals" in json.dumps(request.body.get("system", "")):
        return ModelReply(f"Here they are.\n{json.dumps(DRAFTS)}", input_tokens=900, output_tokens=300)
    greeting = with_skill("greet-well", lambda each: greeted(each, "ZEBRA"), lambda each: greeted(each, "Hello"))
    return by_prompt({"Greet": greeting}, ModelReply("4"))(request)


def greeted(request: ModelRequest, word: str) -> ModelReply:
    """Write the file, once."""
    is_written = any("written" in result for result in request.results)
    return (
        ModelReply("Done.") if is_written else ModelReply(tools=[run_shell(f"echo {word} > hello.txt; echo written")])
    )


def test_three_commands(program: Program, work: Path, agent_program: Callable[[str], Path]) -> None:
    """After the installation, `init` and `eval` end with an answer; assertions that tell nothing are left out."""
    skill = work / ".claude/skills/greet-well"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    claude = agent_program("claude")
    with ModelServer(script) as server:
        environment = {
            "ANTHROPIC_API_KEY": "no-key-is-needed-here-0123456789",
            "ANTHROPIC_BASE_URL": server.url,
            "PATH": f"{claude.parent}:{program.environment['PATH']}",
        }
        begun = program.process("init", "--yes", env=environment, timeout_s=300)
        assert begun.code == 0, begun.stdout + begun.stderr
        evaluated = program.process("eval", env=environment, timeout_s=300)
    assert evaluated.code == 0, evaluated.stdout + evaluated.stderr
    assert "7 of 7 drafts kept; next: skillgauge eval" in begun.stderr
    assert (work / "skillgauge.config.yaml").read_text().endswith('engine: "claude-code"\n')
    evals = json.loads((skill / "evals/evals.json").read_text())["evals"]
    assert [one["assertions"] for one in evals[:-1]] == [[HAS_ZEBRA]] * 6, "what holds in both arms is left out"
    assert "7 of 7 evals are drafts that nobody has accepted" in evaluated.stderr
    assert "Cases that are drafts" in evaluated.stdout
    assert "helps on these cases: +100.0 points" in evaluated.verdict
