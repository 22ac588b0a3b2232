"""From skill.json to a target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Loaded, Problem, Severity, Target

Skill = Callable[..., Path]
Write = Callable[[str, object], Path]
Refused = Callable[..., list[Problem]]
Told = Callable[[list[Problem]], list[tuple[str, str]]]
Load = Callable[..., Loaded]


def target(loaded: Loaded) -> Target:
    """The one target of the one suite."""
    (suite,) = loaded.suites
    (only,) = suite.targets
    return only


def test_every_field_arrives(skill: Skill, load: Load) -> None:
    """A target has all that the file says, with the folder as its root."""
    path = skill(
        tags=["a", "b"],
        metadata={"author": "me", "toolName": "t"},
        inputSchema={"type": "object"},
        outputSchema={"type": ["string", "null"]},
    )
    one = target(load(path))
    assert (one.id, one.name, one.version, one.adapter, one.entrypoint) == (
        "echo",
        "Echo",
        "1.0.0",
        "subprocess",
        "python3 skill.py",
    )
    assert (one.root, one.tags) == (str(path.parent), ("a", "b"))
    assert one.description == ""
    assert one.metadata["author"] == "me"
    assert one.metadata["skill.json"] == {
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": ("string", "null")},
    }


@pytest.mark.parametrize("name", ["http", "subprocess", "mcp", "langchain", "custom", "acme-grpc"])
def test_any_adapter_may_be_named(skill: Skill, load: Load, name: str) -> None:
    """The kernel decides whether an adapter is installed, not the format."""
    assert target(load(skill(adapterType=name))).adapter == name


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"id": "Upper"}, [("value", "id")]),
        ({"id": ""}, [("value", "id")]),
        ({"name": ""}, [("value", "name")]),
        ({"version": "1.0.0-beta"}, [("value", "version")]),
        ({"version": "1.0"}, [("value", "version")]),
        ({"description": None}, [("missing-key", "description")]),
        ({"entrypoint": ""}, [("value", "entrypoint")]),
        ({"entrypoint": None, "adapterType": "http"}, [("missing-key", "entrypoint")]),
        ({"tags": "a"}, [("wrong-type", "tags")]),
        ({"tags": ["a", 1]}, [("wrong-type", "tags.1")]),
        ({"metadata": []}, [("wrong-type", "metadata")]),
        ({"inputSchema": True}, [("wrong-type", "inputSchema")]),
        ({"inputSchema": {"type": 5}}, [("json-schema", "inputSchema.type")]),
        (
            {"id": "X", "version": 1, "tags": [2]},
            [("value", "id"), ("wrong-type", "version"), ("wrong-type", "tags.0")],
        ),
        ({"entrypoint": "python3 absent.py"}, [("missing-entrypoint", "entrypoint")]),
        ({"entrypoint": "node dist/index.js skill.py"}, [("missing-entrypoint", "entrypoint")]),
        ({"entrypoint": "python3 ../echo/skill.py"}, [("escaping-path", "entrypoint")]),
        ({"entrypoint": "python3 skill.py --data=/etc/passwd"}, [("escaping-path", "entrypoint")]),
        ({"entrypoint": "../bin/run"}, [("escaping-path", "entrypoint")]),
        ({"entrypoint": "python3 'C:\\\\x\\\\skill.py'"}, [("escaping-path", "entrypoint")]),
    ],
)
def test_rules_are_checked(
    skill: Skill, refused: Refused, told: Told, changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every broken rule is a problem at its place, all of a file at once."""
    assert told(refused(skill(**changes))) == expected


@pytest.mark.parametrize(
    "entrypoint",
    [
        "/usr/bin/python3 skill.py",
        "python3 -m skill",
        "python3 skill.py --url=https://example.org/../x -v",
        "python3 ./skill.py https://example.org",
        "python3 ./lib/../skill.py",
        "python3 'unclosed",
    ],
)
def test_commands_that_are_fine(skill: Skill, load: Load, entrypoint: str) -> None:
    """Programs elsewhere, modules and addresses are no paths of the skill; quoting is the adapter's question."""
    path = skill(entrypoint=entrypoint)
    (path.parent / "lib").mkdir()
    assert target(load(path)).entrypoint == entrypoint


def test_misspelt_key_is_pointed_out(skill: Skill, refused: Refused) -> None:
    """A missing key names the near one that is there."""
    (problem,) = refused(skill(entrypoint=None, entryPoint="python3 skill.py"))
    assert problem.message == "'entrypoint' is missing (misspelt as entryPoint?)"


def test_unknown_keys_are_kept_with_a_warning(skill: Skill, load: Load) -> None:
    """A foreign key does no harm, is kept, and is told once."""
    loaded = load(skill(category="x", desc="y"), benchmark="coding-easy")
    assert target(loaded).metadata["skill.json"] == {"category": "x", "desc": "y"}
    (warning,) = loaded.suites[0].warnings
    assert warning.severity is Severity.WARNING
    assert "'category', 'desc'" in warning.message


def test_broken_json_is_reported_with_its_line(write: Write, refused: Refused) -> None:
    """A skill file that is no JSON names line and column."""
    (problem,) = refused(write("echo/skill.json", '{"id": "x",\n]'))
    assert str(problem.span).endswith("skill.json:2:1")


def test_adapter_configuration_is_read(skill: Skill, write: Write, load: Load) -> None:
    """The settings beside the skill reach the target under their own keys, and so do names of variables."""
    path = skill()
    settings = {
        "type": "subprocess",
        "command": "python3 -u",
        "args": ["skill.py"],
        "timeoutMs": 500,
        "pass_env": ["K"],
        "worker": True,
    }
    write("echo/adapter.config.json", settings)
    one = target(load(path))
    assert one.config == {**settings, "args": ("skill.py",), "pass_env": ("K",)}
    assert one.pass_env == ("K",)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('{"type": }', ("document.syntax", "")),
        ({"comand": "x"}, ("unknown-key", "comand")),
        ({"timeoutMs": 0}, ("value", "timeoutMs")),
        ({"authType": "basic"}, ("value", "authType")),
        ({"worker": "yes"}, ("wrong-type", "worker")),
        ({"args": ["skill.py"]}, ("missing-key", "args")),
        ({"type": "http"}, ("value", "type")),
        ({"command": "python3", "args": ["-v", "gone.py"]}, ("missing-entrypoint", "args.1")),
        ({"command": "python3 ../x.py"}, ("escaping-path", "command")),
    ],
)
def test_bad_adapter_configuration(
    skill: Skill, write: Write, refused: Refused, told: Told, settings: object, expected: tuple[str, str]
) -> None:
    """A setting that would have no effect, or a command that cannot work, is an error in that file."""
    path = skill()
    write("echo/adapter.config.json", settings)
    (problem,) = refused(path)
    assert told([problem]) == [expected]
    assert str(problem.origin.file if problem.origin else problem.span).split(":")[0].endswith("adapter.config.json")


def test_private_adapter_may_have_settings_of_its_own(skill: Skill, write: Write, load: Load) -> None:
    """What only a private adapter knows is passed on to it."""
    path = skill(adapterType="acme-grpc")
    write("echo/adapter.config.json", {"channels": 4})
    assert target(load(path)).config == {"channels": 4}


def test_bad_skill_and_bad_settings_are_told_together(skill: Skill, write: Write, refused: Refused, told: Told) -> None:
    """One look is enough to see all that is wrong with a skill."""
    path = skill(id="X")
    write("echo/adapter.config.json", {"retries": -1})
    assert told(refused(path)) == [("value", "id"), ("value", "retries")]


def digest_of(load: Load, path: Path) -> str:
    """The target's digest."""
    return target(load(path)).digest


def test_digest_changes_with_code_and_definition(skill: Skill, write: Write, load: Load) -> None:
    """Skill file, settings, program, other programs and files named in the command are all part of the digest."""
    path = skill(entrypoint="python3 skill.py model.bin")
    write("echo/model.bin", "1")
    seen = {digest_of(load, path)}
    changes: list[tuple[str, object]] = [
        ("echo/skill.py", "print(1)"),
        ("echo/lib/extra.mjs", ""),
        ("echo/model.bin", "2"),
        ("echo/adapter.config.json", {"retries": 1}),
    ]
    for name, content in changes:
        write(name, content)
        seen.add(digest_of(load, path))
    skill(entrypoint="python3 skill.py model.bin", description="changed")
    seen.add(digest_of(load, path))
    assert len(seen) == 6


def test_digest_ignores_what_running_leaves_behind(skill: Skill, write: Write, load: Load) -> None:
    """Data, caches, reports, tests, hidden and installed files do not make it another skill."""
    path = skill()
    before = digest_of(load, path)
    for name in ("cache.db", ".venv/x.py", "__pycache__/a.py", "node_modules/m/i.js", "tests/t.py", "reports/r.py"):
        write(f"echo/{name}", "x")
    write("echo/env/pyvenv.cfg", "")
    write("echo/env/lib/x.py", "")
    assert digest_of(load, path) == before


def test_digest_survives_a_dangling_link(skill: Skill, load: Load) -> None:
    """A program that cannot be read counts as such."""
    path = skill()
    before = digest_of(load, path)
    (path.parent / "gone.py").symlink_to("nowhere.py")
    assert digest_of(load, path) != before
