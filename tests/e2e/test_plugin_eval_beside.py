"""The real `claude plugin eval` and skillgauge on the same plugin and the same scripted model: equal verdicts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, use_skill, write_file
from skillgauge_testkit.program import Program

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

KEY = "no-key-is-needed-here-0123456789"
SKILL = "fold-boats"
ANSWER = "Crease twice.\nDone."
PLAIN = ModelReply(ANSWER)

Graders = dict[str, str]


def regex(pattern: str, **keys: object) -> str:
    """Return a grader of a pattern."""
    return grader("regex", body=pattern, **keys)


def grader(kind: str, *, body: str = "", **keys: object) -> str:
    """Return the text of a grader's file."""
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in {"type": kind, **keys}.items())
    return f"---\n{head}---\n{body}\n"


CASES: dict[str, tuple[tuple[Any, ...], Graders]] = {
    "anchors": (
        (),
        {"end": regex("twice$"), "line": regex("twice.$", flags="m"), "all": regex(r"^Crease[\s\S]*Done\.$")},
    ),
    "flags": (
        (),
        {"case": regex("crease"), "none": regex("crease", flags="i"), "dot": regex("twice.+Done", flags="s")},
    ),
    "letters": ((), {"unicode": regex(r"\p{L}", flags="u"), "plain": regex(r"\p{L}"), "start": regex(r"\ACrease")}),
    "modifiers": ((), {"group": regex("(?i:crease)"), "named": regex("(?<a>Cr)ease")}),
    "absent": ((), {"no": regex("keel", match="not_contains"), "yes": regex("Crease", match="not_contains")}),
    "counts": ((), {"two": regex("[.]", match="count:2"), "one": regex("[.]", match="count:1")}),
    "weights": ((), {"good": regex("Crease", weight=3), "bad": regex("keel", weight=1)}),
    "sticky": ((), {"first": regex("Crease", flags="y"), "later": regex("twice", flags="y")}),
    "written": (
        (write_file("out/boat.txt", "a keel\n"),),
        {
            "there": grader("file_exists", path="out/*.txt"),
            "deep": grader("file_exists", path="**/boat.txt"),
            "top": grader("file_exists", path="*.txt"),
            "gone": grader("file_exists", path="*.md", exists=False),
            "listed": regex("^out/boat.txt$", target="files"),
            "inside": regex("keel", target={"source": "file", "path": "out/boat.txt"}),
            "missing": regex("x", match="not_contains", target={"source": "file", "path": "none.txt"}),
            "writes": grader("tool_used", tool="Write"),
            "input": grader("tool_used", tool="Write", input_match="a keel"),
            "other": grader("tool_used", tool="Write", input_match="^a keel"),
            "none": grader("tool_used", tool="Bash", min=0, max=0),
            "trace": regex('"name":"Write"', target="trace"),
        },
    ),
    "twice": (
        (write_file("a.txt", "a"), write_file("b.txt", "b")),
        {
            "two": grader("tool_used", tool="Write", min=2, max=2),
            "three": grader("tool_used", tool="Write", min=3),
            "one": grader("tool_used", tool="Write", max=1),
            "itself": grader("tool_order", before={"tool": "Write", "input_match": "a.txt"}, after="Write"),
            "later": grader("tool_order", before="Write", after={"tool": "Write", "input_match": "b.txt"}),
            "earlier": grader("tool_order", before={"tool": "Write", "input_match": "b.txt"}, after="Write"),
            "never": grader("tool_order", before="Write", after="Read"),
        },
    ),
    "endless": (
        tuple(write_file(f"{number}.txt", "x") for number in range(8)),
        {"answer": regex("Crease"), "wrote": grader("tool_used", tool="Write")},
    ),
    "fires": ((use_skill(SKILL),), {"fired": grader("tool_used", tool="Skill"), "answer": regex("Crease")}),
    "only-fires": ((use_skill(SKILL),), {"fired": grader("tool_used", tool="Skill")}),
    "silent": ((), {"fired": grader("tool_used", tool="Skill", min=0, max=0, arm="both"), "answer": regex("Crease")}),
    "fires-wrongly": (
        (use_skill(SKILL),),
        {"fired": grader("tool_used", tool="Skill", min=0, max=0, arm="both"), "answer": regex("Crease")},
    ),
    "indicator": ((), {"beside": regex("keel", arm="with-only"), "answer": regex("Crease")}),
}
"""Name -> calls of tools, then the answer; and its graders. The name is the prompt."""


def script(request: ModelRequest) -> ModelReply:
    """Make the calls of the case in turn, then answer; a skill that is not offered is not used."""
    case = next((name for name in sorted(CASES, key=len, reverse=True) if f"Case {name}." in request.prompt), None)
    if case is None or not request.tools:
        return ModelReply("A boat")  # what the program asks beside a session
    steps = CASES[case][0]
    offered = next((name for name in request.skills if name.rpartition(":")[2] == SKILL), None)
    if "fires" in case:
        steps = (use_skill(offered),) if offered else ()
    return ModelReply(tools=[steps[request.turn]]) if request.turn < len(steps) else PLAIN


def made_plugin(root: Path) -> Path:
    """Make the plugin with a folder for each case."""
    (root / ".claude-plugin").mkdir(parents=True)
    (root / ".claude-plugin/plugin.json").write_text(json.dumps({"name": "boats", "version": "1.0.0"}))
    skill = root / "skills" / SKILL
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        f"---\nname: {SKILL}\ndescription: Use when a boat is folded.\n---\nCrease twice.\n"
    )
    for name, (_, graders) in CASES.items():
        folder = root / "evals" / name / "graders"
        folder.mkdir(parents=True)
        head = "runs: 1\nmax_turns: 4\nallowed_tools: [Write]\n"
        (folder.parent / "prompt.md").write_text(f"---\n{head}---\nCase {name}.\n")
        for grader_name, text in graders.items():
            (folder / f"{grader_name}.md").write_text(text)
    return root


def graded(document: dict[str, Any]) -> dict[str, Any]:
    """Return verdict and score of each case in each arm, and of each grader whether it passed and whether it counts."""
    return {
        case["name"]: {arm: [verdict(run) for run in runs] for arm, runs in case["arms"].items()}
        for case in document["cases"]
    }


def verdict(run: dict[str, Any]) -> tuple[bool, float, dict[str, tuple[bool, bool]]]:
    """Return what was decided of one run."""
    graders = {one["name"]: (one["passed"], one["scored"]) for one in run["graders"]}
    return run["passed"], round(run["score"], 6), graders


def test_equal_verdicts(program: Program, work: Path, agent_program: Callable[[str], Path]) -> None:
    """Every case and every grader has the same verdict in both arms, and counts or does not count in both."""
    plugin = made_plugin(work / "boats")
    claude = agent_program("claude")
    home = work / "home"
    home.mkdir()
    with ModelServer(script) as server:
        environment = {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": server.url,
            "PATH": f"{claude.parent}:{program.environment['PATH']}",
        }
        words = ["plugin", "eval", str(plugin), "--trust-plugin", "--no-publish", "--model", "claude-sonnet-4-5"]
        words += ["--allow-tools", "Write", "--concurrency", "4", "--json", str(work / "theirs.json")]
        theirs = subprocess.run(
            [claude, *words],
            env={**environment, "HOME": str(home), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
            cwd=work,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        assert (work / "theirs.json").is_file(), theirs.stdout + theirs.stderr
        ours = program.process(
            *("eval", "./boats", "--engine", "claude-code", "--model", "claude-sonnet-4-5"),
            *("--format", "plugin-eval", "-o", work / "ours.json", "--store", "none"),
            *("--set", 'engines.claude-code.allowed_tools=["Write"]'),
            env=environment,
            timeout_s=500,
        )
    assert (work / "ours.json").is_file(), ours.stdout + ours.stderr
    expected = graded(json.loads((work / "theirs.json").read_text()))
    got = graded(json.loads((work / "ours.json").read_text()))
    assert expected.keys() == set(CASES)
    assert got == expected
