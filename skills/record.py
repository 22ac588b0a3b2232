"""Record sessions of `evaluate-a-skill`: the real agent, with a scripted model in the place of a paid one.

Run: python skills/record.py PROGRAM, where PROGRAM is the path of `claude`. What the agent does is real (it offers the
skill, loads it, writes files, runs the checker). The model's words are written here, so what comes out says that suite,
checker and skill fit together, and nothing about what any model would do.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, by_prompt, run_shell, with_skill

HERE = Path(__file__).resolve().parent
SKILL = HERE / "evaluate-a-skill"
RECORDINGS = HERE / "recordings"
CHECKER = ".claude/skills/evaluate-a-skill/scripts/check_evals.py"
FOLDER = "skills/invoice-total"


EVALS = r"""{
  "skill_name": "invoice-total",
  "evals": [
    {
      "id": 1,
      "prompt": "Book this invoice: 3 chairs at 19.50 USD each.",
      "expected_output": "total.txt says TOTAL 58.50 USD",
      "assertions": [{"text": "It is booked", "type": "command", "value": "grep -qx 'TOTAL 58.50 USD' total.txt"}]
    },
    {
      "id": 2,
      "prompt": "Book this invoice: 2 lamps at 12 each.",
      "expected_output": "total.txt says TOTAL 24.00 EUR",
      "assertions": [{"text": "It is booked", "type": "command", "value": "grep -qx 'TOTAL 24.00 EUR' total.txt"}]
    },
    {
      "id": 3,
      "prompt": "Book this credit note: 1 lamp at 12 GBP.",
      "expected_output": "total.txt says TOTAL -12.00 GBP",
      "assertions": [{"text": "It is booked", "type": "command", "value": "grep -qx 'TOTAL -12.00 GBP' total.txt"}]
    },
    {
      "id": 4,
      "prompt": "How many centimetres has a metre? Answer with the number.",
      "expected_output": "100",
      "assertions": [{"text": "The answer is 100", "type": "regex", "value": "\\b100\\b"}]
    }
  ]
}
"""
QUERIES = """[
  {"query": "Book the attached invoice, please.", "should_trigger": true},
  {"query": "A credit note has come in; enter it.", "should_trigger": true},
  {"query": "Write an invoice to our customer.", "should_trigger": false},
  {"query": "When is the invoice of March due?", "should_trigger": false}
]
"""
Step = Callable[[ModelRequest], ModelReply]


def writing(path: str, text: str) -> str:
    """The command that writes a file. The answer of an agent's own tool for it would be words of its vendor."""
    return f"mkdir -p {shlex.quote(str(Path(path).parent))} && printf %s {shlex.quote(text)} > {shlex.quote(path)}"


def then(*commands: str, first_turn: int, answer: str) -> Step:
    """Run commands, one after another, and answer."""

    def step(request: ModelRequest) -> ModelReply:
        at = request.turn - first_turn
        if at < len(commands):
            return ModelReply(tools=[run_shell(commands[at])], input_tokens=1200 + 100 * at, output_tokens=60)
        return ModelReply(answer, input_tokens=1200 + 100 * at, output_tokens=12)

    return step


def session(
    skilled: tuple[str, ...], unskilled: tuple[str, ...], answers: tuple[str, str]
) -> Callable[..., ModelReply]:
    """Behave like a model that knows what the skill says, where it is there, and like one that does not elsewhere."""
    return with_skill(
        "evaluate-a-skill",
        then(*skilled, first_turn=1, answer=answers[0]),
        then(*unskilled, first_turn=0, answer=answers[1]),
    )


def verdict(skilled: str, unskilled: str) -> Callable[..., ModelReply]:
    """Write a verdict, by the rule of the skill or by the look of the lift."""
    files = [(writing("verdict.txt", f"{word}\n"),) for word in (skilled, unskilled)]
    return session(files[0], files[1], ("I wrote verdict.txt.", "I wrote verdict.txt."))


def script() -> Callable[[ModelRequest], ModelReply]:
    """The words of the model."""
    check = f"python3 {CHECKER} {FOLDER}"
    evals = writing(f"{FOLDER}/evals/evals.json", EVALS)
    queries = writing(f"{FOLDER}/evals/trigger_evals.json", QUERIES)
    prose = writing(f"{FOLDER}/TESTING.md", "# Test cases\n\n1. Book an invoice and look at the total.\n")
    wishes = writing(f"{FOLDER}/queries.txt", "Book this invoice.\nWhat is the weather?\n")
    loaded = with_skill("evaluate-a-skill", ModelReply("The skill says how.", input_tokens=900, output_tokens=6), plain)
    return by_prompt(
        {
            "Write the test cases": session((evals, f"{check} --evals"), (prose,), ("Four evals.", "See TESTING.md.")),
            "leave it alone": session(
                (queries, f"{check} --queries"), (wishes,), ("Four queries.", "See queries.txt.")
            ),
            "our skill invoice-total": verdict("cannot tell", "helps"),
            "our skill minutes": verdict("hurts", "hurts"),
            "plural of 'appendix'": ModelReply("appendices", input_tokens=500, output_tokens=3),
            "makes the agent better": loaded,
            "Write evals.json": loaded,
            "Did that break anything": loaded,
        },
        plain,
    )


def plain(_request: ModelRequest) -> ModelReply:
    """Answer without any skill."""
    return ModelReply("Done.", input_tokens=500, output_tokens=3)


def main(program: str) -> int:
    """Record both arms of every eval, and every query, three times, replacing what was recorded before."""
    shutil.rmtree(RECORDINGS, ignore_errors=True)
    with ModelServer(script()) as server, tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "skillgauge", "eval", str(SKILL), "--engine", "claude-code"]
        command += ["--model", "claude-sonnet-4-5-scripted", "--runs", "3", "--record", str(RECORDINGS)]
        command += ["--store", "none", "--sandbox", "local"]
        command += ["--set", f"engines.claude-code.program={program}"]
        command += ["--set", f"engines.claude-code.base_url={server.url}", "--output-dir", f"{home}/reports"]
        environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"}
        environment["ANTHROPIC_API_KEY"] = "no-key-is-needed-here-0123456789"
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
