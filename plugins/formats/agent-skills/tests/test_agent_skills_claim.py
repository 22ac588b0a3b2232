"""Which files and folders are recognised as what."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Loaded, Origin, SuiteError
from skillgauge.api.run import install_hint
from skillgauge_format_agent_skills.recognition.claiming import claim
from skillgauge_format_agent_skills.recognition.shapes import Foreign, Shape, shape_of
from skillgauge_format_agent_skills.recognition.unread import missing_plugin

from .conftest import Load, Write, told

SHAPES = Path(__file__).parent / "data/shapes"
EVAL = {"id": 1, "prompt": "p", "expected_output": "e"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["evals", "cases", "tasks", "tests", "prompt", "question", "should_trigger", "name", "id"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ({"evals": [EVAL]}, Shape.EVALS),
        ({"evals": []}, Shape.EVALS),
        ({"evals": ["a"]}, Shape.EVALS),
        ({"cases": [{"prompt": "p", "assertions": ["a"]}]}, Shape.CASES),
        ({"cases": ["x", {"input": "p", "rubric": ["a"]}]}, Shape.CASES),
        ({"test_cases": [{"prompt": "p", "success_criteria": ["a"]}]}, Shape.CASES),
        ({"id": "a", "question": "q", "expected_behavior": ["b"]}, Shape.ONE),
        (["x", EVAL], Shape.EVAL_LIST),
        ([{"prompt": "p", "expect": ["a"], "fail": ["b"]}], Shape.EVAL_LIST),
        ([EVAL], Shape.EVAL_LIST),
        ([{"query": "q", "should_trigger": True}], Shape.TRIGGERS),
        ({"should_trigger": ["q"], "should_not_trigger": []}, Shape.TRIGGERS),
        ({"skill": "s", "should_trigger_prompts": [{"prompt": "p"}]}, Shape.TRIGGERS),
        ({"cases": [{"question": "q"}]}, "cases.question"),
        ([{"id": "a", "question": "q", "should_trigger": True}], Shape.EVAL_LIST),
        ([{"question": "q", "expected_behavior": ["b"]}], Shape.EVAL_LIST),
        ({"version": "1", "tasks": [{"name": "a", "instruction": "i"}]}, "tasks.instruction"),
        ({"name": "n", "skill": "s", "config": {}, "tasks": ["*.yaml"]}, "tasks.config"),
        ({"stimuli": [{}]}, "stimuli"),
        ({"tests": [{"vars": {}, "assert": []}]}, "tests.assert"),
    ],
)
def test_shapes(value: Any, shape: object) -> None:
    """A document is known by what it holds; those of other tools by what a format announces that reads them."""
    found = shape_of(value)
    assert (found.mark if isinstance(found, Foreign) else found) == shape
    assert found is not None


NAMED = {"name": "a", "prompt": "p"}


@pytest.mark.parametrize(
    ("value", "yaml", "json_shape"),
    [
        ({"cases": [NAMED]}, "cases.name", None),
        ({"cases": [NAMED | {"should_trigger": True}]}, "cases.name", Shape.TRIGGERS),
        ({"cases": [NAMED | {"expectations": ["e"]}]}, "cases.name", Shape.CASES),
        ({"cases": [{"prompt": "p", "expectations": ["e"], "validators": []}]}, "cases.name", Shape.CASES),
        ({"cases": [{"prompt": "p", "should_trigger": True}]}, Shape.TRIGGERS, Shape.TRIGGERS),
        ({"cases": [NAMED | {"id": 1, "expectations": ["e"]}]}, Shape.CASES, Shape.CASES),
        ({"cases": [NAMED], "should_not_trigger": ["q"], "should_trigger": []}, Shape.TRIGGERS, Shape.TRIGGERS),
    ],
)
def test_named_cases_in_yaml(value: Any, yaml: object, json_shape: object) -> None:
    """Cases with names are skillevaluation's, which reads no JSON, even if they say only when a skill fires."""
    found = shape_of(value, is_yaml=True)
    assert (found.mark if isinstance(found, Foreign) else found) == yaml
    assert shape_of(value) == json_shape


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"evals": "none"},
        [1],
        [{"prompt": "p"}],
        {"cases": []},
        {"tasks": [{"id": 1, "inputData": {}}]},
        {"tests": ["a.py"]},
        {"cases": [{"id": 1}]},
        [{"id": 1, "question": "What?"}],
        {"evals": {"a": EVAL}},
        [[EVAL]],
    ],
)
def test_no_suite(value: Any) -> None:
    """What is no suite, or one of a tool that has a format of its own name, is left to others."""
    assert shape_of(value) is None


@given(JSON)
def test_any_document_has_at_most_one_shape(value: Any) -> None:
    """Looking never fails."""
    assert isinstance(shape_of(value), Shape | Foreign | None)


@pytest.mark.parametrize(
    ("path", "mark"),
    [
        ("choir-rota/evals/evals.json", "cases.question"),
        ("tide-tables/evals/evals.json", "cases.question"),
        ("parcel-labels/eval.yaml", "cases.name"),
        ("weather-page/eval.yaml", "tasks.instruction"),
    ],
)
def test_what_other_formats_read(
    path: str, mark: str, faults: Callable[..., list[tuple[str, int | None, str]]]
) -> None:
    """A suite of another tool is claimed only to say what to install, and no longer once it is."""
    file = SHAPES / path
    found = claim(file, lambda name: False)
    assert found is not None
    assert found.dialect == "foreign"
    ((code, line, message),) = faults(file)
    assert (code, isinstance(line, int)) == ("plugin.not-installed", True)
    assert "no installed format reads it" in message
    assert claim(file, lambda announced: announced == mark) is None


def test_how_to_get_the_format_of_another_tool(load: Load) -> None:
    """The line that installs it is given, and where nobody has published one, the line that begins one."""
    with pytest.raises(SuiteError) as raised:
        load(SHAPES / "parcel-labels/eval.yaml")
    (published,) = (one.hint for one in raised.value.problems)
    assert published == install_hint("formats", "skillevaluation")
    unpublished = missing_plugin(Foreign("an object with `laps`", "laps.time"), Origin("eval.yaml")).hint
    assert "skillgauge plugins new format NAME" in str(unpublished)


def test_case_folders_of_another_tool(write: Write) -> None:
    """A skill leaves them to their format; without it each is claimed to say what to install."""
    skill = write("fold/SKILL.md", "---\nname: fold\ndescription: Use when a boat is folded.\n---\nFold.\n").parent
    write("fold/evals/evals.json", {"evals": [{"id": 1, "prompt": "Fold.", "expectations": ["It folds."]}]})
    prompt = write("fold/evals/group/a/prompt.md", "Fold.\n")
    write("fold/evals/group/a/graders/g.md", "---\ntype: regex\n---\nfold\n")
    task = write("fold/evals/b/task.md", "Fold.\n")
    write("fold/evals/b/criteria.json", {"checklist": []})
    write("fold/evals/notes/prompt.md", "no case\n")
    whole = claim(skill, lambda mark: True)
    assert whole is not None
    assert {one.relative_to(skill).as_posix() for one in whole.leaves} == {"evals/group/a", "evals/b"}
    for file, mark in ((prompt, "case.graders"), (task, "scenario.criteria")):
        assert claim(file, lambda announced, mark=mark: announced == mark) is None
        foreign = claim(file, lambda mark: False)
        assert foreign is not None
        assert foreign.dialect == "foreign"
    assert claim(skill / "evals/notes/prompt.md", lambda mark: False) is None


@pytest.fixture
def package(write: Write) -> Path:
    """A package of UAAPS with every kind of case."""
    for path in PACKAGE_CASES:
        write(f"pack/{path}", "name: a\ninput: {command: 'true'}\n")
    return write("pack/package.agent.json", {"name": "pack", "version": "1.0.0"})


PACKAGE_CASES = ("evals/cases/a.yaml", "hooks/tests/cases/a.yml", "skills/one/tests/cases/a.yaml")


def test_packages_are_named_once(package: Path, load: Load) -> None:
    """Manifest and cases of a package of UAAPS are recognised, and one problem at the manifest tells of all of them."""
    files = [package, *(package.parent / path for path in PACKAGE_CASES)]
    for file in files:
        assert claim(file, lambda _: False) is not None
        assert claim(file, lambda mark: mark == "package.agent.json") is None
    assert claim(package.parent, lambda _: False) is None  # so that skills in it are found that have other suites
    found = load(searched=tuple(files)).problems
    assert [(one.code, one.hint) for one in found] == [("plugin.not-installed", "pip install skillgauge-format-uaaps")]
    assert told(found)[0][1] == 1


@pytest.mark.parametrize(
    ("manifest", "is_one"),
    [({"name": "a"}, False), ({"quality": {"tests": [{"name": "a", "command": "true"}]}}, True), ("{", False)],
)
def test_packages_without_cases(manifest: object, is_one: bool, write: Write) -> None:
    """A package counts only if it has something to run; what lies in `tests/cases` of no package is left to others."""
    path = write("pack/package.agent.json", manifest)
    assert (claim(path, lambda _: False) is not None) == is_one
    assert claim(write("other/tests/cases/a.yaml", "name: a"), lambda _: False) is None


@pytest.mark.parametrize(
    ("name", "queries", "warned", "input_files"),
    [
        ("invoice-totals", [8], [], 5),
        ("seed-catalogue", [5], ["suite.kept-key"], 0),
        ("ship-log", [], [], 7),
        ("ferry-desk", [], ["suite.skill-name"], 0),
    ],
)
def test_every_shape_of_this_format_loads(
    name: str, queries: list[int], warned: list[str], input_files: int, load: Load
) -> None:
    """Suites in the shapes that people publish, of all dialects, load from their folder and from their file."""
    root = SHAPES / name
    assert claim(root, lambda _: False) is not None
    loaded: Loaded = load(root)
    assert not loaded.problems
    evals, *others = loaded.suites
    assert [len(list(one.cases)) for one in others] == queries
    assert [one.code for one in evals.warnings] == warned
    written = json.loads((root / "evals/evals.json").read_text())
    items = written if isinstance(written, list) else written["evals"]
    cases = list(evals.cases)
    assert [case.prompt for case in cases] == [item["prompt"] for item in items]
    assert [case.id for case in cases] == [str(item["id"]) for item in items]
    assert [len(case.checks) for case in cases] == [
        len(item.get("assertions", item.get("expectations"))) for item in items
    ]
    assert [[file.path for file in case.files] for case in cases] == [item.get("files", []) for item in items]
    assert sum(len(case.files) for case in cases) == input_files
    assert len(load(root / "evals/evals.json").suites) == 1


def test_a_folder_with_the_suite_of_another_tool(skill: Callable[..., Path], write: Write) -> None:
    """Such a folder is nobody's as a whole, so that each of its files finds its own format."""
    root = skill()
    assert claim(root, lambda _: False) is None
    write("tables/evals/trigger.json", [{"query": "q", "should_trigger": True}])
    assert claim(root, lambda _: False) is not None
    other = write("tables/evals/evals.json", {"cases": [{"question": "q"}]})
    assert claim(root, lambda _: True) is None
    assert claim(other, lambda _: True) is None
    assert claim(root / "evals/trigger.json", lambda _: True) is not None


def test_broken_files_are_claimed_by_their_name(skill: Callable[..., Path], write: Write) -> None:
    """A file called evals.json in a skill is this format's even if it cannot be read: nobody else would tell why."""
    root = skill()
    broken = write("tables/evals/evals.json", '{"evals": [')
    assert claim(broken, lambda _: True) is not None
    assert claim(root, lambda _: True) is not None
    broken.write_text("")
    assert claim(broken, lambda _: True) is not None
    assert claim(write("evals/evals.json", "nonsense"), lambda _: True) is None
