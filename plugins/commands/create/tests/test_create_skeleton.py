"""What is put into a new skill, without making any."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_command_create.skeleton import Template, name_problem, skeleton, skill_id, template_problem

ID = re.compile(r"[a-z0-9_-]+")
NAMES = st.builds(
    str.__add__,
    st.sampled_from("aZ0_é日"),
    st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" ", exclude_characters="/\\:")),
).filter(lambda name: name[-1] not in " ." and len(name.encode()) < 256)
TEXTS = st.text(st.characters(codec="utf-8"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("my_calc", "my_calc"), ("My Calc", "my_calc"), ("PDF-to.Text 2", "pdf-to_text_2"), ("Übung", "_bung")],
)
def test_id(name: str, expected: str) -> None:
    """The id is the name in lower case, with `_` for what an id cannot hold."""
    assert skill_id(name) == expected


@given(st.text(min_size=1))
def test_id_is_always_valid(name: str) -> None:
    """Whatever the name, its id follows the format's rule, and an id is its own id."""
    assert ID.fullmatch(skill_id(name))
    assert skill_id(skill_id(name)) == skill_id(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        ".",
        "..",
        "../up",
        "a/b",
        "/etc",
        "a\\b",
        "c:",
        ".hidden",
        "-x",
        "two\nlines",
        "nul\0",
        "end ",
        "end.",
        "\udcff",
        "é" * 128,
    ],
)
def test_names_that_are_refused(name: str) -> None:
    """A name is that of one visible folder, so that it can neither lead elsewhere nor be taken for an option."""
    problem = name_problem(name)
    assert problem is not None
    assert problem.code == "create.name"
    assert repr(name) in problem.message


@given(NAMES)
def test_accepted_names_are_one_folder(name: str) -> None:
    """Names in every script are accepted, and none leads anywhere but into the output folder, on whatever system."""
    assert name_problem(name) is None
    assert PurePosixPath("out", name).parts == ("out", name)
    assert PureWindowsPath("out", name).parts == ("out", name)


@pytest.mark.parametrize(
    ("typed", "near"), [("python-script", "python_script"), ("mcp", ""), ("http_reqest", "http_request")]
)
def test_unknown_template(typed: str, near: str) -> None:
    """A template that is not there is refused with the near match, if any, and the list."""
    problem = template_problem(typed)
    assert problem is not None
    assert (f"did you mean {near}" in problem.message) is bool(near)
    assert problem.hint == "Use one of http_request, python_script, mcp_tool, agent_skill, uaaps_package."


@pytest.mark.parametrize("template", Template)
@given(name=NAMES, description=TEXTS)
def test_texts_arrive_as_they_were_given(template: Template, name: str, description: str) -> None:
    """Name and description cannot change anything in the files but the values that they are."""
    plain = skeleton(template, name="plain", description="Plain.", port=3000)
    files = skeleton(template, name=name, description=description, port=3000)
    assert files.keys() == plain.keys()
    skill, expected = json.loads(files["skill.json"]), json.loads(plain["skill.json"])
    assert skill == expected | {"id": skill_id(name), "name": name, "description": description}
    benchmark = json.loads(files["tests/basic.eval.json"])
    assert benchmark["id"] == f"{skill_id(name)}-basic"
    assert benchmark["name"].startswith(name)
    assert len(benchmark["tasks"]) == 1
    assert benchmark["tasks"][0]["id"] == f"{skill_id(name)}_test_001"
    for path in (template.program, "adapter.config.json"):
        assert files[path] == plain[path]


@pytest.mark.parametrize("template", Template)
def test_what_is_not_told_is_made_up_sensibly(template: Template) -> None:
    """Without a description there is one that says where the skill comes from; an empty one stays empty."""
    made = json.loads(skeleton(template, name="My Calc", description=None, port=1)["skill.json"])
    assert "My Calc" in made["description"]
    assert template in made["description"]
    made = json.loads(skeleton(template, name="My Calc", description="", port=1)["skill.json"])
    assert made["description"] == ""
