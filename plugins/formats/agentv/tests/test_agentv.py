"""EVAL.yaml of agentv: read, run, refused by position, written, and told apart from other tools' files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge.api import (
    Case,
    Check,
    Loaded,
    LoadRequest,
    SkillRole,
    Suite,
    SuiteError,
    VerdictMode,
    VerdictRule,
    located_all,
    thaw,
)
from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_mutants, check_plugin
from skillgauge_testkit.program import Program

MODULE = "skillgauge_format_agentv.plugin"
FORMAT = Maker(FORMATS, MODULE)()
SKILL = "---\nname: labels\ndescription: Prints labels of parcels. Use when a parcel needs a label.\n---\n\nPrint.\n"
OTHER = "---\nname: stamps\ndescription: Buys stamps. Use when a letter needs one.\n---\n\nBuy.\n"
EVAL = """name: labels-eval
description: What the skill is good for.
tags: [parcels]
providers:
  - {id: codex-cli, label: mine, config: {model: some-model}}
  - some-server
prompts:
  - "{{ input }}"
environment: {type: host, workdir: work}
extensions: ["agentv:agent-rules"]
evaluate_options: {repeat: 2, max_concurrency: 3}
timeout_seconds: 90
threshold: 0.7
default_test:
  vars: {unit: kg}
assert:
  - {type: icontains, value: label, weight: 2}
tests:
  - id: print
    description: One parcel.
    metadata: {tags: [print], ticket: 7}
    conversation_id: parcels
    vars:
      input:
        - {role: system, content: "Weights are in {{ unit }}."}
        - role: user
          content:
            - {type: file, value: data/parcels.csv}
            - {type: text, value: "Print the label of parcel {{ 7 * 7 }}."}
      expected_output: The label says 49.
    run: {threshold: 0.5, timeout_seconds: 30}
    assert:
      - It says where the parcel goes.
      - {type: llm-rubric, metric: quality, weight: 3, value: [{id: clean, outcome: It is clean., weight: 2},
          {outcome: It is for nobody., operator: contradiction}]}
      - {type: contains, value: refund, negate: true}
      - The weight has a unit.
  - id: count
    vars: {input: "Count them in {{ unit }}."}
    execution: {skip_defaults: true}
    assert:
      - {type: script, metric: counted, command: [python3, ../graders/count.py, "--most", "3"], config: {least: 1}}
      - {type: execution-metrics, max_tool_calls: 5, max_duration_ms: 9000}
"""
COUNT = """import json, sys
said = json.load(sys.stdin)
good = said["output"].count("x") >= said["config"]["least"]
checks = [{"text": "an x", "pass": good, "reason": "counted"}, {"text": "any", "pass": True, "reason": ""}]
print(json.dumps({"pass": good, "checks": checks}))
"""


def laid(root: Path, text: str = EVAL, **files: str) -> Path:
    """A repository with a skill, a suite and all that it names."""
    more = {
        "skills/labels/SKILL.md": SKILL,
        "evals/labels.eval.yaml": text,
        "evals/data/parcels.csv": "a,b\n",
        "evals/work/AGENTS.md": "Be brief.\n",
        "evals/work/.claude/skills/stamps/SKILL.md": OTHER,
        "evals/work/.claude/skills/labels/SKILL.md": SKILL,
        "graders/count.py": COUNT,
        "graders/names.txt": "a\n",
    }
    (root / ".git").mkdir(parents=True, exist_ok=True)
    for place, content in (more | files).items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(content)
    return root / "evals/labels.eval.yaml"


def load(file: Path) -> Loaded:
    """What the format makes of a file."""
    return FORMAT.load(LoadRequest(paths=(str(file),), cwd=str(file.parent)))


def loaded(file: Path) -> Suite:
    """The one suite of a file."""
    return load(file).suites[0]


def one_test(root: Path, *asserted: Any, top: dict[str, Any] | None = None, **test: Any) -> Path:
    """A file with one test beside a skill."""
    document = {"prompts": ["{{ q }}"], "tests": [{"id": "one", "vars": {"q": "Do it."}, "assert": asserted, **test}]}
    root.mkdir(parents=True, exist_ok=True)
    (root / "SKILL.md").write_text(SKILL)
    (root / "EVAL.yaml").write_text(json.dumps(document | (top or {})))
    return root / "EVAL.yaml"


def case_of(file: Path) -> Case:
    """Its case."""
    (case,) = loaded(file).cases
    return case


def refusals(file: Path) -> list[str]:
    """Place and message of everything that is wrong with a file."""
    with pytest.raises(SuiteError) as caught:
        load(file)
    found = located_all(caught.value.problems)
    assert all(one.span is not None and one.span.line for one in found), found
    return [f"{one.span.line}:{one.span.column} {one.message}" for one in found if one.span is not None]


def test_what_is_read(tmp_path: Path) -> None:
    """Prompts with variables, files of messages and of the workspace, criteria, limits and who is asked."""
    suite = loaded(laid(tmp_path))
    first, second = suite.cases
    assert first.prompt == "Weights are in kg.\n\nFile: data/parcels.csv\n\nPrint the label of parcel {{ 7 * 7 }}."
    assert (first.id, first.description, first.tags, first.cluster) == ("print", "One parcel.", ("print",), "parcels")
    assert [file.path for file in first.files] == ["AGENTS.md", "data/parcels.csv"]
    assert [(one.id, one.scorer, one.weight) for one in first.checks] == [
        ("It says where the parcel goes.", "rubric", 1),
        ("quality: clean", "rubric", 2),
        ("quality: It is for nobody.", "rubric", 1),
        ("contains 3", "contains", 1),
        ("The weight has a unit.", "rubric", 1),
        ("icontains 5", "contains", 2),
    ]
    claims = [check.options["claims"] for check in first.checks if check.scorer == "rubric"]
    assert claims[2] == ("The answer does not contradict this: It is for nobody.",)
    assert (first.rule.mode, first.rule.threshold, first.limits.timeout_s) == (VerdictMode.MEAN, 0.5, 30)
    assert second.prompt == "Count them in kg."
    assert [(one.id, one.weight) for one in second.checks] == [
        ("counted", 1),
        ("execution-metrics 2: max_tool_calls", 0.5),
        ("execution-metrics 2: max_duration_ms", 0.5),
    ]
    assert second.rule.threshold == 0.7
    graders = {file.path for file in second.grader_files}
    (own,) = (path for path in graders if path.endswith("/grader.py"))
    assert graders == {own, *(f"agentv-graders/files/graders/{n}" for n in ("count.py", "names.txt"))}
    defaults = suite.defaults
    assert (defaults.engine, defaults.model, defaults.runs, defaults.limits.timeout_s) == ("codex", "some-model", 2, 90)


def test_skills_of_the_workspace_are_installed_by_arms(tmp_path: Path) -> None:
    """The skill that an assertion names is the candidate, the others lie beside it in both arms."""
    text = EVAL.replace("  - {type: icontains, value: label, weight: 2}", "  - {type: not-skill-used, value: labels}")
    suite = loaded(laid(tmp_path, text))
    assert [(arm.name, [(one.name, one.role) for one in arm.skills]) for arm in suite.arms] == [
        ("with_skill", [("labels", SkillRole.CANDIDATE), ("stamps", SkillRole.DISTRACTOR)]),
        ("without_skill", [("stamps", SkillRole.DISTRACTOR)]),
    ]
    used = loaded(laid(tmp_path / "b", text.replace("not-skill-used", "skill-used")))
    assert [arm.name for arm in used.arms] == ["with_skill"]


def test_what_has_no_effect_is_told_once(tmp_path: Path) -> None:
    """Each key that is honoured otherwise stands once in the warnings."""
    told = [one.message for one in loaded(laid(tmp_path)).warnings]
    for words in ("`tags` of the file", "max_concurrency", "`metadata` of a test", "no engine here is", "roles"):
        assert sum(words in one for one in told) == 1, told


OLD = {
    "execution": {"target": "default", "evaluators": [{"name": "short", "type": "contains", "value": "a"}]},
    "evalcases": [
        {
            "id": "old",
            "expected_outcome": "It is friendly.",
            "input_messages": [{"role": "user", "content": "Greet."}],
            "expected_messages": [{"role": "assistant", "content": "Hello."}],
            "rubrics": ["It greets."],
        },
        {"id": "alone", "criteria": "It is right.", "input": "Add.", "execution": {"skip_defaults": True}},
        {"id": "reference", "input": "Add.", "expected_output": "42", "execution": {"skip_defaults": True}},
    ],
}


def test_files_of_older_versions(tmp_path: Path) -> None:
    """Tests that say themselves what is asked and what is right, and graders under `execution`."""
    (tmp_path / "a.eval.yaml").write_text(json.dumps(OLD))
    first, alone, reference = loaded(tmp_path / "a.eval.yaml").cases
    assert first.prompt == "Greet."
    assert [one.id for one in first.checks] == ["short", "It greets."]
    assert [one.options["claims"] for one in alone.checks] == [("It is right.",)]
    assert [one.options["reference"] for one in reference.checks] == ["42"]


ASSERTED: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"type": "llm-rubric", "value": "It is short."}, "rubric", {"claims": ["It is short."]}),
    (
        {"type": "llm-rubric", "value": "It is short.", "min_score": 0.6},
        "rubric",
        {"criteria": "It is short.", "scale": "0-1", "threshold": 0.6},
    ),
    (
        {"type": "llm-rubric", "prompt": "Is {{ output }} an answer to: {{ input }}?"},
        "rubric",
        {"criteria": "Is the answer, which stands below an answer to: Do it.?", "scale": "0-1", "threshold": 0.8},
    ),
    ({"type": "rubrics", "criteria": ["It is short."]}, "rubric", {"claims": ["It is short."]}),
    ({"type": "latency", "threshold": 500}, "usage", {"duration_s": 0.5}),
    ({"type": "cost", "budget": 0.25}, "usage", {"cost_usd": 0.25}),
    ({"type": "token_usage", "max_total": 1000}, "usage", {"tokens": 1000}),
    (
        {"type": "tool-trajectory", "mode": "any_order", "minimums": {"A": 2}},
        "sequence",
        {"tools": ["A", "A"], "order": "any"},
    ),
    (
        {"type": "tool-trajectory", "mode": "in_order", "expected": [{"tool": "A"}, {"tool": "B", "args": "any"}]},
        "sequence",
        {"tools": ["A", "B"], "order": "in-order"},
    ),
    (
        {"type": "regex", "value": "a.c", "flags": "i"},
        "regex",
        {"patterns": ["a.c"], "case_sensitive": False, "absent": False},
    ),
    (
        {"type": "ends_with", "value": " b "},
        "regex",
        {"patterns": ["b\\s*\\Z"], "case_sensitive": True, "absent": False},
    ),
    (
        {"type": "starts-with", "value": "b", "negate": True},
        "regex",
        {"patterns": ["\\A\\s*b"], "case_sensitive": True, "absent": True},
    ),
    ({"type": "not-trajectory:tool-used", "value": "A"}, "tool-call", {"tool": "A", "called": False}),
    ({"type": "skill-used", "value": "labels"}, "trigger", {"skill": "labels", "should_trigger": True}),
]


@pytest.mark.parametrize(("assertion", "scorer", "options"), ASSERTED, ids=lambda one: str(one)[:50])
def test_assertions(tmp_path: Path, assertion: dict[str, Any], scorer: str, options: dict[str, Any]) -> None:
    """Each type becomes the check that decides it."""
    (check,) = case_of(one_test(tmp_path, assertion)).checks
    assert (check.scorer, thaw(check.options)) == (scorer, options)


def test_what_is_required_is_asked_first(tmp_path: Path) -> None:
    """It ends the test if it is not so; where everything is required, all has to hold."""
    word = {"type": "contains", "value": "a", "required": True}
    case = case_of(one_test(tmp_path / "a", {"type": "contains", "value": "b"}, word, "It is good."))
    assert [one.stage for one in case.checks] == [1, 0, 1]
    assert case.rule.mode is VerdictMode.MEAN
    everything = case_of(one_test(tmp_path / "b", word, {**word, "value": "b"}))
    assert (everything.rule.mode, [one.stage for one in everything.checks]) == (VerdictMode.ALL, [0, 0])
    light = {**word, "weight": 0.1}
    found = refusals(one_test(tmp_path / "c", {"type": "contains", "value": "b"}, word, light))
    assert len(found) == 1
    assert "outweigh" in found[0]


def test_a_group_shares_its_weight(tmp_path: Path) -> None:
    """And its threshold decides where it is all that a test asserts."""
    inner = ["It is a.", {"type": "contains", "value": "b", "weight": 3}]
    group = {"type": "assert-set", "threshold": 0.6, "weight": 4, "assert": inner}
    case = case_of(one_test(tmp_path, group))
    assert [one.weight for one in case.checks] == [1, 3]
    assert case.rule.threshold == 0.6
    assert "threshold of a group" in refusals(one_test(tmp_path, group, "More."))[0]


@pytest.mark.slow
def test_a_run_decides_by_scripts(program: Program) -> None:
    """A grader gets the answer on stdin; what it prints is the score, and one that breaks is no verdict."""
    texts = {
        "passes": "import json, sys; print(json.dumps({'score': float(json.load(sys.stdin)['output'] != '')}))",
        "fails": "import sys; print('no'); sys.exit(1)",
        "turned": "print('yes')",
        "breaks": "import sys; sys.exit('broken')",
    }
    script = {"type": "script", "required": True}
    asserted = {name: [script | {"command": f"python3 {name}.py", "negate": name == "turned"}] for name in texts}
    tests = [{"id": name, "vars": {"q": "Use labels."}, "assert": asserted[name]} for name in texts]
    file = one_test(program.work / "labels", top={"tests": tests})
    for name, text in texts.items():
        (file.parent / f"{name}.py").write_text(text)
    done = program("eval", file, "--engine", "mock", "--json")
    assert done.code == 0, done
    verdicts = {one["case_id"]: one["verdict"] for one in done.document["results"]}
    assert verdicts == {"passes": "pass", "fails": "fail", "turned": "fail", "breaks": "error"}


@pytest.mark.parametrize(
    ("assertion", "words"),
    [
        ({"type": "similar", "value": "a"}, "embeddings"),
        ({"type": "webhook", "value": "a"}, "service"),
        ({"type": "field-accuracy", "fields": []}, "fields of an object"),
        ({"type": "contain", "value": "a"}, "did you mean contains"),
        ({"type": "contains", "value": "a", "wieght": 2}, "did you mean weight"),
        ({"type": "contains", "value": "{{ qq }}"}, "did you mean q"),
        ({"type": "contains", "value": ""}, "needs a text"),
        ({"type": "regex", "value": "("}, "regular expression"),
        ({"type": "regex", "value": "a", "flags": "u"}, "flags"),
        ({"type": "llm-rubric"}, "nothing to ask"),
        ({"type": "llm-rubric", "value": [{"outcome": ""}]}, "says something"),
        ({"type": "llm-rubric", "value": [{"outcome": "a", "score_ranges": []}]}, "ranges"),
        ({"type": "not-llm-rubric", "value": "a"}, "contrary"),
        ({"type": "llm-rubric", "prompt": "file://none.md"}, "no file"),
        ({"type": "llm-rubric", "prompt": {"command": "x"}}, "not run"),
        ({"type": "execution-metrics"}, "needs max_tool_calls"),
        ({"type": "execution-metrics", "target_exploration_ratio": 0.5}, "target_exploration_ratio"),
        ({"type": "latency"}, "needs threshold"),
        ({"type": "tool-trajectory", "mode": "exact", "expected": [{"tool": "A", "max_duration_ms": 3}]}, "time"),
        ({"type": "tool-trajectory", "mode": "subset"}, "needs mode"),
        ({"type": "script"}, "needs a `command`"),
        ({"type": "script", "command": "x", "provider": True}, "asks a model"),
        ({"type": "skill-used", "value": "other"}, "no skill 'other'"),
        ({"type": "contains", "value": "a", "weight": -1}, "at least 0"),
        ({"type": "contains", "value": "a", "transform": "x"}, "changes the output"),
        ({"type": "assert-set", "assert": []}, "needs a list"),
        ({"include": "mine"}, "needs a `type`"),
        ("", "empty"),
        (7, "needs a `type`"),
    ],
    ids=lambda one: str(one)[:60],
)
def test_assertions_that_do_not_map(tmp_path: Path, assertion: Any, words: str) -> None:
    """Each is refused at its place, with the reason."""
    found = refusals(one_test(tmp_path, assertion))
    assert any(words in one for one in found), found


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("description: What", "descripton: What", "2:", "did you mean description"),
        ("tags: [parcels]", "scenarios: []", "3:", "not read"),
        ("tags: [parcels]", "env: {A: b}", "3:", "providers"),
        ('  - "{{ input }}"', "  - file://prompts/none.md", "8:", "no file"),
        ('  - "{{ input }}"', "  - {function: x}", "8:", "code"),
        ("type: host", "type: docker", "9:", "'docker'"),
        ("workdir: work", "workdir: ../../..", "9:", "no folder"),
        ("workdir: work", "setup: {command: x}", "9:", "run on this machine"),
        ('"agentv:agent-rules"', '"file://hook.mjs:beforeAll"', "10:", "not run"),
        ("repeat: 2", "repeat: 1.5", "11:", "whole number"),
        ("timeout_seconds: 90", "timeout_seconds: 0", "12:", "above 0"),
        ("threshold: 0.7", "threshold: 7", "13:", "from 0 to 1"),
        ("id: count", "id: print", "38:", "two tests"),
        ("role: system", "role: assistant", "25:", "begun already"),
        ("value: data/parcels.csv", "value: /etc/passwd", "28:", "no file"),
        ("value: data/parcels.csv", "value: ../../outside.csv", "28:", "no file"),
        ("    conversation_id: parcels", "    turns: []", "22:", "turns belong to mode 'conversation'"),
        ("    conversation_id: parcels", "    mode: conversation", "22:", "needs a list `turns`"),
        ("    conversation_id: parcels", "    window_size: 3", "22:", "turns belong to mode 'conversation'"),
        ("    conversation_id: parcels", "    depends_on: [count]", "22:", "fresh"),
        ('    vars: {input: "Count them in {{ unit }}."}', "    vars: {}", "8:", "input"),
    ],
)
def test_what_does_not_map_is_refused(tmp_path: Path, old: str, new: str, place: str, words: str) -> None:
    """Each thing that would be lost is an error at its line."""
    assert old in EVAL
    found = refusals(laid(tmp_path, EVAL.replace(old, new, 1)))
    assert any(one.startswith(place) and words in one for one in found), found


def test_there_and_back(tmp_path: Path) -> None:
    """What is written is read as the same, but for what is named as lost."""
    suite = loaded(laid(tmp_path / "a"))
    dumped = FORMAT.dump(suite)
    for path, content in dumped.artifacts:
        (tmp_path / "b" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "b" / path).write_bytes(content)
    assert [one.message for one in dumped.losses] == []
    back = loaded(tmp_path / "b/EVAL.yaml")
    assert [(one.id, one.prompt, one.rule, one.tags, one.cluster) for one in back.cases] == [
        (one.id, one.prompt, one.rule, one.tags, one.cluster) for one in suite.cases
    ]
    for one, other in zip(back.cases, suite.cases, strict=True):
        ours, theirs = ({(check.scorer, check.weight) for check in case.checks} for case in (one, other))
        assert ours == theirs
        assert [file.content_id for file in one.files] == [file.content_id for file in other.files]
    assert back.defaults == suite.defaults


def test_files_of_others_are_left(tmp_path: Path) -> None:
    """A file is known by tests with ids, whatever it is called."""
    other = one_test(tmp_path / "other", "It is good.")
    named = other.rename(other.parent / "suite.yaml")
    foreign = []
    for number, text in enumerate(
        [
            "cases: [{name: a, prompt: b}]",
            "version: '1'\ntasks: [{name: a, instruction: b}]",
            "name: x\nskill: y\nconfig: {}\ntasks: ['tasks/*.yaml']",
            "prompts: ['{{q}}']\nproviders: [echo]\ntests: [{description: a, vars: {q: b}, assert: []}]",
            "tests: [a.py]\nproviders: {a: b}",
            "[]",
        ]
    ):
        place = tmp_path / f"foreign{number}/eval.yaml"
        place.parent.mkdir()
        place.write_text(text)
        foreign.append(place)
    check_format(Maker(FORMATS, MODULE), samples=[laid(tmp_path / "repository"), named], foreign=foreign)


@pytest.mark.slow
def test_mutants(tmp_path: Path) -> None:
    """Damaged files: no other exception than the one for bad suites; each refusal has a place."""
    check_mutants(load, laid(tmp_path), 150)


@pytest.mark.slow
def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)


def test_what_is_written_is_yaml_of_theirs(tmp_path: Path) -> None:
    """A prompt that is one variable, and a test with an id for each case."""
    text = dict(FORMAT.dump(loaded(laid(tmp_path))).artifacts)["EVAL.yaml"]
    document = yaml.safe_load(text)
    assert document["prompts"] == ["{{ input }}"]
    assert [(one["id"], set(one) - {"id"}) for one in document["tests"]][1] == (
        "count",
        {"vars", "environment", "threshold", "assert"},
    )


HOSTILE = {
    "a glob that leaves the folder": "tests: '../../*/**/*.csv'",
    "a glob from the root": "tests: /etc/*.yaml",
    "a quote without an end": 'tests: [{id: a, input: x, assert: [{type: script, command: "python3 \'x"}]}]',
    "a text too long for a table": "tests: [{id: a, input: x, assert: [{type: contains-any, value: '%s,b'}]}]"
    % ("a" * 200_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_nobody_can_mean_is_a_problem_of_the_file(tmp_path: Path, name: str) -> None:
    """With its place, and no failure of the format; nothing outside is looked at."""
    with pytest.raises(SuiteError) as raised:
        load(laid(tmp_path, HOSTILE[name]))
    (problem,) = raised.value.problems
    assert problem.origin is not None
    assert problem.code in ("suite.missing-file", "suite.unsupported")


def test_names_that_no_file_can_have_are_words(tmp_path: Path) -> None:
    """A command may have a word that is longer than names are."""
    text = "tests: [{id: a, input: x, assert: [{type: script, command: [python3, './%s.py']}]}]" % ("a" * 5000)
    (case,) = loaded(laid(tmp_path, text)).cases
    assert len(case.checks) == 1


@pytest.mark.parametrize("named", ["/.ssh/id", "../../.ssh/id"])
def test_a_home_is_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """Dotfiles under version control do not open the home to a suite that was put somewhere below it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/id").write_text("canary")
    file = tmp_path / "downloads/evil/x.eval.yaml"
    file.parent.mkdir(parents=True)
    asked = f"input: [{{role: user, content: [{{type: file, value: '{named}'}}]}}]"
    file.write_text(f"tests: [{{id: a, {asked}, assert: [{{type: contains, value: x}}]}}]")
    with pytest.raises(SuiteError) as raised:
        load(file)
    assert "suite.missing-file" in {one.code for one in raised.value.problems}


TALK: dict[str, Any] = {
    "id": "talk",
    "mode": "conversation",
    "input": [{"role": "system", "content": "Weights are in {{ unit }}."}],
    "vars": {"unit": "kg"},
    "turns": [
        {
            "input": "Weigh parcel 7.",
            "assert": ["It names a weight.", "It is polite.", {"type": "contains", "value": "{{ unit }}", "weight": 3}],
        },
        {"input": [{"role": "user", "content": "And in pounds?"}], "expected_output": "15 lb"},
        {"input": "Thanks."},
    ],
    "assert": ["It never asks for the weight."],
}


def talk(root: Path, **more: Any) -> Path:
    """A file with one conversation, some of its keys replaced."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "EVAL.yaml").write_text(json.dumps({"name": "talks", "tests": [TALK | more]}))
    return root / "EVAL.yaml"


def test_conversations(tmp_path: Path) -> None:
    """Turns are one session; each turn that asserts, and the whole, count the same, and an empty one as passed."""
    suite = loaded(talk(tmp_path / "a"))
    (case,) = suite.cases
    assert (case.prompt, case.turns) == ("Weights are in kg.\n\nWeigh parcel 7.", ("And in pounds?", "Thanks."))
    assert [(check.id, check.turn, check.weight) for check in case.checks] == [
        ("turn 1: It names a weight.", 0, 0.125),
        ("turn 1: It is polite.", 0, 0.125),
        ("turn 1: contains 3", 0, 0.75),
        ("turn 2: llm-rubric 1", 1, 1),
        ("It never asks for the weight.", None, 1),
    ]
    assert case.checks[3].options["reference"] == "15 lb"
    assert (case.rule.mode, case.rule.threshold) == (VerdictMode.MEAN, round(2.2 / 3, 9))
    assert any("about a whole conversation: looks at the last answer" in one.message for one in suite.warnings)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"threshold": 1, "aggregation": "min"},
        {"threshold": 1, "aggregation": "min", "on_turn_failure": "stop"},
        {
            "turns": [{"input": "A {{ unit }}", "assert": ["It says {a}."]}, {"input": "{{ x }}"}],
            "vars": {"unit": "g", "x": "{% raw"},
        },
        {"turns": [{"input": "A", "assert": [{"type": "latency", "threshold": 9}]}, {"input": "B"}]},
    ],
)
def test_conversations_there_and_back(tmp_path: Path, more: dict[str, Any]) -> None:
    """A conversation is read as it was written."""
    suite = loaded(talk(tmp_path / "a", **more))
    dumped = FORMAT.dump(suite)
    (tmp_path / "b").mkdir()
    for path, content in dumped.artifacts:
        (tmp_path / "b" / path).write_bytes(content)
    assert [one.message for one in dumped.losses] == []
    case, again = suite.cases[0], loaded(tmp_path / "b/EVAL.yaml").cases[0]
    assert (again.id, again.execution_digest, again.rule) == (case.id, case.execution_digest, case.rule)
    assert [(one.id, one.turn, one.required, one.options) for one in again.checks] == [
        (one.id, one.turn, one.required, one.options) for one in case.checks
    ]
    assert [one.weight for one in again.checks] == pytest.approx([one.weight for one in case.checks])


@pytest.mark.parametrize("threshold", [0.5, 0.75, 0.8])
def test_a_threshold_of_turns_is_the_same_again(tmp_path: Path, threshold: float) -> None:
    """Turns that assert nothing count as passed in agentv, and the threshold that makes up for them is exact."""
    check = Check(id="turn 1: a", scorer="contains", options={"keywords": ("a",), "case_sensitive": True}, turn=0)
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=threshold)
    case = Case(id="talk", prompt="A", turns=("B", "C"), checks=(check,), rule=rule)
    assert loaded(written(tmp_path, case)).cases[0].rule == rule


def test_weights_of_a_conversation_that_has_to_pass_whole(tmp_path: Path) -> None:
    """No check weighs less because another one is about the same turn, if each has to hold."""
    checks = [
        Check(id=f"turn 1: {word}", scorer="contains", options={"keywords": (word,), "case_sensitive": True}, turn=0)
        for word in ("a", "b")
    ]
    graded = Check(id="graded", scorer="rubric", options={"criteria": "?", "scale": "0-1", "threshold": 0.7}, turn=0)
    case = Case(id="talk", prompt="A", turns=("B",), checks=(*checks, graded))
    dumped = FORMAT.dump(Suite(id="s", name="s", format="other", root="/", cases=(case,)))
    assert [one.message for one in dumped.losses] == [
        "case 'talk': check 'graded' of scorer 'rubric' is left out: a turn would pass with less"
    ]
    assert [one.weight for one in loaded(written(tmp_path, case)).cases[0].checks] == [1, 1]


def written(folder: Path, case: Case) -> Path:
    """The file of a suite with one case."""
    dumped = FORMAT.dump(Suite(id="s", name="s", format="other", root="/", cases=(case,)))
    (folder / "EVAL.yaml").write_bytes(dict(dumped.artifacts)["EVAL.yaml"])
    return folder / "EVAL.yaml"


def test_min_is_all(tmp_path: Path) -> None:
    """With min every turn has to pass; checks are required where the first that fails ends the conversation."""
    suite = loaded(talk(tmp_path, aggregation="min", threshold=0.9, on_turn_failure="stop", window_size=3))
    case = suite.cases[0]
    assert case.rule.mode is VerdictMode.ALL
    assert [(check.turn, check.required) for check in case.checks] == [*[(0, True)] * 3, (1, True), (None, False)]
    assert "`window_size`" in " ".join(one.message for one in suite.warnings)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"aggregation": "max"}, "aggregation 'max' is not supported"),
        ({"aggregation": "min"}, "a turn would pass though"),
        ({"on_turn_failure": "stop"}, "on_turn_failure 'stop' is not supported"),
        ({"window_size": 2}, "forget a part of its session"),
        ({"turns": [{"input": "A"}, {"input": ""}]}, "nothing is asked"),
        ({"turns": [{"input": "A", "asert": []}]}, "did you mean assert"),
        ({"turns": [{"input": [{"role": "assistant", "content": "B"}]}]}, "begun already"),
        ({"turns": [{"input": "A", "assert": [{"type": "equals", "value": 1, "required": True}]}]}, "decides no"),
    ],
)
def test_conversations_that_are_refused(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    """What would be decided otherwise than in agentv is an error at its place."""
    found = refusals(talk(tmp_path, **more))
    assert any(words in one and not one.startswith("1:1 ") for one in found), found


def test_a_conversation_beside_a_test(tmp_path: Path) -> None:
    """A prompt of the file would be asked before a conversation, so that tests have their own where there is one."""
    file = talk(tmp_path / "a")
    document = json.loads(file.read_text())
    document["tests"].append({"id": "one", "input": "Count {{ n }}.", "vars": {"n": 3}, "assert": ["It counts."]})
    file.write_text(json.dumps(document))
    dumped = FORMAT.dump(loaded(file))
    (tmp_path / "b").mkdir()
    for path, content in dumped.artifacts:
        (tmp_path / "b" / path).write_bytes(content)
    assert [(one.prompt, len(one.turns)) for one in loaded(tmp_path / "b/EVAL.yaml").cases] == [
        ("Weights are in kg.\n\nWeigh parcel 7.", 2),
        ("Count 3.", 0),
    ]
