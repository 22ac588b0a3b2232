"""promptfooconfig.yaml: read, run, refused by position, written, and told apart from other tools' files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Loaded,
    LoadRequest,
    Suite,
    SuiteDefaults,
    SuiteError,
    VerdictMode,
    located_all,
    thaw,
)
from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_mutants, check_plugin
from skillgauge_testkit.program import Program

MODULE = "skillgauge_format_promptfoo.plugin"
FORMAT = Maker(FORMATS, MODULE)()
SKILL = "---\nname: labels\ndescription: Prints labels of parcels. Use when a parcel needs a label.\n---\n\nPrint.\n"
CONFIG = """description: Labels
prompts:
  - "Write a {{size}} label for {{ name }}."
  - {raw: "file://prompts/short.txt", label: short}
providers:
  - {id: anthropic:claude-agent-sdk, config: {model: some-model, max_turns: 7, tools: [a]}}
  - openai:codex-sdk
  - https://example.com/ask
defaultTest:
  vars: {size: small}
  assert:
    - {type: icontains, value: "{{name}}"}
assertionTemplates:
  brief: {type: word-count, value: {max: 50}}
evaluateOptions: {repeat: 2, timeoutMs: 90000, maxConcurrency: 4}
tests:
  - description: people
    vars:
      name: [Ann, Ben]
    metadata: {area: names}
    assert:
      - $ref: "#/assertionTemplates/brief"
      - {type: llm-rubric, value: "It is for {{name}}.", threshold: 0.8, provider: openai:some}
  - description: one
    vars: {name: Cleo, size: [big]}
    threshold: 0.5
    prompts: [short]
    assert:
      - {type: contains-any, value: [x, y], weight: 3, metric: letters}
      - type: assert-set
        weight: 2
        assert:
          - {type: starts-with, value: Label}
          - {type: not-contains, value: z}
    metadata: {area: other}
"""


def write(folder: Path, config: str, **files: str) -> Path:
    """A configuration and its files."""
    for place, text in {"promptfooconfig.yaml": config, **files}.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)
    return folder / "promptfooconfig.yaml"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration in a skill's folder."""
    files = {"SKILL.md": SKILL, "prompts/short.txt": "{{name}}, {{size}}\n"}
    return write(tmp_path / "labels", CONFIG, **files)


def load(file: Path) -> Loaded:
    """What the format makes of a file."""
    return FORMAT.load(LoadRequest(paths=(str(file),), cwd=str(file.parent)))


def loaded(file: Path) -> Suite:
    """The one suite of a file."""
    return load(file).suites[0]


def refusals(file: Path) -> list[str]:
    """Place and message of everything that is wrong with a file."""
    with pytest.raises(SuiteError) as caught:
        load(file)
    found = located_all(caught.value.problems)
    assert all(one.span is not None and one.span.line for one in found), found
    return [f"{one.span.line}:{one.span.column} {one.message}" for one in found if one.span is not None]


def one_test(**test: Any) -> str:
    """A configuration with one test, as JSON, which is YAML."""
    return json.dumps({"prompts": ["{{q}}"], "providers": ["echo"], "tests": [{"vars": {"q": "x"}, **test}]})


def test_what_is_read(config: Path) -> None:
    """Prompts and lists of variables multiply; defaults come first; the first provider is the engine."""
    suite = loaded(config)
    cases = list(suite.cases)
    assert [(one.id, one.prompt) for one in cases] == [
        ("people, vars 1, prompt 1", "Write a small label for Ann."),
        ("people, vars 1, short", "Ann, small"),
        ("people, vars 2, prompt 1", "Write a small label for Ben."),
        ("people, vars 2, short", "Ben, small"),
        ("one", "Cleo, big"),
    ]
    assert [one.cluster for one in cases] == ["test 1"] * 4 + [""]
    assert [one.id for one in cases[0].checks] == ["icontains 1", "word-count 2", "llm-rubric 3"]
    rubric = cases[2].checks[2].options
    assert (rubric["criteria"], rubric["scale"], rubric["threshold"]) == ("It is for Ben.", "0-1", 0.8)
    assert [one.rule.mode for one in cases] == [VerdictMode.EACH] * 4 + [VerdictMode.MEAN]
    assert [(one.id, one.weight) for one in cases[4].checks] == [
        ("icontains 1", 1),
        ("letters (contains-any 2)", 3),
        ("starts-with 3", 1),
        ("not-contains 4", 1),
    ]
    defaults = suite.defaults
    assert (defaults.engine, defaults.model, defaults.runs) == ("claude-code", "some-model", 2)
    assert (defaults.limits.timeout_s, defaults.limits.max_turns, defaults.baseline) == (90, 7, False)
    assert [arm.name for arm in suite.arms] == ["with_skill", "without_skill"]


def test_what_has_no_effect_is_told_once(config: Path) -> None:
    """Each key that is honoured otherwise stands once in the warnings, with how often it is there."""
    told = [one.message for one in loaded(config).warnings]
    for words in ("`metadata` of a test", "maxConcurrency", "`provider` of an assertion", "`tools` of a provider"):
        assert sum(words in one for one in told) == 1, told
    assert any("https://example.com/ask" in one for one in told)
    assert any("2 times" in one for one in told), told


def _written(dumped: Any, folder: Path) -> Path:
    for path, content in dumped.artifacts:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder / "promptfooconfig.yaml"


def test_there_and_back(config: Path, tmp_path: Path) -> None:
    """What is written is read as the same, and nothing is said to be lost."""
    suite = loaded(config)
    dumped = FORMAT.dump(suite)
    assert dumped.losses == ()
    back = loaded(_written(dumped, tmp_path / "back/labels"))
    assert [(one.id, one.execution_digest, one.rule) for one in back.cases] == [
        (one.id, one.execution_digest, one.rule) for one in suite.cases
    ]
    assert [[check.digest for check in one.checks] for one in back.cases] == [
        [check.digest for check in one.checks] for one in suite.cases
    ]
    assert back.defaults == suite.defaults


ANSWER = "The total is 42 euros."
ASSERTED: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "equals", "value": ANSWER}, ANSWER, "Another"),
    ({"type": "equals", "value": {"a": [1]}}, '{"a": [1]}', '{"a": [2]}'),
    ({"type": "not-equals", "value": "no"}, "yes", "no"),
    ({"type": "contains", "value": 42}, ANSWER, "none"),
    ({"type": "not-contains", "value": "Euro"}, ANSWER, "Euro"),
    ({"type": "icontains", "value": "TOTAL"}, ANSWER, "sum"),
    ({"type": "contains-any", "value": ["42", "43"]}, ANSWER, "44"),
    ({"type": "contains-any", "value": "x, 42"}, ANSWER, "44"),
    ({"type": "not-contains-any", "value": ["x.", "43"]}, ANSWER, "is 43"),
    ({"type": "icontains-any", "value": ["TOTAL", "SUM"]}, ANSWER, "none"),
    ({"type": "contains-all", "value": ["42", "total"]}, ANSWER, "is 42"),
    ({"type": "not-contains-all", "value": ["42", "total"]}, "is 42", ANSWER),
    ({"type": "icontains-all", "value": ["TOTAL", "EUROS"]}, ANSWER, "total"),
    ({"type": "starts-with", "value": "The t"}, ANSWER, "A total"),
    ({"type": "not-starts-with", "value": "The"}, "A", ANSWER),
    ({"type": "regex", "value": r"\b\d{2}\b"}, ANSWER, "423"),
    ({"type": "not-regex", "value": r"\d"}, "none", ANSWER),
    ({"type": "is-json"}, "[1]", "see [1]"),
    ({"type": "is-json", "value": {"type": "object"}}, "{}", "[]"),
    ({"type": "not-is-json"}, "see", "{}"),
    ({"type": "contains-json"}, 'see {"a": 1} there', "see {a}"),
    ({"type": "contains-json", "value": {"required": ["a"], "type": "object"}}, 'x [1] y {"a": 1}', 'x {"b": 1}'),
    ({"type": "not-contains-json"}, "none", "{}"),
    ({"type": "word-count", "value": 5}, ANSWER, "one two three four"),
    ({"type": "word-count", "value": {"min": 2, "max": 3}}, "one two", "one two three four"),
    ({"type": "not-word-count", "value": {"max": 3}}, ANSWER, "one"),
    ({"type": "levenshtein", "value": "kitten", "threshold": 3}, "sitting", "sittings here"),
    ({"type": "not-levenshtein", "value": "kitten", "threshold": 1}, "sitting", "kittens"),
    ({"type": "latency", "threshold": 600_000}, ANSWER, ""),
    ({"type": "python", "value": "'42' in output and context['vars']['q'] == output"}, ANSWER, "none"),
    ({"type": "python", "value": "n = len(output)\nreturn {'pass': n > 5, 'score': 0.3}"}, ANSWER, "none"),
    ({"type": "python", "value": "0.5", "threshold": 0.4}, ANSWER, ""),
    ({"type": "not-python", "value": "len(output) > 5"}, "none", ANSWER),
    ({"type": "javascript", "value": "output.length > 5 && context.vars.q === output"}, ANSWER, "none"),
    ({"type": "javascript", "value": "const n = output.length;\nreturn {pass: n > 5, score: 0.3};"}, ANSWER, "none"),
    ({"type": "javascript", "value": "file://code/long.mjs"}, ANSWER, "none"),
    ({"type": "python", "value": "file://code/long.py"}, ANSWER, "none"),
    ({"type": "python", "value": "file://code/long.py:is_short"}, "none", ANSWER),
    (
        {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "contains", "value": one} for one in "ab"]},
        "a",
        "c",
    ),
]
CODE = """def get_assert(output, context):
    return len(output) > 5

def is_short(output, context):
    return len(output) < 6
"""

SCRIPT = "export default (output) => output.length > 5;\n"


@pytest.mark.slow
def test_every_assertion_decides(program: Program) -> None:
    """Each type passes what fits and fails what does not, in a whole run whose answers are the prompts."""
    tests, expected = [], {}
    for number, (assertion, good, bad) in enumerate(ASSERTED):
        if assertion["type"] == "javascript" and shutil.which("node") is None:
            continue
        for kind, answer in (("good", good), ("bad", bad)):
            if answer:
                tests.append({"description": f"{kind} {number}", "vars": {"q": answer}, "assert": [assertion]})
                expected[f"{kind} {number}"] = kind == "good"
    text = json.dumps({"prompts": ["{{q}}"], "providers": ["echo"], "tests": tests})
    file = write(program.work / "suite", text, **{"code/long.py": CODE, "code/long.mjs": SCRIPT})
    done = program("eval", file, "--json", "--concurrency", "2")
    assert done.code == 0, done
    outcomes = {one["case_id"]: one["verdict"] for one in done.document["results"]}
    wrong = {
        name: outcomes[name] for name, passes in expected.items() if outcomes[name] != ("pass" if passes else "fail")
    }
    assert not wrong, wrong


AGENT_ASSERTED: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"type": "skill-used", "value": "labels"}, "trigger", {"skill": "labels", "should_trigger": True}),
    ({"type": "not-skill-used", "value": "labels"}, "trigger", {"skill": "labels", "should_trigger": False}),
    (
        {"type": "skill-used", "value": {"name": "labels", "max": 0}},
        "trigger",
        {"skill": "labels", "should_trigger": False},
    ),
    (
        {"type": "skill-used", "value": {"name": "labels", "min": 2}},
        "sequence",
        {"skills": ["labels"] * 2, "order": "any"},
    ),
    ({"type": "trajectory:tool-used", "value": "Bash"}, "tool-call", {"tool": "Bash"}),
    ({"type": "trajectory:tool-used", "value": ["A", "B"]}, "sequence", {"tools": ["A", "B"], "order": "any"}),
    (
        {"type": "not-trajectory:tool-used", "value": ["A", "B"]},
        "tool-call",
        {"tool_pattern": r"\A(?:A|B)\Z", "called": False},
    ),
    (
        {"type": "trajectory:tool-used", "value": {"pattern": "se*ch", "min": 1}},
        "tool-call",
        {"tool_pattern": r"\A(?:se.*ch)\Z", "called": True},
    ),
    (
        {"type": "trajectory:tool-args-match", "value": {"name": "A", "args": {"x": "1.5"}}},
        "tool-call",
        {"tool": "A", "arguments": {"x": r"\A1\.5\Z"}, "called": True},
    ),
    (
        {"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": ["A", {"name": "B"}]}},
        "sequence",
        {"tools": ["A", "B"], "order": "exact"},
    ),
    ({"type": "trajectory:step-count", "value": {"type": "tool", "max": 3}}, "usage", {"tool_calls": 3}),
    ({"type": "cost", "threshold": 0.25}, "usage", {"cost_usd": 0.25}),
    ({"type": "latency", "threshold": 500}, "usage", {"duration_s": 0.5}),
    (
        {"type": "model-graded-closedqa", "value": "It is short"},
        "rubric",
        {"criteria": "It is short", "trajectory": False, "files": False},
    ),
]


@pytest.mark.parametrize(("assertion", "scorer", "options"), AGENT_ASSERTED)
def test_what_agents_do(tmp_path: Path, assertion: dict[str, Any], scorer: str, options: dict[str, Any]) -> None:
    """Assertions about a session become the checks that know it."""
    file = write(
        tmp_path / "labels", one_test(**{"assert": [assertion]}).replace("echo", "openai:codex"), **{"SKILL.md": SKILL}
    )
    (check,) = next(iter(loaded(file).cases)).checks
    assert (check.scorer, thaw(check.options)) == (scorer, options)


def test_factuality_has_a_reference(tmp_path: Path) -> None:
    """The judge compares with the value."""
    (check,) = next(
        iter(loaded(write(tmp_path, one_test(**{"assert": [{"type": "factuality", "value": "F"}]}))).cases)
    ).checks
    assert (check.scorer, check.options["reference"]) == ("rubric", "F")


def test_weight_0_stands_beside(tmp_path: Path) -> None:
    """Promptfoo passes such an assertion; here it is a figure of its own."""
    file = write(tmp_path, one_test(**{"assert": [{"type": "contains", "value": "a", "weight": 0}]}))
    (check,) = next(iter(loaded(file).cases)).checks
    assert check.beside


@pytest.mark.parametrize(
    ("assertion", "words"),
    [
        ({"type": "similar", "value": "a"}, "embeddings"),
        ({"type": "rouge-n", "value": "a"}, "overlap"),
        ({"type": "webhook", "value": "a"}, "service"),
        ({"type": "icontain", "value": "a"}, "did you mean icontains"),
        ({"type": "contains", "value": "a", "wieght": 2}, "did you mean weight"),
        ({"type": "contains", "value": "{{ q | upper }}"}, "filters"),
        ({"type": "contains", "value": "{{ qq }}"}, "did you mean q"),
        ({"type": "contains", "value": "{% if q %}a{% endif %}"}, "statement"),
        ({"type": "contains", "value": ""}, "needs a text"),
        ({"type": "contains-any", "value": {"a": 1}}, "list of texts"),
        ({"type": "contains", "value": "a", "transform": "output.trim()"}, "changes the output"),
        ({"type": "regex", "value": "("}, "regular expression"),
        ({"type": "is-json", "value": "file://none.json"}, "no file"),
        ({"type": "is-json", "value": "file://../x.json"}, "no file"),
        ({"type": "word-count", "value": {"min": 3, "max": 1}}, "more than"),
        ({"type": "word-count", "value": "many"}, "whole number"),
        ({"type": "latency"}, "threshold"),
        ({"type": "not-latency", "threshold": 3}, "contrary"),
        ({"type": "not-llm-rubric", "value": "a"}, "contrary"),
        ({"type": "skill-used", "value": "other"}, "no skill 'other'"),
        ({"type": "python", "value": "file://code.rb"}, "no code"),
        ({"type": "contains", "value": "a", "weight": -1}, "at least 0"),
        ({"type": "contains", "value": "a", "weight": "1"}, "at least 0"),
        ({"value": "a"}, "needs a `type`"),
        ("contains a", "has to be an object"),
        ({"type": "assert-set", "assert": []}, "assert-set"),
        ({"$ref": "#/assertionTemplates/none"}, "no assertion template"),
    ],
)
def test_assertions_that_do_not_map(tmp_path: Path, assertion: Any, words: str) -> None:
    """Each is refused at its place, with the reason."""
    found = refusals(write(tmp_path, one_test(**{"assert": [assertion]})))
    assert any(words in one for one in found), found


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("description: Labels", "descripton: Labels", "1:", "did you mean description"),
        ("description: Labels", "scenarios: []", "1:", "not read"),
        ("description: Labels", "redteam: {a: b}", "1:", "attacks"),
        ("description: Labels", "env: {A: b}", "1:", "providers"),
        ("{{size}}", "{{siz}}", "3:", "did you mean size"),
        ("{{ name }}", "{{ name | upper }}", "3:", "filters"),
        ("file://prompts/short.txt", "file://prompts/none.txt", "4:", "no file"),
        ("file://prompts/short.txt", "file://prompts/code.py", "4:", "several messages"),
        ("repeat: 2", "repeat: 0", "15:", "above 0"),
        ("    metadata:", "    metadat:", "20:", "did you mean metadata"),
        ("    metadata: {area: names}", "    provider: x", "20:", "single test"),
        ("threshold: 0.5", "threshold: high", "26:", "at least 0"),
        ("prompts: [short]", "prompts: [long]", "27:", "labels of prompts"),
        ("{name: Cleo, size: [big]}", "file://vars.yaml", "25:", "no file"),
    ],
)
def test_what_does_not_map_is_refused(config: Path, old: str, new: str, place: str, words: str) -> None:
    """Each thing that would be lost is an error at its line."""
    assert old in CONFIG
    config.write_text(CONFIG.replace(old, new, 1))
    found = refusals(config)
    assert any(one.startswith(place) and words in one for one in found), found


def test_keys_that_hold_anchors(tmp_path: Path) -> None:
    """What stands there to be repeated is told and no error, since taking it out would break the file."""
    anchored = "x-size: &size {size: small}\n_first: &first {type: contains, value: a}\n" + CONFIG.replace(
        "vars: {size: small}", "vars: *size"
    ).replace('- $ref: "#/assertionTemplates/brief"', "- *first")
    suite = loaded(write(tmp_path / "labels", anchored, **{"SKILL.md": SKILL, "prompts/short.txt": "{{name}}"}))
    assert [check.id for check in suite.cases[0].checks][:2] == ["icontains 1", "contains 2"]
    told = [one.message for one in suite.warnings if "repeats its anchor" in one.message]
    assert [one.split(":")[0] for one in told] == ["`x-size` of the configuration", "`_first` of the configuration"]


def test_a_refused_test_is_not_absent(tmp_path: Path) -> None:
    """What is wrong with the only test is told, and not that there is none."""
    found = refusals(write(tmp_path, one_test(options={"transform": "output.trim()"})))
    assert len(found) == 1
    assert "`transform` of options" in found[0]


def test_the_hint_for_a_skill_that_is_not_there(tmp_path: Path) -> None:
    """An assertion that it is not used cannot fail; the other one needs the skill."""
    for kind, hint in (("skill-used", "Put the file into"), ("not-skill-used", "it could never fail")):
        text = one_test(**{"assert": [{"type": kind, "value": "other"}]})
        with pytest.raises(SuiteError) as caught:
            load(write(tmp_path, text))
        assert [hint in str(one.hint) for one in caught.value.problems] == [True]


def test_all_problems_at_once(tmp_path: Path) -> None:
    """Two faults of different kinds are told together."""
    text = one_test(**{"assert": [{"type": "similar", "value": "a"}, {"type": "contains", "value": ""}]})
    assert len(refusals(write(tmp_path, text))) == 2


def test_a_set_that_decides_a_part_is_refused(tmp_path: Path) -> None:
    """A share of a group has no meaning in a verdict of all."""
    group = {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "contains", "value": "a"}]}
    found = refusals(write(tmp_path, one_test(**{"assert": [group, {"type": "contains", "value": "b"}]})))
    assert any("threshold of a group" in one for one in found)


def test_tests_in_files(tmp_path: Path) -> None:
    """Tables, lists and lines are read with places of their own."""
    text = 'prompts: ["{{q}}"]\nproviders: [echo]\ntests:\n  - file://a.csv\n  - file://b.yaml\n  - file://c.jsonl\n'
    files = {
        "a.csv": 'q,__expected1,__expected2,__description\n"x, y",contains: x,"icontains-any: ""a,b"",c",1st\nz,z,,\n',
        "b.yaml": "- {vars: {q: file://q.txt}, assert: [{type: contains, value: k}]}\n",
        "c.jsonl": '{"vars": {"q": "l"}}\n',
        "q.txt": "kk",
    }
    suite = loaded(write(tmp_path, text, **files))
    cases = list(suite.cases)
    assert [one.input["stdin"] for one in cases] == ["x, y", "z", "kk", "l"]  # type: ignore[index,call-overload]
    assert [[check.id for check in one.checks] for one in cases] == [
        ["contains 1", "icontains-any 2"],
        ["equals 1"],
        ["contains 1"],
        [],
    ]
    (tmp_path / "a.csv").write_text("q,__expected\nx,contains: x\nz,similar: z\n")
    assert [one[:2] for one in refusals(tmp_path / "promptfooconfig.yaml")] == ["3:"]


def test_one_arm_where_the_skill_has_to_be_used(tmp_path: Path) -> None:
    """The arm without it could never pass."""
    text = one_test(**{"assert": [{"type": "skill-used", "value": "labels"}]}).replace("echo", "openai:codex")
    suite = loaded(write(tmp_path / "labels", text, **{"SKILL.md": SKILL}))
    assert [arm.name for arm in suite.arms] == ["with_skill"]


def test_end_to_end_with_an_engine(program: Program) -> None:
    """A skill that its prompt names is used, and one that it does not name is not."""
    tests = [
        {"description": q, "vars": {"q": q}, "assert": [{"type": "skill-used", "value": "labels"}]}
        for q in ("labels", "no")
    ]
    text = json.dumps({"prompts": ["Use {{q}}"], "providers": ["anthropic:claude-agent-sdk"], "tests": tests})
    file = write(program.work / "labels", text, **{"SKILL.md": SKILL})
    done = program("eval", file, "--engine", "mock", "--json")
    assert done.code == 0, done
    counts = done.document["summary"]["counts"]
    assert (counts["passed"], counts["failed"], counts["errors"]) == (1, 1, 0)


def test_files_of_others_are_left(tmp_path: Path, config: Path) -> None:
    """A configuration is known by its name, or by prompts and tests together."""
    other = tmp_path / "named/labels.yaml"
    other.parent.mkdir()
    other.write_text(config.read_text())
    (other.parent / "prompts").mkdir()
    (other.parent / "prompts/short.txt").write_text("{{name}}, {{size}}")
    foreign = []
    for number, text in enumerate(
        [
            "cases: [{name: a, prompt: b}]",
            "version: '1'\ntasks: [{name: a, instruction: b}]",
            "name: x\nskill: y\nconfig: {}\ntasks: ['tasks/*.yaml']",
            "tests: [a.py]\nproviders: {a: b}",
            "stimuli: [{prompt: a}]",
        ]
    ):
        place = tmp_path / f"other{number}/eval.yaml"
        place.parent.mkdir()
        place.write_text(text)
        foreign.append(place)
    check_format(Maker(FORMATS, MODULE), samples=[config, other], foreign=foreign)


def test_mutants(config: Path) -> None:
    """Damaged files: no other exception than the one for bad suites; each refusal has a place."""
    check_mutants(load, config, 150)


@pytest.mark.slow
def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)


@pytest.mark.parametrize(
    ("kind", "engine", "provider", "loss"),
    [
        (ArmKind.AGENT, None, "anthropic:claude-agent-sdk", "names no engine"),
        (ArmKind.AGENT, "acme", "anthropic:claude-agent-sdk", "'acme' is no provider"),
        (ArmKind.AGENT, "codex", "openai:codex-sdk", ""),
        (ArmKind.DIRECT, None, "echo", "no provider of promptfoo calls the skill"),
    ],
)
def test_who_answers_in_what_is_written(kind: ArmKind, engine: str | None, provider: str, loss: str) -> None:
    """A suite about an agent is never answered by an echo of its prompts, and what stands in a place is told."""
    suite = Suite(
        id="s",
        format="another",
        root="/",
        cases=(Case(id="c", prompt="p"),),
        arms=(Arm(name="only", kind=kind),),
        defaults=SuiteDefaults(engine=engine),
    )
    dumped = FORMAT.dump(suite)
    assert yaml.safe_load(dict(dumped.artifacts)["promptfooconfig.yaml"])["providers"] == [provider]
    told = [one.message for one in dumped.losses]
    assert any(loss in one for one in told) if loss else told == []


TALK = """prompts: ["{{q}}"]
providers: [anthropic:claude-agent-sdk]
tests:
  - description: pair
    vars: {q: Pair the lock.}
    metadata: {conversationId: pairing, cluster: locks}
    assert:
      - {type: contains, value: paired}
      - {type: python, value: "len(output) > 3", weight: 2}
  - {description: alone, vars: {q: Count.}, metadata: {conversationId: other}, assert: [{type: contains, value: 7}]}
  - vars: {q: [Open it., Close it.]}
    metadata: {conversationId: pairing}
    assert:
      - {type: icontains, value: done, metric: words}
"""
OF_A_TURN = "{type: latency, threshold: 9000}", "{type: skill-used, value: labels}", "{type: cost, threshold: 2}"


def test_conversations(tmp_path: Path) -> None:
    """Tests of one conversation are the turns of one case, in their order, each with its own assertions."""
    suite = loaded(write(tmp_path / "labels", TALK))
    case, alone = suite.cases
    assert (case.id, case.prompt, case.turns) == ("pairing", "Pair the lock.", ("Open it.", "Close it."))
    assert [(check.id, check.turn, check.weight) for check in case.checks] == [
        ("turn 1: contains 1", 0, 1),
        ("turn 1: python 2", 0, 2),
        ("turn 2: words (icontains 1)", 1, 1),
        ("turn 3: words (icontains 1)", 2, 1),
    ]
    assert (case.cluster, case.rule.mode) == ("locks", VerdictMode.EACH)
    assert (alone.id, alone.turns) == ("alone", ())
    dumped = FORMAT.dump(suite)
    assert dumped.losses == ()
    again = loaded(_written(dumped, tmp_path / "back/labels")).cases[0]
    assert (again.id, again.execution_digest, again.rule) == (case.id, case.execution_digest, case.rule)
    for one in (case, again):
        turns = thaw(one.extras["turns"])
        assert [turn["description"] for turn in turns] == ["pair", "test 3, vars 1", "test 3, vars 2"]
    assert [check.digest for check in again.checks] == [check.digest for check in case.checks]


@pytest.mark.parametrize("assertion", OF_A_TURN)
def test_limits_and_skills_of_a_turn(tmp_path: Path, assertion: str) -> None:
    """What one turn takes, and which skills fire in it, is asked of that turn, and written again."""
    text = TALK.replace("{type: contains, value: paired}", assertion)
    suite = loaded(write(tmp_path / "labels", text, **{"SKILL.md": SKILL}))
    check = suite.cases[0].checks[0]
    assert (check.scorer in ("usage", "trigger"), check.turn) == (True, 0)
    again = loaded(_written(FORMAT.dump(suite), tmp_path / "back/labels"))
    assert again.cases[0].checks[0].digest == check.digest


def test_a_conversation_for_each_prompt(tmp_path: Path) -> None:
    """Each prompt is asked in a conversation of its own, those of one name are a cluster, and tests inherit it."""
    tests = [{"vars": {"q": "a"}}, {"vars": {"q": "b"}}, {"vars": {"q": "c"}, "prompts": ["short"]}]
    prompts = [{"raw": "Say {{q}}.", "label": "long"}, {"raw": "{{q}} now", "label": "short"}]
    document = {"prompts": prompts, "providers": ["openai:gpt-5"], "tests": tests}
    text = json.dumps({**document, "defaultTest": {"metadata": {"conversationId": 7}}})
    cases = loaded(write(tmp_path / "labels", text)).cases
    assert [(one.id, one.prompt, one.turns, one.cluster) for one in cases] == [
        ("7, long", "Say a.", ("Say b.",), "7"),
        ("7, short", "a now", ("b now", "c now"), "7"),
    ]


def test_a_threshold_of_the_only_turn_that_asserts(tmp_path: Path) -> None:
    """It decides the conversation, and is written again."""
    text = TALK.replace("    assert:\n      - {type: icontains, value: done, metric: words}\n", "").replace(
        "    assert:", "    threshold: 0.5\n    assert:"
    )
    suite = loaded(write(tmp_path / "labels", text))
    assert (suite.cases[0].rule.mode, suite.cases[0].rule.threshold) == (VerdictMode.MEAN, 0.5)
    back = loaded(_written(FORMAT.dump(suite), tmp_path / "back/labels"))
    assert back.cases[0].rule == suite.cases[0].rule


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("anthropic:claude-agent-sdk", "echo", "4:5", "a command cannot continue the conversation 'pairing'"),
        (
            "    assert:\n      - {type: contains",
            "    threshold: 0.5\n    assert:\n      - {type: contains",
            "7:5",
            "threshold",
        ),
        ('"{{q}}"', '"{{_conversation}} {{q}}"', "1:", "_conversation"),
    ],
)
def test_conversations_that_are_refused(tmp_path: Path, old: str, new: str, place: str, words: str) -> None:
    """A conversation that cannot be held or graded as it is meant is an error at its line."""
    assert old in TALK
    found = refusals(write(tmp_path, TALK.replace(old, new, 1)))
    assert any(one.startswith(place) and words in one for one in found), found


def test_conversations_of_others_are_written(tmp_path: Path) -> None:
    """Checks go to the tests of their turns, and one about the whole conversation is told to be about its end."""
    suite = loaded(write(tmp_path / "labels", TALK))
    case = suite.cases[0]
    whole = case.checks[0].model_copy(update={"turn": None})
    told = case.model_copy(update={"checks": (whole, *case.checks[1:]), "extras": {}})
    dumped = FORMAT.dump(suite.model_copy(update={"cases": (told,)}))
    assert any("about the last turn alone" in loss.message for loss in dumped.losses)
    (again,) = loaded(_written(dumped, tmp_path / "back/labels")).cases
    assert (again.prompt, again.turns) == (case.prompt, case.turns)


SIMULATED = """\
prompts: ["You sell locks. {{shop}}"]
providers: ["anthropic:claude-agent-sdk"]
defaultTest: {provider: {id: "promptfoo:simulated-user", config: {maxTurns: 4}}, vars: {shop: In Kiel.}}
tests:
  - {vars: {instructions: "You are Mia. {{shop}}"}, assert: [{type: contains, value: lock}]}
  - provider: {id: "promptfoo:simulated-user", config: {instructions: "You are Ann, {{shop}}", maxTurns: 2}}
    assert: [{type: contains, value: lock}]
"""


def test_simulated_users(tmp_path: Path) -> None:
    """A model answers the agent, by the instructions of the test or of its variable, and is written again."""
    suite = loaded(write(tmp_path / "labels", SIMULATED))
    users = [case.user for case in suite.cases]
    assert [(user.check.scorer, dict(user.check.options), user.turns) for user in users if user] == [
        ("simulated-user", {"instructions": "You are Mia. In Kiel."}, 4),
        ("simulated-user", {"instructions": "You are Ann, In Kiel."}, 2),
    ]
    assert suite.cases[0].prompt == "You sell locks. In Kiel."
    assert any("in promptfoo the user begins" in one.message for one in suite.warnings)
    dumped = FORMAT.dump(suite)
    assert not any("simulated" in loss.message for loss in dumped.losses)
    again = loaded(_written(dumped, tmp_path / "back/labels"))
    assert [case.execution_digest for case in again.cases] == [case.execution_digest for case in suite.cases]


def test_a_simulated_user_that_cannot_be_written(tmp_path: Path) -> None:
    """One after written turns, or with a model of its own, is a loss."""
    suite = loaded(write(tmp_path / "labels", SIMULATED))
    talking = suite.cases[0].model_copy(update={"turns": ("And?",)})
    losses = FORMAT.dump(suite.model_copy(update={"cases": (talking,)})).losses
    assert any("after further turns" in loss.message for loss in losses)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("promptfoo:simulated-user", "openai:gpt-5", "`provider` of a single test is not supported"),
        ("maxTurns: 4", "maxTurns: 0", "whole number above 0"),
        ("maxTurns: 2", "initialMessages: []", "begun already"),
        ('instructions: "You are Mia. {{shop}}"', "other: x", "instructions of the simulated user"),
        ('instructions: "You are Ann, {{shop}}"', "instructions: ' '", "has no instructions"),
        ("anthropic:claude-agent-sdk", "echo", "a command holds no conversation"),
        ("defaultTest: {", "defaultTest: {metadata: {conversationId: a}, ", "a conversation of its own"),
    ],
)
def test_simulated_users_that_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    """What nobody could play, or would be another conversation, is an error at its place."""
    assert old in SIMULATED
    found = refusals(write(tmp_path / "labels", SIMULATED.replace(old, new, 1)))
    assert any(words in one for one in found), found


def test_a_conversation_runs(program: Program) -> None:
    """Each answer is looked at by the assertions of its own turn."""
    file = write(program.work / "labels", TALK.replace("value: done", "value: Open").replace("Close it", "Open again"))
    replies = [
        {"match": "Open", "text": "Open."},
        {"match": "Pair", "text": "It is paired."},
        {"match": "Count", "text": "7"},
    ]
    done = program("eval", file, "--engine", "mock", "--set", f"engines.mock.replies={json.dumps(replies)}")
    assert done.code == 0, done.stdout + done.stderr
    assert done.verdict == "done: 2 of 2 passed"
