"""The real `claude plugin eval` and skillgauge on the same plugin and the same scripted model: equal verdicts."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, ToolCall, use_skill, write_file
from skillgauge_testkit.program import Program

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

MODEL = "claude-sonnet-4-5"
KEY = "no-key-is-needed-here-0123456789"
SKILL = "fold-boats"
ADDED = "Say where you are."
ANSWER = "Crease twice.\nDone."
PLAIN = ModelReply(ANSWER)

DEPTH = "mcp__plugin_boats_depth__measure"
MEASURE = ToolCall(DEPTH, {"place": "bar", "unit": "m"})
SERVERS = {name: {"command": "no-such-program-of-the-tests"} for name in ("depth", "radio")}
"""Servers of the plugin, of which one has a stand-in."""
MOCKS = {
    "mocks/depth/measure.md": "---\nexpect: {unit: [m, ft], place: '/^[a-z]+$/i'}\n---\n3 m deep at {{input.place}}\n",
    "mocks/wind/blow.md": "---\nerror: true\n---\nno wind from {{input.from}}\n",
    "own-mock/mocks/tide/now.md": "high water",
    "own-mock/mocks/depth/measure.md": "{{file:{input.place}.txt}}",
    "own-mock/mocks/depth/bar.txt": "9 m at bar from a file",
}
"""Stand-ins of all cases, and of one alone; `wind` stands for no server of the plugin."""

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
    "measured": (
        (MEASURE,),
        {
            "answer": regex("Crease"),
            "called": grader("tool_used", tool=DEPTH),
            "input": grader("tool_used", tool=DEPTH, input_match='"unit":"m"'),
            "not-called": grader("tool_used", tool=DEPTH, min=0, max=0, arm="both"),
            "reply": regex("3 m deep at bar", target="mock_calls"),
            "verdict": regex('"verdict":"ok"', target="mock_calls", arm="both"),
            "absent": regex("failed", target="mock_calls", match="not_contains"),
            "shape": regex(
                r'^\{"tool":"mcp__plugin_boats_depth__measure","input":\{.*\},"output":"', target="mock_calls"
            ),
        },
    ),
    "fails": (
        (ToolCall("mcp__wind__blow", {"from": "west"}), ToolCall("mcp__wind__gone", {})),
        {
            "called": grader("tool_used", tool="mcp__wind__blow", min=1, max=1),
            "error": regex('"isError":true,"verdict":"tool_error"', target="mock_calls"),
            "text": regex("no wind from west", target="mock_calls"),
            "order": grader("tool_order", before="mcp__wind__blow", after="mcp__wind__gone"),
        },
    ),
    "aborted": (
        (ToolCall(DEPTH, {"place": "bar", "unit": "mile"}),),
        {"answer": regex("Crease"), "called": grader("tool_used", tool=DEPTH)},
    ),
    "withheld": (
        (ToolCall("mcp__plugin_boats_radio__call", {}),),
        {"answer": regex("Crease"), "reply": regex("radio", target="mock_calls", arm="both", match="count:0")},
    ),
    "own-mock": (
        (ToolCall("mcp__tide__now", {}), MEASURE),
        {
            "own": regex("high water", target="mock_calls"),
            "overlaid": regex("9 m at bar from a file", target="mock_calls"),
            "no-depth": regex("3 m deep", target="mock_calls", match="not_contains"),
        },
    ),
    "prompted": ((), {"harbour": regex("harbour")}),
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
    if request.turn < len(steps):
        return ModelReply(tools=[steps[request.turn]])
    return ModelReply("In the harbour.") if ADDED in request.text else PLAIN


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
        head += f"append_system_prompt: {ADDED}\n" if name == "prompted" else ""
        (folder.parent / "prompt.md").write_text(f"---\n{head}---\nCase {name}.\n")
        for grader_name, text in graders.items():
            (folder / f"{grader_name}.md").write_text(text)
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": SERVERS}))
    for path, text in MOCKS.items():
        (root / "evals" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "evals" / path).write_text(text)
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


def both(program: Program, work: Path, claude: Path, script: Callable[[ModelRequest], ModelReply], *more: str) -> Any:
    """Evaluate the plugin `boats` with the program and with skillgauge; return what each of them decided."""
    home = work / "home"
    home.mkdir(exist_ok=True)
    with ModelServer(script) as server:
        environment = {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": server.url,
            "PATH": f"{claude.parent}:{program.environment['PATH']}",
        }
        words = ["plugin", "eval", str(work / "boats"), "--trust-plugin", "--no-publish", "--model", MODEL, *more]
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
            *("eval", "./boats", "--engine", "claude-code", "--model", MODEL),
            *("--format", "plugin-eval", "-o", work / "ours.json", "--store", "none"),
            *("--set", 'engines.claude-code.allowed_tools=["Write"]'),
            env=environment,
            timeout_s=500,
        )
    assert (work / "ours.json").is_file(), ours.stdout + ours.stderr
    return tuple(graded(json.loads((work / f"{name}.json").read_text())) for name in ("theirs", "ours"))


def test_equal_verdicts(program: Program, work: Path, agent_program: Callable[[str], Path]) -> None:
    """Every case and every grader has the same verdict in both arms, and counts or does not count in both."""
    made_plugin(work / "boats")
    expected, got = both(program, work, agent_program("claude"), script)
    assert expected.keys() == set(CASES)
    assert got == expected


def going_on(request: ModelRequest) -> ModelReply:
    """Name the colour that was said before, or say one."""
    if "Which colour was it?" not in request.text:
        return ModelReply("It is blue.")
    return ModelReply("It was blue." if "It is blue." in request.text else "There was none.")


def test_equal_verdicts_of_a_session_that_goes_on(
    program: Program, work: Path, agent_program: Callable[[str], Path]
) -> None:
    """The agent knows what was said, and what is graded is the part that is new."""
    claude = agent_program("claude")
    plugin = work / "boats"
    (plugin / "skills/fold").mkdir(parents=True)
    (plugin / ".claude-plugin").mkdir()
    (plugin / ".claude-plugin/plugin.json").write_text(json.dumps({"name": "boats", "version": "1.0.0"}))
    (plugin / "skills/fold/SKILL.md").write_text("---\nname: fold\ndescription: Use to fold.\n---\nCrease.\n")
    folder = plugin / "evals/again"
    (folder / "graders").mkdir(parents=True)
    (folder / "case.yaml").write_text(
        'schema_version: "1.0"\nname: again\nruns: 1\n'
        "execution: {prompt: Which colour was it?}\ncontext: {history_file: earlier.jsonl}\n"
    )
    (folder / "graders/knows.md").write_text(regex("was blue"))
    (folder / "graders/new.md").write_text(regex("It is blue", target="trace", match="not_contains"))
    with ModelServer(going_on) as server:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url, "HOME": str(work)}
        words = [claude, "-p", "Say a colour.", "--model", MODEL, "--setting-sources", "project"]
        path = {"PATH": program.environment["PATH"], "CLAUDE_CONFIG_DIR": str(work / "earlier")}
        subprocess.run(words, env={**environment, **path}, cwd=work, check=True, timeout=60, capture_output=True)
    (session,) = (work / "earlier/projects").rglob("*.jsonl")
    shutil.copyfile(session, folder / "earlier.jsonl")
    expected, got = both(program, work, claude, going_on, "--ablation", "with-without")
    assert expected["again"]["with"][0][0] is True
    assert got == expected
