"""eval.yaml of Vally: read, refused by position, written, and told apart from others of that name."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge.api import (
    Case,
    Check,
    Limits,
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
from skillgauge_format_vally.checks.commands import no_file_demand, output_demand
from skillgauge_format_vally.source.durations import duration_text, seconds_of
from skillgauge_format_vally.source.patterns import javascript_of, written_of
from skillgauge_format_vally.writing.weights import type_weights
from skillgauge_patterns import compiled, from_javascript
from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_mutants, check_plugin
from skillgauge_testkit.program import Program

MODULE = "skillgauge_format_vally.plugin"
FORMAT = Maker(FORMATS, MODULE)()
SKILL = "---\nname: boats\ndescription: Folds paper boats. Use when somebody wants a boat.\n---\n\nFold.\n"
EVAL = """name: boats-eval
description: Do folded boats float?
version: "1.2"
type: capability
tags: {area: paper}
defaults:
  timeout: 90s
  runs: 2
  model: some-model
  judge_model: judge-model
  executor: copilot-sdk
environment:
  files:
    - {src: fixtures, dest: .}
  env: {SHEETS: 3}
stimuli:
  - name: fold
    prompt: Fold a boat from sheet.txt.
    tags: {tier: smoke, colors: [red, blue], quick: ""}
    rubric:
      - The boat floats
      - The boat is blue
    environment:
      files:
        - {src: ../../shared/plan.txt, dest: in/plan.txt}
      commands: [mkdir out]
    constraints:
      expect_tools: [bash, skill]
      reject_tools: [tear]
      max_turns: 9
      max_tokens: 5000
    graders:
      - type: output-matches
        config: {pattern: "(?i)float"}
      - {type: prompt, name: judged}
      - type: exit-success
  - name: sink
    turns:
      - prompt: Sink the boat.
    graders:
      - type: output-not-contains
        config: {substring: floats}
"""
ANSWERS = {"type": "output-contains", "name": "answers", "config": {"substring": "a"}}


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    """A skill with a suite and all that it names."""
    return laid(tmp_path / "harbour", {})


def laid(repository: Path, more: dict[str, str]) -> Path:
    """The files of a repository with the suite, some of them in place of others."""
    files = {
        ".git/config": "[core]\n",
        "shared/plan.txt": "Fold twice.\n",
        "boats/SKILL.md": SKILL,
        "boats/evals/eval.yaml": EVAL,
        "boats/evals/fixtures/sheet.txt": "a sheet\n",
        "boats/evals/fixtures/more/ink.txt": "ink\n",
    }
    for place, text in (files | more).items():
        (repository / place).parent.mkdir(parents=True, exist_ok=True)
        (repository / place).write_text(text)
    return repository / "boats/evals/eval.yaml"


def load(file: Path, **options: Any) -> Loaded:
    """What the format makes of a file."""
    return FORMAT.load(LoadRequest(paths=(str(file),), cwd=str(file.parent), options=options))


def loaded(file: Path, **options: Any) -> Suite:
    """The one suite of a file."""
    (suite,) = load(file, **options).suites
    return suite


def written(file: Path, **keys: Any) -> Path:
    """The file, with one stimulus of these keys and one that keeps it from being about the skill alone."""
    more = keys.pop("more", {})
    stimulus = {"name": "only", "prompt": "Fold it."} | keys
    file.write_text(yaml.safe_dump({"name": "boats-eval", **more, "stimuli": [stimulus]}, sort_keys=False))
    return file


def checks_of(file: Path, *graders: dict[str, Any], **keys: Any) -> list[Check]:
    """The checks of the only stimulus, which has these graders."""
    (case,) = loaded(written(file, graders=list(graders), **keys)).cases
    return list(case.checks)


def first_case(suite: Suite) -> Case:
    """The first case of a suite."""
    return next(iter(suite.cases))


def said(check: Check) -> tuple[str, Any]:
    """Scorer and options of a check."""
    return check.scorer, thaw(check.options)


def refusals(file: Path, **options: Any) -> list[str]:
    """Place, message and hint of everything that is wrong with a suite."""
    with pytest.raises(SuiteError) as caught:
        load(file, **options)
    found = located_all(caught.value.problems)
    assert all(one.span and one.span.line for one in found), found
    return [
        f"{Path(one.span.file).name}:{one.span.line}:{one.span.column} {one.message} | {one.hint}"
        for one in found
        if one.span
    ]


def told(file: Path) -> list[str]:
    """All messages about a file that is loaded."""
    return [one.message for one in load(file).suites[0].warnings]


def rewritten(suite: Suite, folder: Path) -> Suite:
    """A suite that was written without a loss, read again."""
    dumped = FORMAT.dump(suite)
    assert [one.message for one in dumped.losses] == []
    return put(dumped.artifacts, folder)


def put(artifacts: tuple[tuple[str, bytes], ...], folder: Path) -> Suite:
    """What was written, read again."""
    for path, content in artifacts:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return loaded(folder / "eval.yaml")


def test_what_is_read(suite_file: Path) -> None:
    """Each key of a file and of a stimulus becomes what the documentation says."""
    suite = loaded(suite_file)
    first, second = suite.cases
    defaults = suite.defaults
    assert (suite.id, suite.version, suite.description) == ("boats-eval", "1.2", "Do folded boats float?")
    assert (defaults.runs, defaults.limits.timeout_s, defaults.baseline) == (2, 90, False)
    assert (defaults.engine, defaults.model, defaults.judge_model) == (None, "some-model", "judge-model")
    assert thaw(suite.extras) == {
        "type": "capability",
        "tags": {"area": "paper"},
        "defaults": {"executor": "copilot-sdk"},
    }
    assert [(arm.name, [one.name for one in arm.skills]) for arm in suite.arms] == [
        ("with_skill", ["boats"]),
        ("without_skill", []),
    ]
    assert [(one.candidate, one.baseline) for one in suite.comparisons] == [("with_skill", "without_skill")]
    assert (first.id, first.prompt, second.prompt) == ("fold", "Fold a boat from sheet.txt.", "Sink the boat.")
    assert first.tags == ("area:paper", "tier:smoke", "colors:red", "colors:blue", "quick")
    assert [one.path for one in first.files] == ["more/ink.txt", "sheet.txt", "in/plan.txt"]
    assert (first.setup, second.setup, thaw(first.env)) == (("mkdir out",), (), {"SHEETS": "3"})
    assert first.rule.mode is VerdictMode.ALL
    assert [(one.id, one.scorer, one.beside, one.weight) for one in first.checks] == [
        ("output-matches 1", "regex", False, 1),
        ("judged", "rubric", False, 1),
        ("exit-success 3", "regex", False, 1),
        ("boats fires", "trigger", True, 1),
        ("max_turns", "usage", False, 1),
        ("max_tokens", "usage", False, 1),
        ("expect_tools: bash", "tool-call", False, 1),
        ("reject_tools: tear", "tool-call", False, 1),
    ]
    assert [said(one) for one in first.checks[3:]] == [
        ("trigger", {"skill": "boats", "should_trigger": True}),
        ("usage", {"turns": 9}),
        ("usage", {"tokens": 5000}),
        ("tool-call", {"tool_pattern": "^(?:bash|powershell|shell|exec_command)$", "called": True}),
        ("tool-call", {"tool": "tear", "called": False}),
    ]


JS = {"syntax": "javascript"}
RUBRIC = "The output meets each of these criteria:\n- It floats\n- It is blue"
GRADERS: list[tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]] = [
    ({"type": "output-matches", "config": {"pattern": "a+"}}, [("regex", {"patterns": ["a+"], "absent": False})]),
    ({"type": "output-not-matches", "config": {"pattern": "a"}}, [("regex", {"patterns": ["a"], "absent": True})]),
    (
        {"type": "output-matches", "config": {"pattern": "(?ims)^a", "negate": True}},
        [("regex", JS | {"patterns": ["(?ims:^a)"], "absent": True})],
    ),
    (
        {"type": "output-not-matches", "config": {"pattern": "a", "negate": True}},
        [("regex", {"patterns": ["a"], "absent": False})],
    ),
    (
        {"type": "output-contains", "config": {"substring": "a"}},
        [("contains", {"keywords": ["a"], "case_sensitive": False, "absent": False})],
    ),
    (
        {"type": "output-not-contains", "config": {"substring": "a", "case_sensitive": True}},
        [("contains", {"keywords": ["a"], "case_sensitive": True, "absent": True})],
    ),
    (
        {"type": "transcript-contains", "config": {"substring": "a"}},
        [("contains", {"keywords": ["a"], "case_sensitive": False, "absent": False, "stream": "messages"})],
    ),
    (
        {"type": "transcript-not-contains", "config": {"substring": "a"}},
        [("contains", {"keywords": ["a"], "case_sensitive": False, "absent": True, "stream": "messages"})],
    ),
    ({"type": "exit-success"}, [("regex", {"patterns": [r"\S"], "absent": False})]),
    ({"type": "file-exists", "config": {"path": "**/*.txt"}}, [("files", {"path": "**/*.txt", "state": "present"})]),
    ({"type": "file-not-exists", "config": {"path": "a"}}, [("files", {"path": "a", "state": "absent"})]),
    (
        {"type": "file-contains", "config": {"path": "*.txt", "value": "x"}},
        [("files", {"path": "*.txt", "contains": ["x"]})],
    ),
    ({"type": "file-not-contains", "config": {"path": "a", "value": "x"}}, [("files", {"path": "a", "lacks": ["x"]})]),
    (
        {"type": "file-matches", "config": {"path": "a", "pattern": "x"}},
        [("files", {"path": "a", "patterns": ["x"]})],
    ),
    (
        {"type": "file-not-matches", "config": {"path": "a", "pattern": "(?i)x"}},
        [("files", JS | {"path": "a", "patterns": [r"^(?![\s\S]*(?:(?i:x)))"]})],
    ),
    (
        {"type": "run-command", "config": {"command": "make test"}},
        [("command", {"command": "make test", "fail_codes": "any", "timeout_s": 60.0})],
    ),
    (
        {"type": "run-command", "config": {"command": "grep", "args": ["a b", "x"], "expected_exit_code": 1}},
        [("command", {"command": "grep 'a b' x", "fail_codes": "any", "timeout_s": 60.0, "expect_exit_code": 1})],
    ),
    (
        {"type": "run-command", "config": {"command": "make", "timeout": "2m", "sub_path": "out", "env": {"N": 2}}},
        [
            (
                "command",
                {"command": "export N=2\ncd out || exit 125\nmake", "fail_codes": "any", "timeout_s": 120.0},
            )
        ],
    ),
    (
        {"type": "tool-calls", "config": {"required": ["azure_.*", {"name": "create", "path": r"\.cs$"}]}},
        [
            ("tool-call", JS | {"called": True, "tool_pattern": "azure_.*"}),
            (
                "tool-call",
                JS
                | {
                    "called": True,
                    "tool_pattern": "^(?:create|write|write_file|apply_patch)$",
                    "arguments": {"path": r"\.cs$"},
                },
            ),
        ],
    ),
    (
        {"type": "tool-calls", "config": {"disallowed": [{"command": "rm", "args": {"force": "true"}}]}},
        [("tool-call", JS | {"called": False, "arguments": {"command": "rm", "force": "true"}})],
    ),
    (
        {"type": "tool-calls", "config": {"sequence": ["fold", {"name": "float"}]}},
        [("sequence", {"tools": ["fold", "float"], "order": "in-order"})],
    ),
    ({"type": "tool-call-count", "config": {"max": 0}}, [("usage", {"tool_calls": 0})]),
    ({"type": "turn-count", "config": {"max": 3}}, [("usage", {"turns": 3})]),
    ({"type": "token-budget", "config": {"max": 400}}, [("usage", {"tokens": 400})]),
    ({"type": "wall-time", "config": {"max": "1m30s"}}, [("usage", {"duration_s": 90.0})]),
    ({"type": "diff-empty"}, [("files", {"path": "**", "state": "untouched"})]),
    ({"type": "prompt"}, [("rubric", {"criteria": RUBRIC, "scale": "0-1", "threshold": 0.5})]),
    (
        {"type": "prompt", "config": {"scoring": "binary", "threshold": 1, "model": "m"}},
        [("rubric", {"claims": ["It floats", "It is blue"], "model": "m"})],
    ),
    (
        {"type": "prompt", "config": {"scoring": "binary", "prompt": "Is it a boat?"}},
        [("rubric", {"criteria": ["Is it a boat?", "It floats", "It is blue"]})],
    ),
    (
        {"type": "prompt", "config": {"scoring": "scale_1_10", "prompt": "Is it a boat?\n", "threshold": 0.8}},
        [
            (
                "rubric",
                {"criteria": "Is it a boat?\n\nCriteria:\n- It floats\n- It is blue", "scale": "0-1", "threshold": 0.8},
            )
        ],
    ),
]


@pytest.mark.parametrize(("grader", "checks"), GRADERS)
def test_each_grader(suite_file: Path, grader: dict[str, Any], checks: list[tuple[str, dict[str, Any]]]) -> None:
    """A grader becomes a check for each thing that a scorer decides."""
    rubric = ["It floats", "It is blue"] if grader["type"] == "prompt" else []
    made = checks_of(suite_file, grader, rubric=rubric)
    assert [said(one) for one in made] == checks
    assert len({one.id for one in made}) == len(checks)


@pytest.mark.parametrize("grader", [one for one, _ in GRADERS])
def test_each_grader_there_and_back(suite_file: Path, tmp_path: Path, grader: dict[str, Any]) -> None:
    """What is written of a grader is read as the same checks, and nothing is said to be lost."""
    rubric = ["It floats", "It is blue"] if grader["type"] == "prompt" else []
    suite = loaded(written(suite_file, graders=[grader | {"name": "g"}], rubric=rubric))
    (case,), (back,) = suite.cases, rewritten(suite, tmp_path / "back/boats").cases
    assert [one.digest for one in back.checks] == [one.digest for one in case.checks]


def test_output_of_a_command(suite_file: Path, tmp_path: Path) -> None:
    """Exit code and output are looked at by a program that is read back as the same grader."""
    config = {"command": "echo 3 boats; echo wet >&2; exit 4", "expected_exit_code": 4, "stdout_contains": "boats"}
    config |= {"stderr_contains": "wet", "stdout_matches": r"\d boats", "stdout_not_matches": "ships"}
    suite = loaded(written(suite_file, graders=[{"type": "run-command", "name": "g", "config": config}]))
    (check,) = first_case(suite).checks
    demand = output_demand(str(check.options["command"]))
    assert demand == config
    assert check.options["label"] == config["command"]
    assert first_case(rewritten(suite, tmp_path / "back/boats")).checks[0].digest == check.digest


@pytest.mark.parametrize(
    ("grader", "demand"),
    [
        ({"type": "file-not-contains", "config": {"path": "**/*.txt", "value": "x"}}, {"value": "x"}),
        ({"type": "file-not-matches", "config": {"path": "**/*.txt", "pattern": "x+"}}, {"pattern": "x+"}),
        ({"type": "file-contains", "config": {"path": "**/*.txt", "value": "x", "negate": True}}, {"value": "x"}),
    ],
)
def test_no_file_of_several(suite_file: Path, tmp_path: Path, grader: dict[str, Any], demand: dict[str, str]) -> None:
    """Each file of a pattern is looked into, since one that lacks a text is not enough."""
    suite = loaded(written(suite_file, graders=[grader | {"name": "g"}]))
    (check,) = first_case(suite).checks
    assert no_file_demand(str(check.options["command"])) == {"path": "**/*.txt"} | demand
    assert first_case(rewritten(suite, tmp_path / "back/boats")).checks[0].digest == check.digest


def run(command: str, folder: Path) -> int:
    """Exit code of a shell command in a folder."""
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, check=False).returncode


@pytest.mark.slow
def test_the_programs_of_graders_decide(suite_file: Path, tmp_path: Path) -> None:
    """The commands pass and fail as the graders would."""
    (tmp_path / "work/deep").mkdir(parents=True)
    (tmp_path / "work/deep/a.txt").write_text("wet")
    (tmp_path / "work/response.txt").write_text("dry")
    config = {"command": "echo boats", "stdout_contains": "boats", "stdout_not_matches": "sh.ps"}
    graders: list[tuple[str, dict[str, Any], int]] = [
        ("file-not-contains", {"path": "**/*.txt", "value": "wet"}, 1),
        ("file-not-contains", {"path": "**/*.txt", "value": "dry"}, 0),
        ("file-not-contains", {"path": "**", "value": "wet"}, 1),
        ("file-not-matches", {"path": "*/*", "pattern": "^w"}, 1),
        ("file-not-matches", {"path": "*", "pattern": "^w"}, 0),
        ("run-command", config, 0),
        ("run-command", config | {"expected_exit_code": 2}, 1),
        ("run-command", config | {"stdout_matches": "^s"}, 1),
        ("run-command", config | {"command": "no-such-program"}, 127),
        ("run-command", {"command": "true", "sub_path": "nowhere"}, 125),
        ("run-command", {"command": "test -f a.txt", "sub_path": "deep", "env": {"A": "b c"}}, 0),
    ]
    made = checks_of(suite_file, *({"type": kind, "config": config} for kind, config, _ in graders))
    codes = [run(str(check.options["command"]), tmp_path / "work") for check in made]
    assert codes == [code for _, _, code in graders]


def test_the_mean_and_weights_of_types(suite_file: Path, tmp_path: Path) -> None:
    """With a threshold the mean decides: graders of one type share its weight, and parts that of their grader."""
    graders: list[dict[str, Any]] = [
        {"type": "output-contains", "config": {"substring": "a"}},
        {"type": "output-contains", "config": {"substring": "b"}},
        {"type": "tool-calls", "config": {"required": ["x", "y"]}},
        {"type": "prompt", "config": {"scoring": "binary"}},
    ]
    scoring = {"threshold": 0.75, "weights": {"output-contains": 3, "prompt": 2}}
    suite = loaded(written(suite_file, graders=graders, rubric=["It floats"], more={"scoring": scoring}))
    (case,) = suite.cases
    assert case.rule == VerdictRule(mode=VerdictMode.MEAN, threshold=0.75)
    assert [one.weight for one in case.checks] == [1.5, 1.5, 0.5, 0.5, 2]
    assert str(case.checks[-1].options["criteria"]).startswith("The output meets")
    (back,) = rewritten(suite, tmp_path / "back/boats").cases
    assert [one.digest for one in back.checks] == [one.digest for one in case.checks]
    assert back.rule == case.rule


def test_without_weights_each_grader_counts_alike(suite_file: Path) -> None:
    """Several graders of a type count once each; without a threshold weights decide nothing."""
    graders = [{"type": "output-contains", "config": {"substring": one}} for one in "ab"]
    made = checks_of(suite_file, *graders, {"type": "exit-success"}, more={"scoring": {"threshold": 0.5}})
    assert [one.weight for one in made] == [1, 1, 1]
    made = checks_of(suite_file, *graders, more={"scoring": {"weights": {"output-contains": 4, "prompt": 1}}})
    assert [one.weight for one in made] == [1, 1]
    messages = told(suite_file)
    assert any("weights decide nothing" in one for one in messages)
    assert any("type without a grader" in one for one in messages)


def test_weights_of_types_are_found_again() -> None:
    """Weights of checks that no weights of types give are none."""
    assert type_weights([[("a", 1), ("", 1)]]) == {}
    assert type_weights([[("a", 0.5), ("a", 0.5), ("b", 3)], [("a", 1)]]) == {"a": 1, "b": 3}
    assert type_weights([[("a", 1), ("a", 2)]]) is None
    assert type_weights([[("a", 1)], [("a", 2)]]) is None
    assert type_weights([[("a", 2), ("", 3)]]) is None


def test_the_skill_stands_beside_the_verdict(suite_file: Path) -> None:
    """Where something else is asked, the skill firing is a figure; where nothing is, it is the verdict."""
    invoked = {"type": "skill-invocation", "config": {"required": ["boats"]}}
    with_more = checks_of(suite_file, invoked, {"type": "output-contains", "config": {"substring": "a"}})
    assert [(one.scorer, one.beside) for one in with_more] == [("trigger", True), ("contains", False)]
    assert any("beside the verdict" in one for one in told(suite_file))
    alone = checks_of(
        suite_file,
        invoked,
        {"type": "completed"},
        {"type": "turn-count", "config": {"max": 3}},
        constraints={"expect_skills": ["boats"]},
    )
    assert [(one.scorer, one.beside) for one in alone] == [
        ("trigger", False),
        ("regex", False),
        ("usage", False),
        ("trigger", False),
    ]
    assert len({one.id for one in alone}) == 4
    suite = loaded(suite_file)
    assert [arm.name for arm in suite.arms] == ["with_skill"]
    assert suite.comparisons == ()


def test_stimuli_about_the_skill_alone_are_a_suite_of_their_own(suite_file: Path, tmp_path: Path) -> None:
    """They prove nothing without the skill, so that the arm without it runs the others only."""
    text = yaml.safe_load(EVAL)
    text["stimuli"] += [{"name": "cake", "prompt": "Bake a cake.", "expect_activation": False}]
    suite_file.write_text(yaml.safe_dump(text))
    graded, alone = load(suite_file).suites
    assert ([one.id for one in graded.cases], [one.id for one in alone.cases]) == (["fold", "sink"], ["cake"])
    assert (graded.id, alone.id, len(graded.arms), len(alone.arms)) == ("boats-eval", "boats-eval-triggers", 2, 1)
    assert said(first_case(alone).checks[0]) == ("trigger", {"skill": "boats", "should_trigger": False})
    assert alone.warnings == ()
    back = rewritten(alone, tmp_path / "back/boats")
    assert [one.digest for one in first_case(back).checks] == [one.digest for one in first_case(alone).checks]


def test_graders_of_one_name_have_ids_of_their_own(suite_file: Path) -> None:
    """A number is added, and another one if some grader is called that."""
    names = ("a", "a 2", "a", "a")
    graders = [{"type": "output-contains", "name": name, "config": {"substring": "x"}} for name in names]
    assert [one.id for one in checks_of(suite_file, *graders)] == ["a", "a 2", "a 3", "a 4"]


def test_the_tool_skill_stands_for_the_skill(suite_file: Path) -> None:
    """Also as a call that a grader requires; with arguments it is a call."""
    required = {"type": "tool-calls", "config": {"required": ["skill"]}}
    call = {"type": "tool-calls", "config": {"disallowed": [{"name": "skill", "args": {"skill": "ships"}}]}}
    first, second = checks_of(suite_file, required, call)
    assert said(first) == ("trigger", {"skill": "boats", "should_trigger": True})
    assert said(second)[0] == "tool-call"


def skills_in(repository: Path, *places: str) -> None:
    """Skills at these places of a repository."""
    for place in places:
        (repository / place).mkdir(parents=True, exist_ok=True)
        (repository / place / "SKILL.md").write_text(SKILL.replace("name: boats", f"name: {Path(place).name}"))


def arms_of(suite: Suite) -> dict[str, list[tuple[str, SkillRole]]]:
    """Skills of each arm."""
    return {arm.name: [(one.name, one.role) for one in arm.skills] for arm in suite.arms}


CANDIDATE, DISTRACTOR = SkillRole.CANDIDATE, SkillRole.DISTRACTOR


def apart(repository: Path, place: str = "tests/boats/eval.yaml", **keys: Any) -> Path:
    """A suite that does not lie in a skill, with one stimulus."""
    (repository / ".git").mkdir(parents=True)
    (repository / place).parent.mkdir(parents=True)
    grader = {"type": "output-contains", "config": {"substring": "a"}}
    return written(repository / place, **({"graders": [grader]} | keys))


@pytest.mark.parametrize("place", ["skills/boats", ".github/skills/boats", "plugins/paper/skills/boats", "boats"])
def test_the_skill_that_the_folder_names(tmp_path: Path, place: str) -> None:
    """A suite beside the skills is about the one that has the name of its folder."""
    file = apart(tmp_path)
    skills_in(tmp_path, place, f"{Path(place).parent}/ships")
    assert arms_of(loaded(file)) == {"with_skill": [("boats", CANDIDATE)], "without_skill": []}


def test_the_skill_that_the_file_names(tmp_path: Path) -> None:
    """The beginning of a file's name counts, too."""
    file = apart(tmp_path, "tests/boats.eval.yaml")
    skills_in(tmp_path, "skills/boats", "skills/ships")
    assert loaded(file).targets[0].id == "boats"


def test_the_skill_that_graders_require(tmp_path: Path) -> None:
    """Where no folder has the name of a skill, graders may; those they look for are installed."""
    config = {"required": ["ships"], "disallowed": ["boats", "rafts"]}
    grader = {"type": "output-contains", "config": {"substring": "a"}}
    file = apart(tmp_path, "tests/x/eval.yaml", graders=[{"type": "skill-invocation", "config": config}, grader])
    skills_in(tmp_path, "skills/boats", "skills/ships", "skills/kites")
    suite = loaded(file)
    beside = ("boats", DISTRACTOR)
    assert arms_of(suite) == {"with_skill": [("ships", CANDIDATE), beside], "without_skill": [beside]}
    assert [(one.options.get("skill"), one.beside) for one in first_case(suite).checks] == [
        ("ships", True),
        ("boats", False),
        (None, False),
    ]
    assert any("cannot fire" in one.message for one in suite.warnings)


def test_a_copy_of_a_skill_is_no_other_skill(tmp_path: Path) -> None:
    """Copies for several agents are one skill, of which one lies in each arm."""
    config = {"required": ["boats"], "disallowed": ["ships"]}
    grader = {"type": "output-contains", "config": {"substring": "a"}}
    file = apart(tmp_path, graders=[{"type": "skill-invocation", "config": config}, grader])
    skills_in(tmp_path, "skills/boats", ".github/skills/boats", "skills/ships", ".github/skills/ships")
    assert arms_of(loaded(file))["with_skill"] == [("boats", CANDIDATE), ("ships", DISTRACTOR)]
    scoring = {"threshold": 0.5, "weights": {"skill-invocation": 4}}
    first, second, third = checks_of(
        file, {"type": "skill-invocation", "config": config}, grader, more={"scoring": scoring}
    )
    assert [(one.beside, one.weight) for one in (first, second, third)] == [(True, 1), (False, 4), (False, 1)]


def test_skills_of_the_environment(tmp_path: Path) -> None:
    """The one that the folder names is under test, the others lie beside it in both arms."""
    skills = ["../../lib/ships", "../../lib/boats/SKILL.md"]
    file = apart(tmp_path, environment={"skills": skills})
    skills_in(tmp_path, "lib/boats", "lib/ships", "skills/kites")
    beside = ("ships", DISTRACTOR)
    assert arms_of(loaded(file)) == {"with_skill": [("boats", CANDIDATE), beside], "without_skill": [beside]}
    written(file, graders=[{"type": "completed"}], more={"environment": {"skills": ["../../lib"]}})
    assert len(loaded(file).arms[0].skills) == 2


def test_the_skill_that_the_user_names(tmp_path: Path) -> None:
    """`--skill-path` takes a folder, or its SKILL.md, from the current folder on."""
    file = apart(tmp_path, "tests/x/eval.yaml")
    skills_in(tmp_path, "skills/boats", "skills/ships")
    assert loaded(file, skill_path="../../skills/ships").targets[0].id == "ships"
    assert loaded(file, skill_path="../../skills/boats/SKILL.md").targets[0].id == "boats"
    for asked in ({"expect_activation": True}, {"constraints": {"expect_tools": ["skill"]}}):
        written(file, graders=[{"type": "completed"}], **asked)
        (refusal,) = refusals(file)
        assert "boats, ships" in refusal
        assert "--skill-path DIR" in refusal


def test_a_suite_that_is_about_no_skill(tmp_path: Path) -> None:
    """Where nothing lists, names or asks for a skill, an agent is evaluated by itself, as Vally does; it is told."""
    server = {"command": "crane"}
    file = apart(tmp_path, "tests/x/eval.yaml", more={"environment": {"mcpServers": {"crane": server}}})
    skills_in(tmp_path, "skills/boats", "skills/ships")
    suite = loaded(file)
    assert arms_of(suite) == {"agent": []}
    assert (suite.targets[0].kind, suite.comparisons, suite.arms[0].installs[0].kind) == ("agent", (), "servers")
    assert any("evaluated by itself; --skill-path DIR" in one and "boats, ships" in one for one in told(file))
    grader = {"type": "skill-invocation", "config": {"disallowed": ["boats"]}}
    written(file, graders=[ANSWERS, grader])
    assert arms_of(loaded(file)) == {"agent": [("boats", DISTRACTOR)]}
    checks = first_case(loaded(file)).checks
    assert [(check.scorer, check.beside) for check in checks] == [("contains", False), ("trigger", False)]


def test_a_skill_that_is_found_from_a_folder_above(tmp_path: Path) -> None:
    """A path that begins at a folder above the file's own leads there, which is told with the right path."""
    file = apart(tmp_path, "tests/paper/boats/eval.yaml", environment={"skills": ["../../lib/boats", "../../../lib/x"]})
    skills_in(tmp_path, "lib/boats", "lib/x")
    assert arms_of(loaded(file))["with_skill"] == [("boats", CANDIDATE), ("x", DISTRACTOR)]
    assert [one for one in told(file) if "from a folder above" in one] == [
        "this skill is found from a folder above: write '../../../lib/boats'"
    ]


def test_skills_that_are_under_test_together(tmp_path: Path) -> None:
    """Of several listed skills none of which is named, one arm has all and the other none; --skill-path names one."""
    skills = {"skills": ["../../lib/ships", "../../lib/boats"]}
    graders = [ANSWERS, {"type": "tool-calls", "config": {"required": ["skill"]}}]
    file = apart(tmp_path, "tests/x/eval.yaml", environment=skills, graders=graders)
    skills_in(tmp_path, "lib/boats", "lib/ships")
    suite = loaded(file)
    assert arms_of(suite) == {"with_skills": [("ships", CANDIDATE), ("boats", CANDIDATE)], "without_skills": []}
    assert suite.targets[0].id == "boats-eval"
    fires = first_case(suite).checks[1]
    assert (fires.options["skill"], fires.options["acceptable"], fires.beside) == ("ships", ("boats",), True)
    assert any("under test together" in one for one in told(file))
    written(file, environment=skills, graders=[ANSWERS], expect_activation=False)
    silent = [check for check in first_case(loaded(file)).checks if check.scorer == "trigger"]
    assert [(check.options["skill"], check.options["should_trigger"]) for check in silent] == [
        ("ships", False),
        ("boats", False),
    ]
    beside = ("ships", DISTRACTOR)
    assert arms_of(loaded(file, skill_path="../../lib/boats"))["with_skill"] == [("boats", CANDIDATE), beside]
    losses = " ".join(loss.message for loss in FORMAT.dump(suite).losses)
    assert "skill 'boats'" in losses


def test_settings_of_the_repository(tmp_path: Path) -> None:
    """`.vally.yaml` has named environments, whose paths start at it, and says where skills are."""
    file = apart(tmp_path, more={"environment": "harbour"}, agent_environment="dock")
    skills_in(tmp_path, "lib/own/boats")
    server = {"type": "stdio", "command": "node", "args": ["a.js"], "env": {"A": "b"}, "tools": ["*"]}
    settings = {
        "paths": {"skills": ["lib/own"], "evals": "tests"},
        "suites": {"all": {"evals": ["**"]}},
        "environments": {
            "harbour": {"files": [{"src": "data/a.txt", "dest": "sub/"}], "mcpServers": {"crane": server}},
            "dock": {"commands": "true"},
        },
    }
    (tmp_path / ".vally.yaml").write_text(yaml.safe_dump(settings))
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.txt").write_text("a")
    suite = loaded(file)
    (case,) = suite.cases
    assert ([one.path for one in case.files], case.setup) == (["sub/a.txt"], ("true",))
    servers = {"crane": {"command": "node", "args": ["a.js"], "env": {"A": "b"}}}
    assert [[(one.kind, thaw(one.content)) for one in arm.installs] for arm in suite.arms] == [
        [("servers", {"servers": servers})]
    ] * 2
    assert not any("suites" in one.message for one in suite.warnings)
    assert arms_of(rewritten(suite, tmp_path / "back/boats")).keys() == {"with_skill", "without_skill"}
    assert (
        "no environment 'harbor' (did you mean harbour?)"
        in refusals(written(file, graders=[{"type": "completed"}], more={"environment": "harbor"}))[0]
    )


def test_a_server_with_a_url(suite_file: Path) -> None:
    """Its kind and its headers are kept."""
    server = {"type": "http", "url": "https://example.org/mcp", "headers": {"A": "b"}}
    written(
        suite_file, graders=[{"type": "completed"}, {"type": "diff-empty"}], environment={"mcpServers": {"x": server}}
    )
    assert thaw(loaded(suite_file).arms[1].installs[0].content) == {"servers": {"x": server}}


def test_files_for_graders_come_later(suite_file: Path, tmp_path: Path) -> None:
    """What only graders need is not in the workspace during a session."""
    grading = {"files": [{"src": "fixtures/sheet.txt", "dest": "expected/sheet.txt"}]}
    written(suite_file, graders=[{"type": "diff-empty", "name": "g"}], grading_environment=grading)
    suite = loaded(suite_file)
    assert [one.path for one in first_case(suite).grader_files] == ["expected/sheet.txt"]
    back = rewritten(suite, tmp_path / "back/boats")
    assert [one.content_id for one in first_case(back).grader_files] == [
        one.content_id for one in first_case(suite).grader_files
    ]


def test_the_suite_is_not_put_into_the_workspace(suite_file: Path) -> None:
    """A folder that holds it comes without it, and a skill in it is told."""
    written(suite_file, graders=[{"type": "diff-empty"}], environment={"files": [{"src": "..", "dest": "all"}]})
    suite = loaded(suite_file)
    paths = [one.path for one in first_case(suite).files]
    assert paths == ["all/SKILL.md", "all/evals/fixtures/more/ink.txt", "all/evals/fixtures/sheet.txt"]
    messages = [one.message for one in suite.warnings]
    assert any("holds the answers" in one for one in messages)
    assert any("SKILL.md lies in the workspace" in one for one in messages)


def test_narrower_surroundings_win(suite_file: Path) -> None:
    """Files and variables of a stimulus replace those of the file; commands follow."""
    outer = {"files": [{"src": "fixtures/sheet.txt", "dest": "a"}], "env": {"A": "1", "B": True}, "commands": ["one"]}
    inner = {"files": [{"src": "fixtures/more/ink.txt", "dest": "a"}], "env": {"A": "2"}, "commands": ["two"]}
    written(suite_file, graders=[{"type": "diff-empty"}], environment=inner, more={"environment": outer})
    (case,) = loaded(suite_file).cases
    assert [Path(one.source or "").name for one in case.files] == ["ink.txt"]
    assert (thaw(case.env), case.setup) == ({"A": "2", "B": "true"}, ("one", "two"))


def test_nothing_of_the_suite_is_installed(suite_file: Path, tmp_path: Path) -> None:
    """Suite and fixtures are left out of the skill, also where they lie beside SKILL.md; what it mentions is not."""
    flat = laid(
        tmp_path / "flat", {"boats/eval.yaml": EVAL, "boats/fixtures/sheet.txt": "a", "boats/assets/ink.txt": "b"}
    )
    file = written(
        flat.parent.parent / "eval.yaml",
        graders=[{"type": "diff-empty"}],
        environment={"files": [{"src": "fixtures", "dest": "."}, {"src": "assets", "dest": "assets"}]},
    )
    (file.parent / "SKILL.md").write_text(f"{SKILL}Read assets/ink.txt.\n")
    assert set(loaded(file).arms[0].skills[0].leaves_out) == {"eval.yaml", "evals", "fixtures/sheet.txt"}
    back = rewritten(loaded(suite_file), tmp_path / "back/boats")
    gone = set(back.arms[0].skills[0].leaves_out)
    assert {"eval.yaml", "fixtures/00001/sheet.txt", "fixtures/00001/in/plan.txt"} <= gone


def test_paths_stay_in_the_repository(tmp_path: Path) -> None:
    """Without `.git` and `.vally.yaml` they stay in the suite's own folder; a home is no repository."""
    file = laid(tmp_path / "harbour", {})
    entry = [{"src": "../../shared/plan.txt", "dest": "a"}]
    written(file, graders=[{"type": "diff-empty"}], environment={"files": entry})
    assert first_case(loaded(file)).files
    shutil.rmtree(tmp_path / "harbour/.git")
    assert any("no file or folder '../../shared/plan.txt'" in one for one in refusals(file))
    (tmp_path / "harbour/.vally.yaml").write_text("")
    assert first_case(loaded(file)).files
    (tmp_path / "secret").write_text("x")
    (tmp_path / "harbour/shared/link").symlink_to(tmp_path / "secret")
    for src in ("../../shared/link", "../../../secret", "/etc/hostname", str(tmp_path / "secret")):
        written(file, graders=[{"type": "diff-empty"}], environment={"files": [{"src": src, "dest": "a"}]})
        assert any(repr(src) in one for one in refusals(file)), src


def test_a_home_is_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither `.git` nor `.vally.yaml` in a home opens it to a suite that lies somewhere below."""
    file = laid(tmp_path / "harbour", {".vally.yaml": "environments: {}\n"})
    written(file, graders=[{"type": "diff-empty"}], environment={"files": [{"src": "../../shared", "dest": "a"}]})
    assert first_case(loaded(file)).files
    monkeypatch.setenv("HOME", str(tmp_path / "harbour"))
    assert refusals(file)


def test_there_and_back(suite_file: Path, tmp_path: Path) -> None:
    """A whole suite is read as it was written, with the keys that nothing reads."""
    text = EVAL.replace("type: capability", "owner: {team: paper}").replace("    turns:", "    area: depth\n    turns:")
    suite_file.write_text(text.replace("  runs: 2", "  runs: 2\n  retries: 4"))
    suite = loaded(suite_file)
    assert {"owner", "defaults"} <= suite.extras.keys()
    back = rewritten(suite, tmp_path / "back/boats")
    for one, other in zip(suite.cases, back.cases, strict=True):
        assert (one.id, one.tags, one.prompt, one.setup) == (other.id, other.tags, other.prompt, other.setup)
        assert [check.digest for check in one.checks] == [check.digest for check in other.checks]
        assert [check.beside for check in one.checks] == [check.beside for check in other.checks]
        assert [file.content_id for file in one.files] == [file.content_id for file in other.files]
        assert (one.env, one.rule, one.extras) == (other.env, other.rule, other.extras)
    assert back.defaults == suite.defaults
    assert (back.name, back.version, back.description, back.extras) == (
        suite.name,
        suite.version,
        suite.description,
        suite.extras,
    )


def test_what_has_no_effect_is_told_once(suite_file: Path) -> None:
    """Each thing once for each file, with its place and the number of places."""
    text = yaml.safe_load(EVAL)
    text["owner"] = "paper"
    text["_shared"] = [1]
    prompt = {"mode": "append"}
    for number in range(2):
        grader = {"type": "file-not-contains", "config": {"path": "a", "value": "b"}}
        text["stimuli"].append(
            {
                "name": f"more {number}",
                "prompt": "@boats fold.",
                "rubric": ["It floats"],
                "graders": [grader],
                "tags": {"systemPrompt": json.dumps(prompt)},
                "metadata": {"kind": "x"},
            }
        )
    text["defaults"] |= {"runs": 0, "timeout": 60}
    suite_file.write_text(yaml.safe_dump(text))
    warnings = located_all(load(suite_file).suites[0].warnings)
    messages = [one.message for one in warnings]
    for word in (
        "executor has no effect",
        "names of models",
        "runs: 0",
        "without a unit",
        "'owner' has no effect",
        "names of tools",
        "'metadata' has no effect (2 places)",
        "begins with @ names a skill to Copilot; other agents take it for text",
        "a rubric without a grader",
        "JSON is for an executor",
        "a session that breaks",
        "one number from 0 to 1",
        "beside the verdict",
        "file that is not there",
    ):
        assert sum(word in one for one in messages) == 1, (word, messages)
    assert not any("_shared" in one for one in messages)
    assert all(one.span and one.span.line for one in warnings)
    last = list(load(suite_file).suites[0].cases)[-1]
    assert thaw(last.extras) == {
        "metadata": {"kind": "x"},
        "tags": {"systemPrompt": json.dumps(prompt)},
        "rubric": ["It floats"],
    }
    assert last.tags == ("area:paper",)


def test_config_is_what_defaults_are(suite_file: Path) -> None:
    """Older files have the other name; without a limit a session has two minutes."""
    text = EVAL.replace("defaults:\n  timeout: 90s\n", "config:\n")
    suite_file.write_text(text)
    defaults = loaded(suite_file).defaults
    assert (defaults.limits.timeout_s, defaults.runs, defaults.model) == (120, 2, "some-model")


def test_anchors_and_merge_keys(suite_file: Path) -> None:
    """What is repeated by YAML's own means is read where it stands, and refused there."""
    text = (
        "x-graders:\n  - &floats {type: output-contains, config: &float {substring: floats}}\n"
        "stimuli:\n  - {name: a, prompt: A, graders: [*floats]}\n"
        "  - {name: b, prompt: B, graders: [*floats, {type: 'output-contains', config: {<<: *float, negate: true}}]}\n"
    )
    suite_file.write_text(text)
    assert [[one.options["absent"] for one in case.checks] for case in loaded(suite_file).cases] == [
        [False],
        [False, True],
    ]
    suite_file.write_text(
        text.replace("negate: true", "negated: true").replace("prompt: A, graders", "prompt: A, gradrs")
    )
    found = refusals(suite_file)
    assert [one.partition(" ")[0] for one in found] == ["eval.yaml:4:26", "eval.yaml:5:92"]


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("  timeout: 90s", "  timeout: soon", "7:3", "no duration"),
        ("  timeout: 90s", "  timeout: 120000", "7:3", "milliseconds"),
        ("  timeout: 90s", "  timeout: 0s", "7:3", "no length of time"),
        ("  runs: 2", "  runs: -1", "8:3", "'runs'"),
        ("tags: {area: paper}", "config: {runs: 1}", "5:1", "Put all of it into `defaults`"),
        ("tags: {area: paper}", "scoring: {threshold: 0}", "5:11", "'threshold'"),
        ("tags: {area: paper}", "scoring: {threshold: 1, weights: {promt: 1}}", "5:35", "type 'promt'"),
        ("tags: {area: paper}", "scoring: {treshold: 1}", "5:11", "Write threshold"),
        ("tags: {area: paper}", "graders: [{type: prompt}]", "5:1", "key 'graders' means nothing here"),
        ("tags: {area: paper}", "agent_environment: none", "5:1", "no environment 'none'"),
        ("  env: {SHEETS: 3}", "  git: {source: a}", "15:3", "not checked out"),
        ("  env: {SHEETS: 3}", "  mcpServers: {a: {args: [b]}}", "15:16", "a command or a url"),
        ("  env: {SHEETS: 3}", "  mcp_servers: {a: {args: [b]}}", "15:3", "Write mcpServers"),
        ("  env: {SHEETS: 3}", "  skills: [../../shared]", "15:12", "no skill at '../../shared'"),
        ("  env: {SHEETS: 3}", "  env: {SHEETS: [3]}", "15:9", "'SHEETS'"),
        ("{src: fixtures, dest: .}", "{src: nothing, dest: .}", "14:8", "'nothing'"),
        ("{src: fixtures, dest: .}", "{src: fixtures, dest: /a}", "14:23", "no place in the workspace"),
        ("{src: fixtures, dest: .}", "{src: fixtures}", "14:7", "'dest' is missing"),
        ("  - name: sink", "  - name: fold", "37:5", "two stimuli"),
        ("  - name: sink", "  - title: sink", "37:5", "'name' is missing"),
        ("    turns:\n      - prompt: Sink the boat.\n", "    turns: []\n", "37:5", "either a prompt or turns"),
        ("      - prompt: Sink the boat.", "      - say: A", "39:9", "'prompt' is missing"),
        ("    turns:\n      - prompt: Sink the boat.\n", "", "37:5", "either a prompt or turns"),
        ("    turns:", "    prompt: A\n    turns:", "37:5", "either a prompt or turns"),
        ("      commands: [mkdir out]", "      command: [mkdir out]", "26:7", "Write commands"),
        ("    constraints:", "    constraint:", "27:5", "Write constraints"),
        ("reject_tools: [tear]", "rejectTools: [tear]", "29:7", "Write reject_tools"),
        ("max_turns: 9", "max_turns: 0", "30:7", "'max_turns'"),
        ("type: output-matches", "type: output-match", "33:9", "did you mean output-matches"),
        ('"(?i)float"', '"(float"', "34:18", "pattern"),
        ("pattern: ", "patern: ", "34:18", "did you mean pattern"),
        ("      - type: exit-success", "      - type: exit-success\n        weight: 2", "37:9", "'weight'"),
        ("      - type: exit-success", "      - type: exit-success\n        turn: 1", "37:9", "no turn 1"),
        ("      - type: exit-success", "      - type: exit-success\n        config: {a: 1}", "37:18", "'a'"),
        ("stimuli:", "stimuli: []\nmore:", "16:1", "'stimuli'"),
    ],
)
def test_what_does_not_map_is_refused(suite_file: Path, old: str, new: str, place: str, words: str) -> None:
    """Each thing that would be lost is an error at its place, with a reason."""
    assert old in EVAL
    suite_file.write_text(EVAL.replace(old, new, 1))
    found = refusals(suite_file)
    assert any(one.startswith(f"eval.yaml:{place} ") and words in one for one in found), found


@pytest.mark.parametrize(
    ("grader", "words"),
    [
        ({"type": "transcript-matches", "config": {"pattern": "a"}}, "Use transcript-contains"),
        ({"type": "transcript-not-matches", "config": {"pattern": "a"}}, "transcript-not-contains"),
        ({"type": "program", "config": {"program": "a"}}, "Use run-command"),
        ({"type": "error-count", "config": {"max": 0}}, "errors within a session"),
        ({"type": "assistant-contains-tool-output"}, "output of tools"),
        ({"type": "diff-contains", "config": {"value": "a"}}, "Use file-contains"),
        ({"type": "diff-not-contains", "config": {"value": "a"}}, "Use file-not-contains"),
        ({"type": "panel"}, "--judge"),
        ({"type": "prompt"}, "nothing to judge by"),
        ({"type": "prompt", "config": {"prompt": "a", "threshold": 2}}, "'threshold'"),
        ({"type": "prompt", "config": {"prompt": "a", "scoring": "scale_1_3"}}, "'scoring'"),
        ({"type": "output-contains", "config": None}, "'substring' is missing"),
        ({"type": "output-contains"}, "'substring' is missing"),
        ({"type": "file-exists", "config": {"path": "../a"}}, "inside the workspace"),
        ({"type": "file-exists", "config": {"path": "a.{js,ts}"}}, "Use *, ** and ? alone"),
        ({"type": "file-contains", "config": {"path": "[ab]", "value": "x"}}, "wildcards"),
        ({"type": "file-matches", "config": {"path": "a", "pattern": "("}}, "pattern"),
        ({"type": "file-not-matches", "config": {"path": "*", "pattern": "(?<=a+)b"}}, "Python's own"),
        ({"type": "run-command", "config": {"command": "a", "timeout": "2h"}}, "an hour"),
        ({"type": "run-command", "config": {"command": "a", "timeout": "x"}}, "duration"),
        ({"type": "run-command", "config": {"command": "a", "sub_path": "../b"}}, "folder of the workspace"),
        ({"type": "run-command", "config": {"command": "a", "env": {"a b": "c"}}}, "name of a variable"),
        ({"type": "run-command", "config": {"command": "a", "stdout_matches": "("}}, "pattern"),
        ({"type": "skill-invocation", "config": {}}, "checks nothing"),
        ({"type": "skill-invocation", "config": {"required": ["ships"]}}, "has to fire and is not installed"),
        ({"type": "tool-calls", "config": {}}, "checks nothing"),
        ({"type": "tool-calls", "config": {"required": [{}]}}, "a tool or something of its arguments"),
        ({"type": "tool-calls", "config": {"required": ["("]}}, "pattern"),
        ({"type": "tool-calls", "config": {"required": [{"name": "a", "result": "b"}]}}, "result of a call"),
        ({"type": "tool-calls", "config": {"required": [{"name": "a", "pattern": "b"}]}}, "pattern of a call"),
        ({"type": "tool-calls", "config": {"sequence": ["a.*", "b"]}}, "sequence of patterns"),
        ({"type": "tool-calls", "config": {"sequence": [{"name": "a", "path": "b"}]}}, "sequence of patterns"),
        ({"type": "tool-call-count", "config": {"max": 1, "tools": ["a"]}}, "certain tools"),
        ({"type": "turn-count", "config": {"max": 1.5}}, "'max'"),
        ({"type": "wall-time", "config": {"max": "long"}}, "duration"),
        ({"type": "human"}, "no grader of type 'human'"),
        ({}, "'type' is missing"),
    ],
)
def test_graders_that_are_refused(suite_file: Path, grader: dict[str, Any], words: str) -> None:
    """What no scorer decides is an error with a place and a reason."""
    found = refusals(written(suite_file, graders=[grader]))
    assert any(words in one for one in found), found


def test_pairwise_has_no_part_in_a_run(suite_file: Path) -> None:
    """A grader of `vally compare` beside others stops no suite; it is told, and asks nothing."""
    pairwise = {"type": "pairwise", "config": {"prompt": "Which is better?", "threshold": 0.6}}
    found = checks_of(suite_file, ANSWERS, pairwise)
    assert [check.id for check in found] == ["answers"]
    assert any("only in `vally compare`; --baseline" in one for one in told(suite_file))


def test_a_line_of_a_rubric_with_a_colon(suite_file: Path) -> None:
    """An unquoted line with a colon is the text that its author wrote; an object of several keys is none."""
    judged = {"type": "prompt", "config": {"scoring": "binary"}}
    (check,) = checks_of(suite_file, judged, rubric=["It floats", {"Names the color": "blue or red"}])
    assert check.options["claims"] == ("It floats", "Names the color: blue or red")
    assert any("for its colon" in one for one in told(suite_file))
    text = (
        "stimuli:\n- name: a\n  prompt: A\n  rubric:\n  - Shows how: [Folded(side = 1)]\n  graders: [{type: prompt}]\n"
    )
    suite_file.write_text(text)
    (check,) = first_case(loaded(suite_file)).checks
    assert "- Shows how: [Folded(side = 1)]" in str(check.options["criteria"])
    written(suite_file, graders=[judged], rubric=[{"a": "b", "c": "d"}])
    assert any("'rubric[0]' must be text, not an object" in one for one in refusals(suite_file))


ODD: list[tuple[dict[str, Any], str, str]] = [
    ({"environment": {"files": [{"src": "none.txt", "dest": "a"}]}}, "suite.missing-file", "'none.txt'"),
    ({"environment": {"skills": ["../ships"]}}, "suite.cannot-run", "there is no skill at '../ships'"),
    ({"environment": {"git": {"type": "worktree", "source": "."}}}, "suite.cannot-run", "not checked out"),
    ({"graders": [{"type": "harbour-master"}]}, "suite.cannot-run", "unless a plugin of Vally brings it"),
    ({"graders": [{"type": "program", "config": {"program": "a"}}]}, "suite.cannot-run", "Vally's own JSON"),
    ({"graders": [{"type": "tool-calls", "config": {"sequence": ["a.*"]}}]}, "suite.cannot-run", "sequence of"),
    ({"constraints": {"expect_skills": ["ships"]}}, "suite.cannot-run", "'ships' has to fire"),
]


@pytest.mark.parametrize(("keys", "code", "words"), ODD)
def test_a_case_that_cannot_be_run_stops_no_other(
    suite_file: Path, keys: dict[str, Any], code: str, words: str
) -> None:
    """What keeps one case from being run is a problem at its place; it is skipped for that reason, and none is lost."""
    fine = {"name": "fine", "prompt": "Fold it.", "graders": [ANSWERS]}
    odd = {"name": "odd", "prompt": "Sink it.", "graders": [ANSWERS]} | keys
    suite_file.write_text(yaml.safe_dump({"stimuli": [odd, fine]}, sort_keys=False))
    (suite,), problems = (result := load(suite_file)).suites, located_all(result.problems)
    assert [(case.id, bool(case.skip), len(case.checks)) for case in suite.cases] == [
        ("odd", True, 0),
        ("fine", False, 1),
    ]
    assert words in first_case(suite).skip
    assert str(suite_file) not in first_case(suite).skip
    (problem,) = problems
    assert (problem.code, "case 'odd' is left out: " in problem.message, bool(problem.hint)) == (code, True, True)
    assert problem.span is not None
    assert problem.span.line
    suite_file.write_text(yaml.safe_dump({"stimuli": [odd]}))
    assert any(words in one for one in refusals(suite_file))


def test_a_mistake_in_one_case_stops_the_file(suite_file: Path) -> None:
    """What Vally itself refuses is refused before anything is paid, also if other cases are fine."""
    fine = {"name": "fine", "prompt": "Fold it.", "graders": [ANSWERS]}
    odd = {"name": "odd", "prompt": "Sink it.", "graders": [{"type": "output-match"}, {"type": "harbour-master"}]}
    suite_file.write_text(yaml.safe_dump({"stimuli": [odd, fine]}))
    found = refusals(suite_file)
    assert len(found) == 2
    assert any("did you mean output-matches" in one for one in found)


def test_all_problems_at_once(suite_file: Path) -> None:
    """Faults of different stimuli and kinds are told together, one of named surroundings once."""
    text = EVAL.replace("type: output-matches", "type: output-match").replace("max_turns: 9", "max_turns: 0")
    suite_file.write_text(text.replace("src: fixtures", "src: nothing").replace("substring:", "subtring:"))
    found = refusals(suite_file)
    assert [one.partition(" ")[0].split(":")[1] for one in found] == ["14", "33", "30", "42", "42"]
    settings = suite_file.parents[2] / ".vally.yaml"
    settings.write_text("environments:\n  pier: {git: {source: a}}\n")
    two = [{"name": name, "prompt": "A", "environment": "pier"} for name in "ab"]
    suite_file.write_text(yaml.safe_dump({"stimuli": two}))
    assert [one.partition(" ")[0] for one in refusals(suite_file)] == [".vally.yaml:2:10"]
    settings.write_text("environments: [a]\n")
    assert any(one.startswith(".vally.yaml:1:1 ") for one in refusals(suite_file))


def test_durations() -> None:
    """Units are read, and what is written is read as the same."""
    texts: list[tuple[str | float, float]] = [
        ("90s", 90),
        ("2m", 120),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("1.5 hours", 5400),
        ("2 min", 120),
        (30, 30),
        ("7", 7),
    ]
    assert [seconds_of(text) for text, _ in texts] == [seconds for _, seconds in texts]
    for seconds in (0.001, 0.5, 60.0, 123456.0, 0.000123):
        assert seconds_of(duration_text(seconds)) == pytest.approx(seconds)


READINGS = [
    (r"\d", "\u0663", False),
    (r"^\w+$", "na\u00efve", False),
    ("boats$", "boats\n", False),
    (r"\Aboats", "Aboats", True),
    ("(?i)BOATS", "boats", True),
    ("(?im)^FOLD$", "one\nfold\ntwo", True),
    ("(?s)a.b", "a\nb", True),
    ("a.b", "a\u2028b", False),
]


@pytest.mark.slow
@pytest.mark.parametrize(("pattern", "text", "found"), READINGS)
def test_patterns_are_those_of_javascript(
    suite_file: Path, tmp_path: Path, pattern: str, text: str, found: bool
) -> None:
    """All graders with a pattern find what JavaScript finds, with the flags that Vally takes off its beginning."""
    graders: list[dict[str, Any]] = [
        {"type": "output-matches", "config": {"pattern": pattern}},
        {"type": "file-not-matches", "config": {"path": "*", "pattern": pattern}},
        {"type": "run-command", "config": {"command": "cat a.txt", "stdout_matches": pattern}},
    ]
    regex, *commands = checks_of(suite_file, *graders)
    assert finds(regex, text) is found
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.txt").write_text(text, encoding="utf-8")
    codes = [run(str(check.options["command"]), tmp_path / "work") for check in commands]
    assert codes == [int(found), int(not found)]


def finds(check: Check, text: str) -> bool:
    """Tell whether a check of the scorer `regex` finds its pattern."""
    (pattern,) = thaw(check.options["patterns"])
    if check.options.get("syntax") == "javascript":
        return javascript(pattern).search(text) is not None
    fold = "" if check.options.get("case_sensitive", True) else "(?i)"
    return compiled(f"{fold}{pattern}").search(text) is not None


def javascript(pattern: str) -> Any:
    """A pattern as scorers read it with `syntax: javascript`."""
    return compiled(from_javascript(pattern))


def test_flags_come_back_to_the_beginning() -> None:
    """A group that is a whole pattern gives its flags back; one beside others stays."""
    assert [written_of(one) for one in ("(?i:a|b)", "(?ims:^a$)", "(?i:a)|(b)", "(?i:a)b", "a")] == [
        "(?i)a|b",
        "(?ims)^a$",
        "(?i:a)|(b)",
        "(?i:a)b",
        "a",
    ]


def test_patterns_that_javascript_knows() -> None:
    """Others are not written; a flag goes to those that are there."""
    assert [javascript_of(one) for one in (r"\Aa", "(?P<a>b)", "a++", "(?>a)", "a+b", "(?i)a")] == [
        "^a",
        None,
        None,
        None,
        "a+b",
        "(?i)a",
    ]
    assert [javascript_of(one, is_folded=True) for one in ("a", "(?s)a", "(?is)a")] == ["(?i)a", "(?is)a", "(?is)a"]


def foreign(suite_file: Path, *checks: Check, **keys: Any) -> Suite:
    """A suite of another format with one case."""
    suite = loaded(suite_file)
    case = Case(id="c", prompt="Fold.", checks=checks, **keys)
    return suite.model_copy(update={"format": "other", "extras": {}, "cases": (case,)})


def check(scorer: str, *, identity: str = "k", **more: Any) -> Check:
    """A check with these options, or with more than options."""
    fields = {key: more.pop(key) for key in ("weight", "beside", "stage") if key in more}
    return Check(id=identity, scorer=scorer, options=more, **fields)


LOSSES: list[tuple[Check, list[dict[str, Any]], str]] = [
    (check("exact", expected="a"), [], "of scorer 'exact' is left out"),
    (
        check("contains", keywords=["a", "b"]),
        [
            {"type": "output-contains", "name": "k 1", "config": {"substring": "a"}},
            {"type": "output-contains", "name": "k 2", "config": {"substring": "b"}},
        ],
        "becomes 2 graders",
    ),
    (check("contains", keywords=["a"], stream="stderr"), [], "is left out"),
    (check("regex", patterns=[r"b|\Aa"]), [], "is left out"),
    (
        check("regex", patterns=["a"], case_sensitive=False),
        [{"type": "output-matches", "name": "k", "config": {"pattern": "(?i)a"}}],
        "",
    ),
    (check("files", path="a", equals="b"), [], "is left out"),
    (check("files", path="*", lacks=["b"]), [], "is left out"),
    (check("command", command="test -s response.txt"), [], "is left out"),
    (check("command", command="a", reads="score"), [], "is left out"),
    (check("usage", cost_usd=1), [], "is left out"),
    (check("tool-call", words=["a"]), [], "is left out"),
    (check("tool-call", tool="a", words=["a"]), [], "is left out"),
    (
        check("tool-call", tool="bash"),
        [{"type": "tool-calls", "name": "k", "config": {"required": [{"name": "^bash$"}]}}],
        "upper and lower case",
    ),
    (check("sequence", tools=["a"], order="exact"), [], "is left out"),
    (check("sequence", skills=["a"]), [], "is left out"),
    (check("trigger", skill="ships"), [], "is left out"),
    (check("rubric", criteria="a", scale="0-10"), [], "is left out"),
    (
        check("rubric", claims=["a"], reference="b"),
        [
            {
                "type": "prompt",
                "name": "k",
                "config": {
                    "prompt": "The output meets each of these criteria:\n- a\n\nAn output that would be right:\nb",
                    "scoring": "binary",
                },
            }
        ],
        "becomes one criterion",
    ),
    (check("contains", keywords=["a"], beside=True), [], "figure beside the verdict"),
    (
        check("contains", keywords=["a"], stage=1),
        [{"type": "output-contains", "name": "k", "config": {"substring": "a"}}],
        "whatever others say",
    ),
    (
        check("contains", keywords=["a"], weight=3),
        [{"type": "output-contains", "name": "k", "config": {"substring": "a"}}],
        "weight of check 'k'",
    ),
]


@pytest.mark.parametrize(("lost", "graders", "words"), LOSSES)
def test_checks_of_others(suite_file: Path, lost: Check, graders: list[dict[str, Any]], words: str) -> None:
    """What Vally has no grader for is a loss with its case, and no loss goes without a word."""
    kept = check("files", identity="kept", path="a")
    dumped = FORMAT.dump(foreign(suite_file, lost, kept))
    (stimulus,) = yaml.safe_load(dict(dumped.artifacts)["eval.yaml"])["stimuli"]
    assert stimulus["graders"] == [*graders, {"type": "file-exists", "name": "kept", "config": {"path": "a"}}]
    losses = [one.message for one in dumped.losses]
    assert [one for one in losses if words in one and one.startswith("case 'c': ")] == (losses if words else [])
    assert len(losses) == bool(words)


def test_claims_of_others(suite_file: Path, tmp_path: Path) -> None:
    """Checks with claims become one rubric, which the suite that is read has as one check."""
    claims = [check("rubric", identity=name, claims=[f"It is {name}"]) for name in ("wet", "dry")]
    dumped = FORMAT.dump(foreign(suite_file, *claims))
    assert ["claims of 2 checks" in one.message for one in dumped.losses] == [True]
    (made,) = first_case(put(dumped.artifacts, tmp_path / "one/boats")).checks
    assert said(made) == ("rubric", {"claims": ["It is wet", "It is dry"]})
    dumped = FORMAT.dump(foreign(suite_file, *claims, check("rubric", identity="more", criteria="It is red")))
    assert len(dumped.losses) == 2
    texts = [one.options["criteria"] for one in first_case(put(dumped.artifacts, tmp_path / "two/boats")).checks]
    assert texts == [f"The output meets each of these criteria:\n- It is {one}" for one in ("wet", "dry")] + [
        "It is red"
    ]


def test_cases_of_others(suite_file: Path) -> None:
    """Parts of cases without a key are losses; a case that would assert nothing is left out."""
    kept = check("contains", keywords=["a"])
    full = foreign(
        suite_file,
        kept,
        name="n",
        weight=2,
        limits={"timeout_s": 5},
        cluster="x",
        network=True,
        skip="later",
        rule=VerdictRule(mode=VerdictMode.EACH),
        tags=("a:b", "c", "{}:"),
        setup_files=({"path": "a", "text": "b"},),
        files=({"path": "b", "text": "c", "executable": True},),
    )
    losses = [one.message for one in FORMAT.dump(full).losses]
    for word in (
        "second name",
        "weight",
        "limits",
        "cluster",
        "network",
        "skip",
        "rule",
        "'{}:'",
        "setup files",
        "exec",
    ):
        assert sum(word in one for one in losses) == 1, (word, losses)
    nothing = foreign(suite_file, check("exact", expected="a"))
    dumped = FORMAT.dump(nothing)
    assert yaml.safe_load(dict(dumped.artifacts)["eval.yaml"])["stimuli"] == []
    assert any("nothing of it can be checked" in one.message for one in dumped.losses)


def test_suites_of_others(suite_file: Path) -> None:
    """Arms, defaults and weights that a file has no key for are losses."""
    suite = foreign(suite_file, check("contains", keywords=["a"]))
    beside = suite.arms[0].skills[0].model_copy(update={"role": DISTRACTOR, "name": "ships"})
    arms = tuple(arm.model_copy(update={"skills": (*arm.skills, beside)}) for arm in suite.arms)
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=0.5)
    heavy = [check("contains", identity=f"k{number}", keywords=["a"], weight=number) for number in (1, 2)]
    case = first_case(suite).model_copy(update={"rule": rule, "checks": tuple(heavy)})
    defaults = suite.defaults.model_copy(update={"engine": "mock", "baseline": True, "limits": Limits(max_turns=3)})
    dumped = FORMAT.dump(suite.model_copy(update={"arms": arms, "cases": (case,), "defaults": defaults}))
    losses = [one.message for one in dumped.losses]
    for word in ("'ships'", "engine 'mock'", "--baseline", "limit of turns", "no limit of time", "weights of checks"):
        assert sum(word in one for one in losses) == 1, (word, losses)
    assert yaml.safe_load(dict(dumped.artifacts)["eval.yaml"])["scoring"] == {"threshold": 0.5}


def test_files_of_others_are_left(tmp_path: Path, suite_file: Path) -> None:
    """The name alone is not enough, and the content alone is not either."""
    flat = suite_file.parent.parent / "boats.eval.yaml"
    written(flat, graders=[{"type": "output-contains", "config": {"substring": "a"}}])
    check_format(Maker(FORMATS, MODULE), samples=[suite_file, flat], foreign=_foreign(tmp_path))


def _foreign(folder: Path) -> list[Path]:
    texts = [
        ("eval.yaml", "cases: [{name: a, prompt: b}]"),
        ("eval.yaml", "stimuli: [{name: a}]"),
        ("eval.yaml", "stimuli: {name: a, prompt: b}"),
        ("eval.yaml", "scenarios: [{name: a, prompt: b}]"),
        ("eval.yaml", "- stimuli: [{name: a, prompt: b}]"),
        ("other.yaml", "stimuli: [{name: a, prompt: b}]"),
        ("medieval.yaml", "stimuli: [{name: a, prompt: b}]"),
    ]
    paths = []
    for number, (name, text) in enumerate(texts):
        place = folder / f"other{number}" / name
        place.parent.mkdir()
        place.write_text(text)
        paths.append(place)
    return paths


@pytest.mark.parametrize(
    "name", ["eval.yaml", "eval.yml", "a.eval.yaml", "a.eval.yml", "a-eval.yaml", "a_eval.yml", "eval.vally.yaml"]
)
def test_names_of_files(suite_file: Path, name: str) -> None:
    """Each name that such a file may have is claimed, by its content."""
    file = suite_file.rename(suite_file.with_name(name))
    assert FORMAT.claim(file)
    assert loaded(file).id == "boats-eval"


def test_mutants(suite_file: Path) -> None:
    """Damaged files: no traceback; each is read, or refused with a place in a file."""
    check_mutants(load, suite_file, 150)
    settings = suite_file.parents[2] / ".vally.yaml"
    suite_file.write_text(EVAL.replace("tags: {area: paper}", "agent_environment: pier"))
    settings.write_text("paths: {skills: [boats]}\nenvironments:\n  pier:\n    files: [{src: shared, dest: x}]\n")
    assert len(first_case(loaded(suite_file)).files) == 4


@pytest.mark.slow
def test_end_to_end(program: Program, suite_file: Path) -> None:
    """An agent that plays a script is graded; a wrong answer fails, and a damaged file is refused with its place."""
    graders = [
        {"type": "output-matches", "config": {"pattern": "(?i)FLOATS"}},
        {"type": "run-command", "config": {"command": "cat sheet.txt", "stdout_contains": "a sheet"}},
        {"type": "file-not-contains", "config": {"path": "**/*.txt", "value": "wet"}},
    ]
    written(suite_file, graders=graders, environment={"files": [{"src": "fixtures", "dest": "."}]})
    script = program.work / "mock.yaml"
    arguments = ("eval", suite_file, "--engine", "mock", "--set", "engines.mock.script=mock.yaml")
    for text, code, passed in (("It floats.", 0, 1), ("It sank.", 1, 0)):
        script.write_text(json.dumps({"replies": [{"match": "Fold", "text": text, "turns": 2}]}))
        done = program(*arguments, "--store", "none", "--exit-on-fail")
        assert (done.code, f"{passed} of 1 passed" in done.stderr) == (code, True), done.stderr
    written(suite_file, graders=[{"type": "human"}])
    done = program("validate", suite_file)
    assert (done.code, "eval.yaml:6:" in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr


@pytest.mark.slow
def test_a_case_that_is_left_out_is_named(program: Program, suite_file: Path) -> None:
    """It is an error of the examination; a run counts it as skipped, and does not end well although all others pass."""
    fine = {
        "name": "fine",
        "prompt": "Fold it.",
        "graders": [{"type": "output-contains", "config": {"substring": "float"}}],
    }
    odd = [{"name": name, "prompt": "Sink it.", "graders": [{"type": "harbour-master"}]} for name in ("odd", "odder")]
    suite_file.write_text(yaml.safe_dump({"name": "boats-eval", "stimuli": [fine, *odd]}, sort_keys=False))
    done = program("validate", suite_file)
    assert "lint.repeated" not in done.stderr, done.stderr
    assert (done.code, "case 'odd' is left out" in done.stderr) == (2, True), done.stderr
    assert "some files or cases could not be read; the others are valid: 1 suite, 3 cases" in done.verdict
    (program.work / "mock.yaml").write_text(json.dumps({"replies": [{"match": "Fold", "text": "It floats."}]}))
    done = program("eval", suite_file, "--engine", "mock", "--set", "engines.mock.script=mock.yaml", "--json")
    assert (done.code, "case 'odd' is left out" in done.stderr) == (2, True), done.stderr
    assert "some files or cases could not be read; the others: 1 of 1 passed, 2 skipped" in done.verdict
    assert "suite.cannot-run" in [one["code"] for one in done.document["problems"]]


@pytest.mark.slow
def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)


def test_conversations(suite_file: Path, tmp_path: Path) -> None:
    """The turns are one session, a grader may be about one of them, and both are written again."""
    text = {"type": "output-contains", "config": {"substring": "a"}}
    graders = [{**text, "name": "first", "turn": 0}, {**text, "name": "second", "turn": 1}, {**text, "name": "all"}]
    suite = loaded(written(suite_file, turns=[{"prompt": "Fold."}, {"prompt": "Sink."}], prompt=None, graders=graders))
    case = first_case(suite)
    assert (case.prompt, case.turns) == ("Fold.", ("Sink.",))
    assert [(check.id, check.turn) for check in case.checks[:3]] == [("first", 0), ("second", 1), ("all", None)]
    again = first_case(rewritten(suite, tmp_path / "back/boats"))
    assert (again.prompt, again.turns) == (case.prompt, case.turns)
    assert [check.digest for check in again.checks] == [check.digest for check in case.checks]


def test_turns_that_are_texts(suite_file: Path) -> None:
    """A turn is a text as well as an object with a prompt, and is written as a text."""
    suite = loaded(written(suite_file, turns=["Fold.", {"prompt": "Sink."}], prompt=None, graders=[ANSWERS]))
    case = first_case(suite)
    assert (case.prompt, case.turns) == ("Fold.", ("Sink.",))
    (file,) = (content for path, content in FORMAT.dump(suite).artifacts if path == "eval.yaml")
    assert yaml.safe_load(file)["stimuli"][0]["turns"] == ["Fold.", "Sink."]
    (refusal,) = refusals(written(suite_file, turns=["Fold.", 2], prompt=None, graders=[ANSWERS]))
    assert "turns" in refusal


def test_stimuli_with_skills_of_their_own(tmp_path: Path) -> None:
    """Each set of skills is a suite, since an arm has the same for all cases of one."""
    file = laid(tmp_path / "harbour", {"ships/SKILL.md": SKILL.replace("boats", "ships")})
    both = ["../../boats", "../../ships"]
    sets = {"fold": ["../../boats"], "sink": both, "sail": ["../../boats"], "tow": ["../../ships"]}
    stimuli = [
        {"name": name, "prompt": name, "environment": {"skills": skills}, "graders": [ANSWERS]}
        for name, skills in sets.items()
    ]
    suites = load(written(file, more={"name": "harbour"}, **stimuli[0])).suites
    assert [suite.name for suite in suites] == ["harbour"]
    file.write_text(yaml.safe_dump({"name": "harbour", "stimuli": stimuli}))
    suites = load(file).suites
    assert [(suite.name, [case.id for case in suite.cases]) for suite in suites] == [
        ("harbour", ["fold", "sail"]),
        ("harbour-2", ["sink"]),
        ("harbour-3", ["tow"]),
    ]
    assert [[skill.name for skill in suite.arms[0].skills] for suite in suites] == [
        ["boats"],
        ["boats", "ships"],
        ["ships"],
    ]


def test_every_skill_stays_silent(tmp_path: Path) -> None:
    """A star among the skills that may not fire stands for each that is installed."""
    file = laid(tmp_path / "harbour", {"ships/SKILL.md": SKILL.replace("boats", "ships")})
    around = {"skills": ["../../boats", "../../ships"]}
    checks = checks_of(file, ANSWERS, environment=around, constraints={"reject_skills": ["*"]})
    assert [check.options["skill"] for check in checks if check.scorer == "trigger"] == ["boats", "ships"]
    assert not any(check.options["should_trigger"] for check in checks if check.scorer == "trigger")


def test_a_turn_that_there_is_not(suite_file: Path) -> None:
    """A grader of a turn beyond the last one is refused."""
    grader = {"type": "output-contains", "name": "g", "turn": 2, "config": {"substring": "a"}}
    with pytest.raises(SuiteError, match="there is no turn 2"):
        loaded(written(suite_file, turns=[{"prompt": "Fold."}, {"prompt": "Sink."}], prompt=None, graders=[grader]))


def test_limits_and_skills_of_a_turn(suite_file: Path, tmp_path: Path) -> None:
    """What one turn takes, and which skills fire in it, is asked of that turn, and written again."""
    graders = [
        {"type": "turn-count", "name": "g", "turn": 1, "config": {"max": 3}},
        {"type": "skill-invocation", "name": "s", "turn": 1, "config": {"required": ["boats"]}},
        {"type": "output-contains", "name": "o", "turn": 0, "config": {"substring": "a"}},
    ]
    turns = [{"prompt": "Fold."}, {"prompt": "Sink."}]
    suite = loaded(written(suite_file, turns=turns, prompt=None, graders=graders))
    checks = suite.cases[0].checks
    assert [(check.scorer, check.turn) for check in checks] == [("usage", 1), ("trigger", 1), ("contains", 0)]
    again = rewritten(suite, tmp_path / "back/boats")
    assert [check.digest for check in again.cases[0].checks] == [check.digest for check in checks]
