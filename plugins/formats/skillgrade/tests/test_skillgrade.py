"""eval.yaml of skillgrade: read, refused by position, written, and told apart from others of that name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from skillgauge.api import Loaded, LoadRequest, Suite, SuiteError, VerdictMode, located_all
from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_mutants, check_plugin
from skillgauge_testkit.program import Program

MODULE = "skillgauge_format_skillgrade.plugin"
FORMAT = Maker(FORMATS, MODULE)()
SKILL = "---\nname: labels\ndescription: Prints labels of parcels. Use when a parcel needs a label.\n---\n\nPrint.\n"
EVAL = """version: "1"
defaults:
  agent: claude
  provider: docker
  trials: 3
  timeout: 120
  threshold: 0.75
  grader_model: judge-model
tasks:
  - name: print-label
    instruction: texts/print.md
    workspace:
      - src: fixtures/parcel.csv
        dest: in/parcel.csv
      - src: fixtures/run.sh
        dest: run.sh
        chmod: "+x"
      - fixtures/parcel.csv
    graders:
      - type: deterministic
        run: python3 graders/label.py
        weight: 0.7
      - type: llm_rubric
        rubric: The label names the street.
        model: other-model
        weight: 0.3
  - name: count
    instruction: |
      Count the parcels.
      Say how many.
    timeout: 30
    solution: solve.sh
    graders:
      - {type: deterministic, run: "echo 1"}
"""


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    """A skill with a suite and all that it names."""
    skill = tmp_path / "labels"
    for place, text in {
        "SKILL.md": SKILL,
        "eval.yaml": EVAL,
        "texts/print.md": "Print the label.\n",
        "fixtures/parcel.csv": "a,b\n",
        "fixtures/run.sh": "true\n",
        "graders/label.py": "print(1)\n",
    }.items():
        (skill / place).parent.mkdir(parents=True, exist_ok=True)
        (skill / place).write_text(text)
    return skill / "eval.yaml"


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
    return [f"{one.span.line}:{one.span.column} {one.message}" for one in found if one.span is not None]


def test_what_is_read(suite_file: Path) -> None:
    """Each key becomes what the documentation says; files are named by their content."""
    suite = loaded(suite_file)
    first, second = suite.cases
    assert (first.prompt, second.prompt) == ("Print the label.", "Count the parcels.\nSay how many.")
    assert [(one.path, one.executable) for one in first.files] == [
        ("in/parcel.csv", False),
        ("run.sh", True),
        ("parcel.csv", False),
    ]
    grader, rubric = first.checks
    assert (grader.scorer, grader.options["reads"], grader.weight) == ("command", "score", 0.7)
    assert rubric.options == {"criteria": "The label names the street.", "scale": "0-1", "model": "other-model"}
    assert [one.path for one in first.grader_files] == ["graders/label.py"]
    assert (first.rule.mode, first.rule.threshold) == (VerdictMode.MEAN, 0.5)
    defaults = suite.defaults
    assert (defaults.engine, defaults.runs, defaults.limits.timeout_s) == ("claude-code", 3, 120)
    assert (defaults.judge_model, second.limits.timeout_s, defaults.baseline) == ("judge-model", 30, False)
    told = [one.message for one in suite.warnings]
    for word in ("provider", "threshold", "solution"):
        assert sum(word in one for one in told) == 1, told


def test_there_and_back(suite_file: Path, tmp_path: Path) -> None:
    """What is written is read as the same, and nothing is said to be lost."""
    suite = loaded(suite_file)
    dumped = FORMAT.dump(suite)
    assert dumped.losses == ()
    for path, content in dumped.artifacts:
        place = tmp_path / "back/labels" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    back = loaded(tmp_path / "back/labels/eval.yaml")
    assert [(one.execution_digest, one.checks_digest) for one in back.cases] == [
        (one.execution_digest, one.checks_digest) for one in suite.cases
    ]
    assert back.defaults == suite.defaults


def test_trials_of_a_task(suite_file: Path) -> None:
    """They are the case's own where they differ from those of the file, and are written again."""
    text = EVAL.replace("    timeout: 30", "    trials: 9")
    suite_file.write_text(text.replace("    instruction: t", "    trials: 3\n    instruction: t"))
    suite = loaded(suite_file)
    assert (suite.defaults.runs, [one.runs for one in suite.cases]) == (3, [None, 9])
    written = yaml.safe_load(dict(FORMAT.dump(suite).artifacts)["eval.yaml"])
    assert [task.get("trials") for task in written["tasks"]] == [None, 9]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("  provider: docker", "  docker: {base: other}", "4:"),
        ("  provider: docker", "  acp: {command: x}", "4:"),
        ("  provider: docker", "  image: x", "4:"),
        ("    timeout: 30", "    agent: codex", "31:"),
        ("src: fixtures/run.sh", "src: ../run.sh", "15:"),
        ("src: fixtures/run.sh", "src: fixtures", "15:"),
        ("dest: run.sh", "dest: /run.sh", "15:"),
        ('chmod: "+x"', 'chmod: "u+s"', "17:"),
        ("type: llm_rubric", "type: human", "23:"),
        ("rubric: The label", "run: The label", "23:"),
        ("weight: 0.7", "weight: .nan", "22:"),
        ("weight: 0.7", "setup: pip install x", "22:"),
        ("name: count", "name: print-label", "27:"),
        ('version: "1"', 'version: "2"', "1:"),
        ("name: count", "name: 3", "27:"),
    ],
)
def test_what_does_not_map_is_refused(suite_file: Path, old: str, new: str, place: str) -> None:
    """Each thing that would be lost is an error at its line."""
    assert old in EVAL
    suite_file.write_text(EVAL.replace(old, new))
    found = refusals(suite_file)
    assert any(one.startswith(place) for one in found), found


SHARED = """    expected_output: A label.
    expectations: [It is a label.]
    assertions:
      - {type: contains, value: label}
    graders:"""


def test_keys_that_another_tool_shares(program: Program, suite_file: Path) -> None:
    """R3-W-13: keys of tasks that are none of skillgrade's are told once each, ignored, and written back."""
    suite_file.write_text(EVAL.replace("    graders:", SHARED))
    suite = loaded(suite_file)
    told = [f"{one.span.line} {one.message}" for one in located_all(suite.warnings) if one.span]
    for line, key in ((19, "expected_output"), (20, "expectations"), (21, "assertions")):
        assert [one for one in told if one.startswith(f"{line} {key!r} of 2 tasks is not used")], told
    assert [len(case.checks) for case in suite.cases] == [2, 1]
    assert program("validate", suite_file).code == 0
    (text,) = (content for name, content in FORMAT.dump(suite).artifacts if name == "eval.yaml")
    written = [task["assertions"] for task in yaml.safe_load(text)["tasks"]]
    assert written == [[{"type": "contains", "value": "label"}]] * 2
    suite_file.write_text(EVAL)
    digests = [(case.execution_digest, case.checks_digest) for case in loaded(suite_file).cases]
    assert [(case.execution_digest, case.checks_digest) for case in suite.cases] == digests


@pytest.mark.parametrize(
    ("key", "near"), [("instructions", "instruction"), ("grader", "graders"), ("time_out", "timeout")]
)
def test_a_key_that_is_nearly_one(suite_file: Path, key: str, near: str) -> None:
    """What was hardly meant for another tool is refused at its place."""
    suite_file.write_text(EVAL.replace("    timeout: 30", f"    {key}: x"))
    assert refusals(suite_file) == [f"31:5 unknown key {key!r} (did you mean {near}?)"]


def test_all_problems_at_once(suite_file: Path) -> None:
    """Two faults of different kinds are told together."""
    suite_file.write_text(EVAL.replace("dest: run.sh", "dest: /run.sh").replace("provider: docker", "acp: {a: b}"))
    assert len(refusals(suite_file)) == 2


def test_files_of_others_are_left(tmp_path: Path, suite_file: Path) -> None:
    """The name alone is not enough; only tasks with an instruction are."""
    check_format(Maker(FORMATS, MODULE), samples=[suite_file], foreign=_foreign(tmp_path))


def _foreign(folder: Path) -> list[Path]:
    texts = [
        "cases: [{name: a, prompt: b}]",
        "name: x\nskill: y\ntasks: ['tasks/*.yaml']",
        "tests: [{vars: {a: b}}]",
        "stimuli: [{prompt: a}]",
    ]
    found = []
    for number, text in enumerate(texts):
        place = folder / f"other{number}/eval.yaml"
        place.parent.mkdir()
        place.write_text(text)
        found.append(place)
    return found


def test_mutants(program: Program, suite_file: Path) -> None:
    """A hundred damaged files: no traceback; each is read, or refused with exit code 2 and a place in the file."""
    check_mutants(load, suite_file, 100)
    suite_file.write_text(EVAL.replace("tasks:", "tasks: [", 1))
    done = program("validate", suite_file, "--suite-format", "skillgrade")
    assert (done.code, "Traceback" in done.stderr) == (2, False)


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)
