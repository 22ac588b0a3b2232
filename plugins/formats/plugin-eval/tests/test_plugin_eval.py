"""Case folders of plugins and skills, read, run and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge.api import Check, Loaded, LoadRequest, Problem, Suite, SuiteError, VerdictMode, located_all, thaw
from skillgauge_format_plugin_eval.claiming import claim
from skillgauge_format_plugin_eval.dumping import dump
from skillgauge_format_plugin_eval.loading import load
from skillgauge_format_plugin_eval.options import PluginEvalOptions
from skillgauge_testkit import check_light_import, check_plugin

MODULE = "skillgauge_format_plugin_eval.plugin"
SKILL = "---\nname: fold\ndescription: Use when a boat is folded.\n---\nCrease twice.\n"
CASE_HEAD = 'schema_version: "1.0"\nname: a\n'
REGEX = "---\ntype: regex\n---\ncrease\n"


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a plugin with a skill and no case."""
    manifest = json.dumps({"name": "boats", "version": "2.1.0"})
    return write(tmp_path / "boats", {".claude-plugin/plugin.json": manifest, "skills/fold/SKILL.md": SKILL})


def case(root: Path, graders: dict[str, str], *, head: str = "", prompt: str = "Fold a boat.", name: str = "a") -> Path:
    """Write a case with the graders of these texts."""
    fence = f"---\n{head}\n---\n" if head else ""
    files = {f"evals/{name}/prompt.md": f"{fence}{prompt}\n"}
    files |= {f"evals/{name}/graders/{key}.md": text for key, text in graders.items()}
    write(root, files)
    return root / "evals" / name


def loaded(*paths: Path, searched: bool = False) -> Loaded:
    """Load what was named, or found by a search."""
    places = tuple(str(path) for path in paths)
    given = {"searched": places} if searched else {"paths": places}
    return load(LoadRequest(cwd="/", **{"paths": (), **given}), PluginEvalOptions())


def suite_of(*paths: Path) -> Suite:
    """Return the only suite."""
    (suite,) = loaded(*paths).suites
    return suite


def checks(root: Path, graders: dict[str, str], **keys: Any) -> dict[str, Check]:
    """Return the checks of a case, by their names."""
    return {check.id: check for check in next(iter(suite_of(case(root, graders, **keys)).cases)).checks}


def refused(*paths: Path) -> list[str]:
    """Return the problems that the paths are refused for, each with its place."""
    with pytest.raises(SuiteError) as error:
        loaded(*paths)
    return [told(one) for one in error.value.problems]


def told(problem: Problem) -> str:
    """Return a problem with file name, line and column."""
    (located,) = located_all([problem])
    where = located.span
    place = f"{Path(where.file).name}:{where.line}:{where.column}: " if where else ""
    return f"{place}{problem.message}"


def grader(kind: str, body: str = "", **keys: object) -> str:
    """Return the text of a grader."""
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in {"type": kind, **keys}.items())
    return f"---\n{head}---\n{body}\n"


@pytest.mark.slow
def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)


def test_what_is_claimed(plugin: Path, tmp_path: Path) -> None:
    """A case folder and its files, by what lies in them: never a folder by its name alone."""
    folder = case(plugin, {"g": REGEX}, name="group/deep")
    assert claim(folder) is not None
    assert claim(folder / "prompt.md") is not None
    for path in (plugin, plugin / "evals", plugin / "evals/group", folder / "graders", folder / "graders/g.md"):
        assert claim(path) is None, path
    assert claim(write(plugin, {"evals/other/prompt.md": "x\n"}) / "evals/other") is None
    marked = write(plugin, {"evals/marked/prompt.md": "---\nmax_turns: 3\n---\nx\n"}) / "evals/marked"
    assert claim(marked) is not None
    assert (
        claim(write(plugin, {"evals/file/case.yaml": "name: x\nexecution: {prompt: y}\n"}) / "evals/file") is not None
    )
    assert claim(write(plugin, {"evals/notes/case.yaml": "title: x\n"}) / "evals/notes") is None
    assert claim(case(plugin, {"g": REGEX}, name="results/x")) is None
    assert claim(case(tmp_path / "nowhere", {"g": REGEX})) is None, "there is no plugin and no skill around it"


def test_the_manifest_may_name_another_folder(tmp_path: Path) -> None:
    """It takes the place of `evals`."""
    manifest = json.dumps({"name": "boats", "experimental": {"evals": ["quality"]}})
    root = write(tmp_path / "boats", {"plugin.json": manifest, "skills/fold/SKILL.md": SKILL})
    assert claim(case(root, {"g": REGEX})) is None
    write(root, {"quality/a/prompt.md": "Fold.\n", "quality/a/graders/g.md": REGEX})
    assert claim(root / "quality/a") is not None


def test_a_plugin_is_one_suite(plugin: Path) -> None:
    """Its cases are one suite with two arms; ids are paths, and the limits are those of the program."""
    first = case(plugin, {"g": REGEX})
    write(plugin, {"skills/fold/evals/b/prompt.md": "Fold.\n", "skills/fold/evals/b/graders/g.md": REGEX})
    suite = suite_of(first, plugin / "skills/fold/evals/b")
    assert (suite.id, suite.version, suite.format, suite.document) == ("boats", "2.1.0", "plugin-eval", "plugin-eval")
    assert [one.id for one in suite.cases] == ["a", "skills/fold/b"]
    assert [(arm.name, [skill.name for skill in arm.skills]) for arm in suite.arms] == [
        ("with_plugin", ["fold"]),
        ("without_plugin", []),
    ]
    assert "evals" in suite.arms[0].skills[0].leaves_out
    assert [target.id for target in suite.targets] == ["fold"]
    (only, _) = suite.cases
    assert (only.limits.timeout_s, only.limits.max_turns, suite.defaults.runs) == (300, 10, 3)
    assert only.rule.mode is VerdictMode.EACH


def test_a_skill_by_itself(tmp_path: Path) -> None:
    """It has arms of its own names."""
    root = write(tmp_path / "fold", {"SKILL.md": SKILL})
    suite = suite_of(case(root, {"g": REGEX}))
    assert (suite.id, [arm.name for arm in suite.arms]) == ("fold", ["with_skill", "without_skill"])
    assert suite.arms[0].skills[0].leaves_out == ("evals",)


def test_everything_of_a_plugin_is_installed(plugin: Path) -> None:
    """Commands, agents, hooks and servers come along, with the files that they may use, and without the evals."""
    hooks = {"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "sh h.sh"}]}]}}
    hooks["hooks"]["Weird"] = []
    write(
        plugin,
        {
            "commands/launch.md": "---\ndescription: Launches.\n---\nLaunch $1.\n",
            "agents/captain.md": "---\nname: captain\ndescription: Leads.\n---\nLead.\n",
            "hooks/hooks.json": json.dumps(hooks),
            ".mcp.json": json.dumps({"mcpServers": {"sea": {"command": "sea"}}}),
            "h.sh": "exit 0\n",
        },
    )
    suite = suite_of(case(plugin, {"g": REGEX}))
    installs = {one.kind: one for one in suite.arms[0].installs}
    assert suite.arms[1].installs == ()
    assert thaw(installs["command"].content) == {"description": "Launches.", "text": "Launch $1."}
    assert (installs["agent"].name, installs["agent"].content["prompt"]) == ("captain", "Lead.")
    (hook,) = thaw(installs["hooks"].content)["hooks"]
    assert (hook["event"], hook["matcher"], hook["command"]) == ("pre-tool-use", "Write", "sh h.sh")
    assert installs["servers"].name == "plugin:boats:sea"
    assert thaw(installs["servers"].content)["servers"] == {}, "it is started only if the user says so"
    paths = [file.path for file in installs["hooks"].files]
    assert "h.sh" in paths
    assert not any("evals" in path for path in paths)
    assert [one.message.partition(" is started")[0] for one in suite.warnings] == [
        "hooks of event 'Weird' are not installed",
        "server 'plugin:boats:sea'",
    ]
    (real,) = load(LoadRequest(cwd="/", paths=(str(plugin),)), PluginEvalOptions(real_servers=True)).suites
    (server,) = (one for one in real.arms[0].installs if one.kind == "servers")
    assert thaw(server.content)["servers"] == {"plugin:boats:sea": {"command": "sea"}}


def test_both_files_of_a_case(plugin: Path) -> None:
    """What prompt.md says wins, graders and withheld tools are joined."""
    folder = case(plugin, {"b": REGEX}, head="max_turns: 3\ndisallowed_tools: [Write]\nschema_version: '1.1'")
    text = """\
schema_version: "1.1"
name: folding
tags: [paper]
runs: 2
execution: {prompt: Other., max_turns: 9, timeout_seconds: 60, disallowed_tools: [Edit], env: {EVAL_SIZE: "4"}}
graders:
  - {type: regex, name: first, pattern: keel}
"""
    write(folder, {"case.yaml": text})
    suite = suite_of(folder)
    (only,) = suite.cases
    assert (only.name, only.prompt, only.tags) == ("folding", "Fold a boat.", ("paper",))
    assert (only.limits.max_turns, only.limits.timeout_s, thaw(only.env)) == (3, 60, {"EVAL_SIZE": "4"})
    assert [check.id for check in only.checks] == ["first", "b"]
    assert only.extras["disallowed_tools"] == ("Edit", "Write")
    assert suite.defaults.runs == 2


JS = {"syntax": "javascript"}


@pytest.mark.parametrize(
    ("text", "scorer", "options"),
    [
        (grader("regex", "a$"), "regex", {"patterns": [r"a\Z"]}),
        (grader("regex", "a.c"), "regex", JS | {"patterns": ["a.c"]}),
        (grader("regex", "a+", flags="i"), "regex", {"patterns": ["a+"], "case_sensitive": False}),
        (grader("regex", "a|b c"), "regex", {"patterns": [r"a|b\ c"]}),
        (grader("regex", "ignored", pattern="a", flags="im"), "regex", JS | {"patterns": ["a"], "flags": "im"}),
        (grader("regex", r"a\.b"), "contains", {"keywords": ["a.b"], "case_sensitive": True}),
        (grader("regex", "a", flags="i"), "contains", {"keywords": ["a"], "case_sensitive": False}),
        (
            grader("regex", "a", match="not_contains"),
            "contains",
            {"keywords": ["a"], "case_sensitive": True, "absent": True},
        ),
        (grader("regex", "a", match="count:2"), "regex", JS | {"patterns": ["a"], "at_least": 2, "at_most": 2}),
        (grader("regex", "a", target="trace"), "regex", JS | {"patterns": ["a"], "source": "events"}),
        (grader("regex", "a", target="files"), "regex", JS | {"patterns": ["a"], "source": "created"}),
        (grader("regex", "a", target={"source": "file", "path": "b"}), "regex", JS | {"patterns": ["a"], "file": "b"}),
        (grader("tool_used", tool="Write"), "tool-call", {"tool": "Write"}),
        (grader("tool_used", tool="Write", min=0, max=0), "tool-call", {"tool": "Write", "called": False}),
        (grader("tool_used", tool="Write", min=2), "tool-call", {"tool": "Write", "at_least": 2}),
        (grader("tool_used", tool="Write", max=3), "tool-call", {"tool": "Write", "at_least": 1, "at_most": 3}),
        (
            grader("tool_used", tool="Write", input_match="x"),
            "tool-call",
            {"tool": "Write", "syntax": "javascript", "input_pattern": "x"},
        ),
        (
            grader("tool_order", before="Read", after={"tool": "Write"}),
            "tool-call",
            {"tool": "Read", "before": {"tool": "Write"}},
        ),
        (grader("file_exists", path="*.md"), "files", {"path": "*.md", "state": "created"}),
        (grader("file_exists", path="*.md", exists=False), "files", {"path": "*.md", "state": "not-created"}),
        (grader("llm", "Good."), "rubric", {"criteria": "Good.", "trajectory": False, "files": False}),
        (grader("llm", "Good.", focus="trace"), "rubric", {"criteria": "Good.", "trajectory": True, "files": False}),
        (grader("llm", "Good.", focus="files"), "rubric", {"criteria": "Good.", "trajectory": False, "files": True}),
        (
            grader("tool_used", tool="Skill", min=0, max=0, arm="both"),
            "trigger",
            {"skill": "fold", "should_trigger": False, "counts_without": True},
        ),
        (
            grader("tool_used", tool="Skill", min=2, arm="both"),
            "tool-call",
            {"tool": "Skill", "at_least": 2},
        ),
        (
            grader("tool_used", tool="Skill", input_match="another-skill", arm="both"),
            "tool-call",
            {"tool": "Skill", "syntax": "javascript", "input_pattern": "another-skill"},
        ),
    ],
)
def test_graders(plugin: Path, text: str, scorer: str, options: dict[str, Any]) -> None:
    """Each becomes the check that decides the same."""
    check = checks(plugin, {"g": text})["g"]
    assert (check.scorer, thaw(check.options), check.beside) == (scorer, options, False)


def test_indicators(plugin: Path) -> None:
    """What only the arm with the plugin can pass is a figure, unless there is nothing else."""
    fired = grader("tool_used", tool="Skill")
    beside = checks(plugin, {"a": REGEX, "fired": fired, "only": grader("regex", "x", arm="with-only")})
    assert {name: check.beside for name, check in beside.items()} == {"a": False, "fired": True, "only": True}
    assert thaw(beside["fired"].options) == {"skill": "fold"}
    alone = checks(plugin, {"fired": fired}, name="b")["fired"]
    assert (alone.beside, thaw(alone.options)) == (False, {"skill": "fold", "counts_without": True})


def test_the_skill_that_a_pattern_means(plugin: Path) -> None:
    """Of several skills the pattern of the input says which; without one any of them may fire."""
    write(plugin, {"skills/sail/SKILL.md": SKILL.replace("name: fold", "name: sail")})
    made = checks(
        plugin,
        {
            "any": grader("tool_used", tool="Skill"),
            "one": grader("tool_used", tool="Skill", input_match='"(boats:)?sail"'),
            "z": REGEX,
        },
    )
    assert thaw(made["any"].options) == {"skill": "fold", "acceptable": ["sail"]}
    assert thaw(made["one"].options) == {"skill": "sail"}


def test_scaffolding(plugin: Path) -> None:
    """The script runs before the session, with what lies beside it, and without the graders."""
    folder = case(plugin, {"g": REGEX})
    write(
        folder,
        {
            "case.yaml": 'schema_version: "1.0"\nname: a\ncontext: {scaffold_script: set/up.sh}\n',
            "set/up.sh": "cp paper.txt .\n",
            "set/paper.txt": "x",
        },
    )
    (only,) = suite_of(folder).cases
    assert only.setup == ('bash "set/up.sh"',)
    assert sorted(file.path for file in only.setup_files) == ["set/paper.txt", "set/up.sh"]


@pytest.mark.parametrize(
    ("head", "graders", "message"),
    [
        ("colour: red", {"g": REGEX}, "prompt.md:2:1: unknown key 'colour'"),
        ("execution: {max_turns: 3}", {"g": REGEX}, "prompt.md:2:1: unknown key 'execution'"),
        ("max_turns: 201", {"g": REGEX}, "prompt.md:2:1: 'max_turns' must be less than"),
        ("allowed_tools: Write", {"g": REGEX}, "prompt.md:2:1: 'allowed_tools' must be a list"),
        ("schema_version: 1.1", {"g": REGEX}, "prompt.md:2:1: 'schema_version' must be text, not 1.1"),
        ("env: {SIZE: '4'}", {"g": REGEX}, "prompt.md:2:1: variable 'SIZE' does not begin with EVAL_"),
        ("runs: 1", {}, "prompt.md:2:1: nothing grades this case"),
        ("", {"g": "---\nname: x\n---\n"}, "g.md:2:1: a grader without a type"),
        ("", {"g": grader("regexp", "x")}, "g.md:2:1: there is no grader of type 'regexp' (did you mean regex?)"),
        ("", {"g": grader("regex")}, "g.md:2:1: 'pattern' is missing"),
        ("", {"g": grader("regex", "x", weight=0)}, "g.md:3:1: 'weight' must be greater than 0"),
        ("", {"g": grader("regex", "(?i)x")}, "g.md:2:1: pattern '(?i)x' is not valid"),
        ("", {"g": grader("regex", "x", flags="ii")}, "g.md:2:1: flags 'ii' are not those of a pattern"),
        ("", {"g": grader("regex", "[a--b]", flags="v")}, "g.md:2:1: flag 'v'"),
        ("", {"g": grader("regex", "x", target="mock_calls")}, "g.md:3:1: nothing answers in the place of a server"),
        (
            "",
            {"g": grader("tool_used", tool="Write", max=0)},
            "g.md:4:1: no number of calls is at least 1 and at most 0",
        ),
        ("", {"g": grader("file_exists", path="../x")}, "g.md:3:1: '../x' does not stay inside the workspace"),
        (
            "",
            {"g": grader("baseline", baseline_file="b.jsonl")},
            "g.md:3:1: there is no session in 'b.jsonl'",
        ),
        ("", {"g": "---\ntype: regex\n"}, "g.md:1:None: the front matter is opened and not closed"),
        ("", {"g": REGEX, "h": "---\ntype: regex\nname: g\n---\nx\n"}, "h.md:3:1: two graders are called 'g'"),
    ],
)
def test_what_is_refused(plugin: Path, head: str, graders: dict[str, str], message: str) -> None:
    """Each with its place."""
    problems = refused(case(plugin, graders, head=head))
    assert any(one.startswith(message) for one in problems), problems


@pytest.mark.parametrize("prompt", ["", "  \n", "TODO: write the prompt"])
def test_a_prompt_that_is_none(plugin: Path, prompt: str) -> None:
    """An empty one and that of the template are refused."""
    (problem,) = refused(case(plugin, {"g": REGEX}, prompt=prompt))
    assert "prompt" in problem


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("history_file: h.jsonl", "there is no session in 'h.jsonl'"),
        ("history_file: ../../../h.jsonl", "there is no session in '../../../h.jsonl'"),
        ("add_dirs: [none]", "there is no folder 'none' in the plugin"),
        ("add_dirs: [../../..]", "there is no folder '../../..' in the plugin"),
        ("add_dirs: [.]", "folder '.' holds the case"),
        ("scaffold_script: none.sh", "there is no file 'none.sh' in the case"),
    ],
)
def test_what_a_context_cannot_have(plugin: Path, context: str, message: str) -> None:
    """Each with its place in case.yaml."""
    folder = case(plugin, {"g": REGEX})
    write(folder, {"case.yaml": f'schema_version: "1.0"\nname: a\ncontext:\n  {context}\n'})
    (folder / "prompt.md").rename(folder / "kept.txt")
    write(folder, {"case.yaml": (folder / "case.yaml").read_text() + "execution: {prompt: Fold.}\n"})
    (problem,) = refused(folder)
    assert problem.startswith("case.yaml:4:")
    assert message in problem


def test_folders_that_may_be_read(plugin: Path) -> None:
    """They lie in the workspace below their own names, which is told once."""
    folder = case(plugin, {"g": REGEX})
    text = f"{CASE_HEAD}context: {{add_dirs: [sheets, ../../shared/ink]}}\n"
    write(folder, {"case.yaml": text, "sheets/a/b.txt": "b\n", "../../shared/ink/blue.txt": "blue\n"})
    suite = suite_of(folder)
    (one,) = suite.cases
    assert [file.path for file in one.files] == ["sheets/a/b.txt", "ink/blue.txt"]
    (notice,) = (one.message for one in suite.warnings if "add_dirs" in one.message)
    assert "below its own name" in notice


def test_hints_that_work_when_followed(plugin: Path) -> None:
    """A file of the time before graders had front matter is named, and so is the version that is missing."""
    folder = case(plugin, {"criteria": "Is it folded?\n"})
    write(folder, {"case.yaml": "name: a\n"})
    with pytest.raises(SuiteError) as error:
        loaded(folder)
    version, ungraded = (str(one.hint) for one in error.value.problems)
    assert 'schema_version: "1.1"' in version
    assert "graders/criteria.md with the lines ---, type: llm, ---" in ungraded
    write(folder, {"case.yaml": 'schema_version: "1.1"\nname: a\n'})
    write(folder, {"graders/criteria.md": "---\ntype: llm\n---\nIs it folded?\n"})
    assert [one.name for one in suite_of(folder).cases] == ["a"]


def test_what_is_told(plugin: Path) -> None:
    """Keys without effect, files that are no graders, and folders that are no cases."""
    folder = case(plugin, {"g": REGEX, "note": "no front matter\n"}, head="allowed_tools: [Write]")
    case(plugin, {"g": REGEX}, name="b", head="runs: 5")
    write(
        plugin,
        {
            "evals/a/case.yaml": f"{CASE_HEAD}timeout_second: 3\nexecution: {{prompt: x, max_turn: 2}}\n",
            "evals/a/graders/extra.txt": "x",
            "evals/old/case.yml": "name: x\n",
            "evals/bare/graders/g.md": REGEX,
        },
    )
    suite = suite_of(folder, plugin / "evals/b")
    messages = [told(one) for one in suite.warnings]
    assert any("case.yaml:3:1: key 'timeout_second' has no effect" in one for one in messages)
    assert any(
        "case.yaml:4:" in one and "'max_turn' has no effect (did you mean max_turns?)" in one for one in messages
    )
    assert any("note.md:1:1: this file is no grader" in one for one in messages)
    assert any("only files NAME.md" in one for one in messages)
    assert any("there is no case.yaml in it" in one for one in messages)
    assert any("there is no prompt.md in it" in one for one in messages)
    assert any("allowed_tools: the engine says" in one for one in messages)


def test_runs(plugin: Path, tmp_path: Path) -> None:
    """One number of all is that of the suite; else each case has its own, and all come back as they were."""
    folders = [case(plugin, {"g": REGEX}, head="runs: 2"), case(plugin, {"g": REGEX}, name="b", head="runs: 2")]
    suite = suite_of(*folders)
    assert (suite.defaults.runs, [one.runs for one in suite.cases]) == (2, [None, None])
    folders += [case(plugin, {"g": REGEX}, name="c", head="runs: 5"), case(plugin, {"g": REGEX}, name="d")]
    folders += [case(plugin, {"g": REGEX}, name="e", head="runs: 3")]
    suite = suite_of(*folders)
    assert (suite.defaults.runs, [one.runs for one in suite.cases]) == (3, [2, 2, 5, None, None])
    dumped = dump(suite)
    assert (dumped.losses, suite.warnings) == ((), ())
    heads = [content.decode().split("---")[1] for name, content in dumped.artifacts if name.endswith("prompt.md")]
    numbers = [yaml.safe_load(head).get("runs") for head in heads]
    assert numbers == [2, 2, 5, None, None], "three times is what a case without a number is run"


def test_models(plugin: Path) -> None:
    """One model of all is that of the suite; cases of another one are a suite of their own."""
    first = case(plugin, {"g": REGEX}, head="model: sonnet")
    second = case(plugin, {"g": REGEX}, name="b")
    assert suite_of(first, second).defaults.model == "sonnet"
    third = case(plugin, {"g": REGEX}, name="c", head="model: opus")
    suites = loaded(first, second, third).suites
    assert [(one.name, one.defaults.model, len(one.cases)) for one in suites] == [
        ("boats", "sonnet", 2),
        ("boats-opus", "opus", 1),
    ]
    assert [list(one.parameters["cases"]) for one in suites] == [["a", "b"], ["c"]]


SESSION = [
    {"type": "user", "sessionId": "a-1", "message": {"role": "user", "content": "Fold a boat."}},
    {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Read", "input": {"path": "a"}}]}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": "a text"}]}},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "It is folded."}]}},
    {"type": "summary"},
]
LINES = "".join(json.dumps(record) + "\n" for record in SESSION)


def test_a_session_that_goes_on(plugin: Path) -> None:
    """The agent gets the earlier session under its own name, and what is added to the system prompt."""
    folder = case(plugin, {"g": REGEX}, head="append_system_prompt: Be brief.")
    write(folder, {"case.yaml": f"{CASE_HEAD}context: {{history_file: h.jsonl}}\n", "h.jsonl": f"no JSON\n{LINES}"})
    suite = suite_of(folder)
    earlier, prompt = next(iter(suite.cases)).installs
    assert (earlier.kind, thaw(earlier.content)) == ("history", {"session": "a-1", "file": "history/a-1.jsonl"})
    assert [file.path for file in earlier.files] == ["history/a-1.jsonl"]
    assert (prompt.kind, thaw(prompt.content)) == ("system-prompt", {"text": "Be brief."})
    assert any("runs in both arms" in one.message for one in suite.warnings)


def test_a_session_to_compare_with(plugin: Path) -> None:
    """A judge compares with its messages, calls and answers, of which a long one has the first and the last."""
    write(plugin, {"evals/a/b.jsonl": LINES})
    (check,) = checks(plugin, {"g": grader("baseline", "Is it folded?", baseline_file="b.jsonl")}).values()
    options = thaw(check.options)
    assert check.scorer == "rubric"
    assert options["criteria"].endswith("at least as well as the earlier session does: Is it folded?")
    lines = options["reference"].splitlines()
    assert lines[1:] == [
        "user: Fold a boat.",
        'calls Read with {"path":"a"}',
        "gets a text",
        "assistant: It is folded.",
    ]
    write(plugin, {"evals/a/b.jsonl": LINES * 20})
    (check,) = checks(plugin, {"g": grader("baseline", "Is it folded?", baseline_file="b.jsonl")}).values()
    assert thaw(check.options)["reference"].splitlines()[13] == "[56 more messages]"
    (problem,) = refused(case(plugin, {"g": grader("baseline", baseline_file="b.jsonl")}))
    assert "nothing says in what the sessions are compared" in problem


SEA = json.dumps({"mcpServers": {"sea": {"command": "sea"}}})
TIDE = "---\nexpect: {port: {name: [Bar, Reef]}, hour: number}\n---\nThe tide at {{input.port.name}} is high.\n"


def test_mocks(plugin: Path) -> None:
    """One for a server of the plugin is in the place of that one; any other is there in both arms."""
    folder = case(plugin, {"g": grader("regex", "high", target="mock_calls"), "h": REGEX})
    alone = case(plugin, {"g": grader("regex", "high", target="mock_calls"), "h": REGEX}, name="b")
    listing = {
        "result": {"tools": [{"name": "tide", "description": "Tells the tide.", "inputSchema": {"type": "object"}}]}
    }
    write(
        plugin,
        {
            ".mcp.json": SEA,
            "evals/mocks/sea/tide.md": TIDE,
            "evals/mocks/sea/_tools.json": json.dumps(listing),
            "evals/b/mocks/wind/blow.md": "---\nerror: true\n---\nno wind\n",
            "evals/b/mocks/sea/chart.md": "{{file:chart.txt}}",
            "evals/b/mocks/sea/chart.txt": "a chart",
        },
    )
    suite = suite_of(folder, alone)
    first, second = suite.cases
    (sea,) = first.installs
    assert (sea.kind, sea.name, sea.replaces) == ("servers", "plugin:boats:sea", True)
    mock = thaw(sea.content)["servers"]["plugin:boats:sea"]["mock"]
    assert mock["tools"] == listing["result"]["tools"]
    assert [guard["at"] for guard in mock["answers"]["tide"][0]["expect"]] == ["port.name", "hour"]
    assert {check.id: check.beside for check in first.checks} == {"g": True, "h": False}
    assert first.checks[0].options["source"] == "mocked"
    assert [(one.name, one.replaces) for one in second.installs] == [("plugin:boats:sea", True), ("wind", False)]
    assert {check.id: check.beside for check in second.checks} == {"g": False, "h": False}, "wind is in both arms"
    assert [file.path for file in second.installs[0].files] == [
        "evals/b/mocks/sea/chart.md",
        "evals/b/mocks/sea/chart.txt",
    ]


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("sea/tide.md", "---\ntype: agent\n---\nPlay the sea.\n", "tide.md:2:1: no model plays a server here"),
        ("sea/_server.md", "---\ntype: agent\ntools: [a]\n---\nx\n", "_server.md:2:1: no model plays"),
        ("sea/tide.md", "---\nabort_when: x\n---\nx\n", "tide.md:2:1: abort_when needs type: agent"),
        ("sea/tide.md", "---\ntools: [a]\n---\nx\n", "tide.md:2:1: tools belongs into _server.md"),
        ("sea/tide.md", "---\nexpect: {a: /(/}\n---\nx\n", "tide.md:2:10: /(/: "),
        ("sea/tide.md", "---\ncolour: red\n---\nx\n", "tide.md:2:1: unknown key 'colour'"),
        ("sea/tide.md", "TODO: replace with the canned result this tool should return", "the answer is still"),
        ("sea/high tide.md", "x", "'high tide' is no name of a tool"),
        ("the sea/tide.md", "x", "'the sea' is no name of a server"),
        ("sea/_tools.json", "{", "_tools.json:1"),
    ],
)
def test_mocks_that_are_none(plugin: Path, path: str, text: str, message: str) -> None:
    """Each is told at its place."""
    folder = case(plugin, {"g": REGEX})
    write(plugin, {f"evals/mocks/{path}": text, "evals/mocks/sea/wave.md": "small"})
    assert any(message in one for one in refused(folder)), refused(folder)


def test_byte_order_marks_and_line_ends(plugin: Path) -> None:
    """Both are what editors write."""
    folder = case(plugin, {"g": REGEX})
    (folder / "prompt.md").write_bytes("\ufeff---\r\nruns: 2\r\n---\r\nFold.\r\nNow.\r\n".encode())
    (only,) = suite_of(folder).cases
    assert only.prompt == "Fold.\nNow."


def test_a_search_goes_on_beside_a_bad_plugin(plugin: Path, tmp_path: Path) -> None:
    """What was only found is told, and the others run."""
    bad = case(write(tmp_path / "bad", {"SKILL.md": SKILL}), {"g": "---\ntype: x\n---\n"})
    found = loaded(case(plugin, {"g": REGEX}), bad, searched=True)
    assert ([one.id for one in found.suites], len(found.problems)) == (["boats"], 1)


def test_a_suite_comes_back(plugin: Path, tmp_path: Path) -> None:
    """What was read from the format is written as it was: cases, checks, weights, limits and tags."""
    graders = {
        "a": grader("regex", "Crease twice$", flags="m", weight=2),
        "b": grader("tool_used", tool="Write", min=0, max=2),
        "c": grader("llm", "The boat floats.\nIt has a keel.", focus="trace"),
        "d": grader("tool_used", tool="Skill"),
    }
    folder = case(plugin, graders, name="x/y", head="tags: [paper]\nmax_turns: 4\nruns: 2\nexpected_outcome: floats")
    suite = suite_of(folder)
    dumped = dump(suite)
    assert [one.message for one in dumped.losses] == []
    root = tmp_path / "again"
    for name, content in dumped.artifacts:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    again = suite_of(root / "evals/x/y")

    def content(one: Suite) -> list[Any]:
        bare = {"origin", "extras"}
        return [
            (
                case_.model_dump(exclude={*bare, "checks"}),
                [check.model_dump(exclude=bare) for check in case_.checks],
            )
            for case_ in one.cases
        ]

    assert content(again) == content(suite)
    assert next(iter(again.cases)).extras["expected_outcome"] == "floats"


def test_stand_ins_come_back(plugin: Path, tmp_path: Path) -> None:
    """They are written with their case, whichever folder they were in; another format's are told as a loss."""
    folder = case(plugin, {"g": REGEX}, head="append_system_prompt: Be brief.")
    write(
        plugin,
        {"evals/mocks/sea/tide.md": "---\nexpect: {port: Bar}\n---\n{{file:t.txt}}\n", "evals/mocks/sea/t.txt": "t"},
    )
    suite = suite_of(folder)
    dumped = dump(suite)
    assert dumped.losses == ()
    assert dict(dumped.artifacts)["evals/a/mocks/sea/t.txt"] == b"t"
    for path, content in dumped.artifacts:
        write(tmp_path / "again", {path: content.decode()})
    write(tmp_path / "again", {"plugin.json": json.dumps({"name": "boats"})})
    again = suite_of(tmp_path / "again/evals/a")
    before, after = (next(iter(one.cases)).installs for one in (suite, again))
    assert [one.name for one in before] == [one.name for one in after] == ["sea", "system-prompt"]
    expected = thaw(before[0].content)["servers"]["sea"]["mock"]["answers"]["tide"][0]
    got = thaw(after[0].content)["servers"]["sea"]["mock"]["answers"]["tide"][0]
    assert (got["expect"], got["text"]) == (expected["expect"], expected["text"])
    foreign = suite.model_copy(update={"format": "other"})
    assert sorted(one.message for one in dump(foreign).losses)[:2] == [
        "case 'a': servers that its agent is given cannot be written",
        "case 'a': system-prompt that its agent is given cannot be written",
    ]
