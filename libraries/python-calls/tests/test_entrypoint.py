"""What entrypoints mean, and what can be told of them without running anything."""

from __future__ import annotations

import ast
import keyword
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Target
from skillgauge_python_calls.adapter import PythonCalls
from skillgauge_python_calls.entrypoint import Entrypoint, EntrypointError, bound_names, read_entrypoint
from skillgauge_python_calls.settings import CallSettings

identifiers = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name) and not keyword.issoftkeyword(name)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pkg.mod:make", Entrypoint("make", module="pkg.mod")),
        (" mod : a.b ", Entrypoint("a.b", module="mod")),
        ("skill.py:run_it", Entrypoint("run_it", file="skill.py")),
        ("./sub/../sub/my-skill.py", Entrypoint("run", file="sub/my-skill.py")),
        ("skill.py", Entrypoint("run", file="skill.py")),
        ("größe.py:maß", Entrypoint("maß", file="größe.py")),
    ],
)
def test_what_entrypoints_mean(text: str, expected: Entrypoint) -> None:
    """A module or file and a name; a file alone means the default name."""
    assert read_entrypoint(text, "run") == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no object"),
        ("module", "names no object"),
        ("skill.py:", "names no object"),
        (":run", "neither"),
        ("http://127.0.0.1:9/x", "neither"),
        ("mod:run()", "neither"),
        ("a-b:run", "neither"),
        ("/elsewhere/skill.py:run", "leads out of the skill's folder"),
        ("../skill.py:run", "leads out of the skill's folder"),
        ("sub/../../skill.py", "leads out of the skill's folder"),
    ],
)
def test_what_is_no_entrypoint(text: str, words: str) -> None:
    """What cannot be meant is refused with what to write instead."""
    with pytest.raises(EntrypointError, match=words) as caught:
        read_entrypoint(text, "run")
    assert caught.value.hint


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text brings anything but an entrypoint or its refusal, and a file stays in the folder."""
    try:
        entrypoint = read_entrypoint(text, "run")
    except EntrypointError:
        return
    assert (entrypoint.module is None) != (entrypoint.file is None)
    assert ".." not in (entrypoint.file or "").split("/")


@given(
    identifiers,
    st.sampled_from(
        [
            "def {}(data): ...",
            "async def {}(data): ...",
            "class {}: ...",
            "{} = print",
            "{}: int = 1",
            "x, *{} = 1, 2",
            "import {}",
            "import {}.sub",
            "from . import {}",
            "from . import x as {}",
            "if True:\n    def {}(): ...",
            "try:\n    pass\nexcept Exception as {}:\n    pass",
            "for {} in (): pass",
            "with open('x') as {}: pass",
            "def f():\n    global {}\n    {} = 1",
            "print({} := 1)",
            "match 1:\n    case {}: pass",
            "match 1:\n    case [*{}]: pass",
            "match 1:\n    case {{1: _, **{}}}: pass",
            "from os import *",
            "exec('{} = 1')",
            "globals()['{}'] = 1",
            "def __getattr__(name): ...",
            "import sys\nsys.modules[__name__].{} = 1",
        ]
    ),
)
def test_whatever_binds_a_name_is_seen(name: str, code: str) -> None:
    """No module that binds a name is said not to."""
    names = bound_names(ast.parse(code.replace("{}", name).replace("{{", "{").replace("}}", "}")))
    assert names is None or name in names


def test_what_is_bound_inside_of_functions_does_not_count() -> None:
    """A local name, a method and an attribute are not names of the module."""
    code = "def f():\n    inner = 1\nclass C:\n    def method(self): ...\nf.attribute = 1\nprint(used)"
    assert bound_names(ast.parse(code)) == {"f", "C"}


@pytest.mark.parametrize(
    ("entrypoint", "words"),
    [
        ("absent.py", "there is no file 'absent.py'"),
        ("folder.py:run", "there is no file 'folder.py'"),
        ("python3 skill.py", "there is no file 'python3 skill.py'"),
        ("skill.py", "skill.py has no 'run'"),
        ("skill.py:anwser", "skill.py has no 'anwser' (did you mean answer?)"),
        ("skill:anwser", "skill.py has no 'anwser'"),
        ("package.part:other", "part.py has no 'other'"),
        ("package.absent:run", "package 'package' in the skill's folder has no module 'package.absent'"),
        ("no_such_module_anywhere:run", "module 'no_such_module_anywhere' is neither"),
        ("broken.py:run", "broken.py, line 2: "),
        ("nulls.py:run", "nulls.py"),
        ("deep.py:run", "deep.py"),
    ],
)
def test_an_object_that_is_not_there_is_known_before(
    folder: Path, adapter: PythonCalls[CallSettings], entrypoint: str, words: str
) -> None:
    """A missing file, module or name and unreadable code are problems of the target, with a next step."""
    (problem,) = adapter.check_target(Target(id="t", root=str(folder), entrypoint=entrypoint))
    assert problem.code == "adapter.entrypoint"
    assert f"skill 't': {words}" in problem.message
    assert problem.hint


@pytest.mark.parametrize(
    "entrypoint",
    [
        "skill.py:answer",
        "skill:answer.attribute",
        "package:run",
        "package.part:run",
        "plain.part:run",
        "compiled:run",
        "package.compiled:run",
        "json:dumps",
        "os.path:basename",
        "pytest:main",
    ],
)
def test_an_object_that_may_be_there_is_no_problem(
    folder: Path, adapter: PythonCalls[CallSettings], entrypoint: str
) -> None:
    """What is found, and what cannot be looked into, is left to the call; nothing of it is imported."""
    before = set(sys.modules)
    assert adapter.check_target(Target(id="t", root=str(folder), entrypoint=entrypoint)) == ()
    assert not {"skill", "package", "plain", "compiled"} & (set(sys.modules) - before)


def test_another_interpreter_may_have_more_and_read_more(folder: Path, adapter: PythonCalls[CallSettings]) -> None:
    """What only this interpreter says is no problem for another one, but a name is."""

    def messages(entrypoint: str) -> list[str]:
        config = {"python": "python3 -S"}
        target = Target.model_validate({"id": "t", "root": str(folder), "entrypoint": entrypoint, "config": config})
        return [problem.message for problem in adapter.check_target(target)]

    assert messages("no_such_module_anywhere:run") == []
    assert messages("broken.py:run") == []
    assert messages("skill.py:other") == ["skill 't': skill.py has no 'other'"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"pyton": "python3"}, "unknown key 'pyton' (did you mean python?)"),
        ({"command": "python3"}, "unknown key 'command'"),
        ({"python": 3}, "'python' must be text"),
        ({"python": ""}, "'python'"),
        ({"python": "  "}, "in 'python': it is empty"),
        ({"python": "'unclosed"}, "in 'python': No closing quotation"),
        ({"python": "no-such-program-anywhere -S"}, "in 'python': program 'no-such-program-anywhere' is not there"),
        ({"python": "./venv/bin/python"}, "in 'python': program './venv/bin/python' is not there"),
    ],
)
def test_settings_that_cannot_work_are_known_before(
    folder: Path, adapter: PythonCalls[CallSettings], config: dict[str, object], words: str
) -> None:
    """A misspelt key and an interpreter that is not there are problems; one of the entrypoint is told with them."""
    target = Target.model_validate({"id": "t", "root": str(folder), "entrypoint": "absent.py", "config": config})
    first, second = adapter.check_target(target)
    assert first.code == "adapter.config"
    assert f"skill 't': {words}" in first.message
    assert "absent.py" in second.message


def test_the_identity_covers_object_and_interpreter(folder: Path, adapter: PythonCalls[CallSettings]) -> None:
    """Another object or interpreter is another identity; what is installed there is not known."""

    def digest(**fields: object) -> str:
        target = Target.model_validate({"id": "t", "root": str(folder), "entrypoint": "skill.py:answer", **fields})
        identity = adapter.identity(target)
        assert not identity.complete
        return identity.digest

    assert len({digest(), digest(entrypoint="skill.py:other"), digest(config={"python": "python3 -S"})}) == 3
    assert digest() == digest(config={"timeoutMs": 5.0})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A skill's folder with good and bad modules; importing any of them would fail."""
    files = {
        "skill.py": "1 / 0\ndef answer(data): return '\\d'",
        "broken.py": "x = 1\ndef run(:",
        "deep.py": "(" * 5000 + ")" * 5000,
        "package/__init__.py": "1 / 0\nrun = 1",
        "package/part.py": "1 / 0\nrun = 1",
        "package/compiled.abi3.so": "",
        "plain/part.py": "1 / 0\nrun = 1",
        "compiled.so": "",
        "folder.py/x": "",
    }
    for name, code in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
    (tmp_path / "nulls.py").write_bytes(b"run = 1\0\n")
    return tmp_path
