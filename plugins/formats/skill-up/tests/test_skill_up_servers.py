"""MCP servers of skill-up, and turns that are known only when the agent has answered: read, refused and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge.api import Case, LoadRequest, Suite, SuiteError, located_all, thaw
from skillgauge_testkit import FORMATS, Maker
from skillgauge_testkit.program import Program

FORMAT = Maker(FORMATS, "skillgauge_format_skill_up.plugin")()
SKILL = "---\nname: pilot\ndescription: Use when a ship is piloted.\n---\nMeasure.\n"
HEAD: dict[str, Any] = {"schema_version": "v1alpha1", "skills": [{"path": "."}], "engine": {"name": "codex"}}
CASE: dict[str, Any] = {"input": {"prompt": "How deep?"}, "expect": {"must_contain": ["3 m"]}}
DEPTH = {"tool_responses": {"measure": {"default": "Depth at {{ params.place }}: 3 m"}}}
MOCK = {"name": "depth", "mode": "mocked", "config_ref": "evals/mcp/depth.yaml"}


def laid(folder: Path, *cases: dict[str, Any], files: dict[str, Any] | None = None, **head: Any) -> Path:
    """A suite with these cases, and files beside it."""
    named = {f"evals/cases/{number}.yaml": {"id": f"c{number}"} | case for number, case in enumerate(cases)}
    more = {"evals/mcp/depth.yaml": DEPTH, **named, **(files or {})}
    document = HEAD | {"cases": {"files": list(named)}} | head
    for path, value in {"SKILL.md": SKILL, "evals/eval.yaml": document, **more}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(value if isinstance(value, str) else yaml.safe_dump(value, sort_keys=False))
    return folder / "evals/eval.yaml"


def loaded(file: Path) -> Suite:
    """The suite of a file."""
    return FORMAT.load(LoadRequest(paths=(str(file),), cwd=str(file.parent))).suites[0]


def refusals(file: Path) -> list[str]:
    """Name of the file and message of everything that is wrong, each of which has a line and a hint."""
    with pytest.raises(SuiteError) as caught:
        loaded(file)
    problems = located_all(caught.value.problems)
    assert all(one.span is not None and one.span.line is not None for one in problems), problems
    return [f"{Path(one.span.file).name}: {one.message}" for one in problems if one.span is not None]


def notices(suite: Suite) -> str:
    """The messages of all warnings."""
    return "\n".join(one.message for one in suite.warnings)


def native(case: Case, name: str = "depth") -> dict[str, Any]:
    """A server of a case, as engines get it."""
    (install,) = (one for one in case.installs if one.name == name)
    assert install.content["allowed"] is True
    servers: dict[str, Any] = thaw(install.content["servers"])
    return servers[name]


def again(suite: Suite, folder: Path) -> tuple[Suite, list[str]]:
    """The suite after writing and reading it, and what was lost."""
    dumped = FORMAT.dump(suite)
    for path, data in dumped.artifacts:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return loaded(folder / "evals/eval.yaml"), [one.message for one in dumped.losses]


@pytest.mark.parametrize(
    ("server", "config", "expected"),
    [
        ({"command": "node", "args": ["-e", "1"]}, None, {"command": "node", "args": ["-e", "1"]}),
        ({}, {"command": "node", "args": ["a"]}, {"command": "node", "args": ["a"]}),
        ({"args": ["b"]}, {"command": "node", "args": ["a"]}, {"command": "node", "args": ["b"]}),
        ({"endpoint": "http://127.0.0.1:9/mcp"}, None, {"type": "http", "url": "http://127.0.0.1:9/mcp"}),
        (
            {"transport": "streamable-http"},
            {"endpoint": "http://127.0.0.1:9/mcp", "headers": {"X-Unit": "m", "X-Token": "$TOKEN"}},
            {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"X-Unit": "m", "X-Token": "${TOKEN}"}},
        ),
        (
            {"command": "node"},
            {"env": {"UNIT": "m"}, "required_env": ["TOKEN"]},
            {"command": "node", "env": {"UNIT": "m", "TOKEN": "${TOKEN}"}},
        ),
    ],
)
def test_real_servers(
    tmp_path: Path, server: dict[str, Any], config: dict[str, Any] | None, expected: dict[str, Any]
) -> None:
    """Every case of both arms gets them; what the entry says goes before its file; they are written again."""
    entry = {"name": "depth", "mode": "real", **server} | ({"config_ref": "evals/mcp/own.yaml"} if config else {})
    files = {"evals/mcp/own.yaml": config} if config else {}
    suite = loaded(laid(tmp_path / "pilot", CASE, CASE, files=files, mcp={"servers": [entry]}))
    assert [native(case) for case in suite.cases] == [expected] * 2
    assert ("passed on by you" in notices(suite)) is ("TOKEN" in json.dumps(expected))
    back, losses = again(suite, tmp_path / "back/pilot")
    assert losses == []
    assert [case.execution_digest for case in back.cases] == [case.execution_digest for case in suite.cases]


def test_files_that_arguments_name(tmp_path: Path) -> None:
    """They lie beside the server, since no workspace has the suite's files; they are lost in writing."""
    entry = {"name": "depth", "mode": "real", "command": "python3", "args": ["evals/mcp/server.py", "--deep"]}
    suite = loaded(laid(tmp_path / "pilot", CASE, files={"evals/mcp/server.py": "1"}, mcp={"servers": [entry]}))
    (install,) = suite.cases[0].installs
    assert [file.path for file in install.files] == ["mcp/evals/mcp/server.py"]
    assert native(suite.cases[0])["args"] == ["${INSTALLED_FILES}/mcp/evals/mcp/server.py", "--deep"]
    assert "lie beside it" in notices(suite)
    assert again(suite, tmp_path / "back/pilot")[1] == ["case 'c0': servers 'depth' cannot be written"]


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("calm", {"text": "calm"}),
        ({"default": "calm"}, {"text": "calm"}),
        ({"default": {"id": 9, "ok": True}}, {"text": '{"id":9,"ok":true}'}),
        (["a", 1], {"text": '["a",1]'}),
        ({"default": "at {{params.place}} {{ params.a.b }}"}, {"text": "at {{input.place}} {{input.a.b}}"}),
        ({"default": {"name": "{{params.name}}"}}, {"text": '{"name":"{{input.name}}"}'}),
        ({"default": "{{other}}"}, {"text": "{{other}}"}),
    ],
)
def test_answers_of_mocked_servers(tmp_path: Path, response: Any, answer: dict[str, Any]) -> None:
    """A stand-in gives the text that skill-up's own gives, with the values of the call."""
    files = {"evals/mcp/depth.yaml": {"tool_responses": {"measure": response}}}
    suite = loaded(laid(tmp_path / "pilot", CASE, files=files, mcp={"servers": [MOCK]}))
    mock = native(suite.cases[0])["mock"]
    assert [tool["name"] for tool in mock["tools"]] == ["measure"]
    template = {"is_template": True} if "{{input" in answer["text"] else {}
    assert mock["answers"] == {"measure": [answer | template]}
    back, losses = again(suite, tmp_path / "back/pilot")
    if answer["text"] == "{{other}}":  # nothing would be put in there, and that cannot be said
        assert losses == ["case 'c0': servers 'depth' cannot be written"]
    else:
        assert losses == []
        assert back.cases[0].execution_digest == suite.cases[0].execution_digest


def test_servers_of_a_case(tmp_path: Path) -> None:
    """A mocked server takes the place of that of the suite with its name, or comes after those; no other has it."""
    other = {"name": "tide", "mode": "mocked", "config_ref": "evals/mcp/tide.yaml"}
    near = MOCK | {"config_ref": "evals/mcp/near.yaml"}
    files = {f"evals/mcp/{name}.yaml": {"tool_responses": {"measure": name}} for name in ("tide", "near")}
    cases = (CASE, CASE | {"mcp": {"servers": [near, other]}})
    suite = loaded(laid(tmp_path / "pilot", *cases, files=files, mcp={"servers": [MOCK]}))
    assert [[install.name for install in case.installs] for case in suite.cases] == [["depth"], ["depth", "tide"]]
    assert native(suite.cases[1])["mock"]["answers"]["measure"] == [{"text": "near"}]
    back, losses = again(suite, tmp_path / "back/pilot")
    assert losses == []
    assert [case.execution_digest for case in back.cases] == [case.execution_digest for case in suite.cases]


@pytest.mark.parametrize(
    ("entry", "config", "problem"),
    [
        ({"mode": "real"}, {}, "eval.yaml: server 'depth' has no endpoint"),
        ({"mode": "real", "endpoint": "https://a/?t=${T}"}, {}, "eval.yaml: an endpoint with a variable in it"),
        ({"mode": "real", "endpoint": "a"}, {}, "eval.yaml: 'url'"),
        ({"mode": "mocked", "endpoint": "https://a"}, DEPTH, "eval.yaml: a mocked server has no endpoint"),
        ({"mode": "mocked", "command": "a"}, DEPTH, "eval.yaml: a mocked server has no command"),
        ({"mode": "mocked", "transport": "http"}, DEPTH, "eval.yaml: a mocked server has no transport"),
        ({"mode": "mocked"}, {}, "eval.yaml: nothing is answered: server 'depth'"),
        ({"mode": "mocked", "name": "filesystem"}, {}, "eval.yaml: the mocked 'filesystem' of skill-up is not here"),
        ({"mode": "mocked"}, {"tool_responses": {"a": "{{params.b | default: 'c'}}"}}, "has a default for a parameter"),
        ({"mode": "mocked"}, {"answers": {}}, "own.yaml: unknown key 'answers'"),
        ({"mode": "other"}, {}, "eval.yaml: 'mode'"),
        ({"mode": "mocked", "config_ref": "none.yaml"}, {}, "eval.yaml: there is no file 'none.yaml'"),
    ],
)
def test_servers_that_are_refused(tmp_path: Path, entry: dict[str, Any], config: dict[str, Any], problem: str) -> None:
    """Each with its place, in the file that it stands in."""
    server = {"name": "depth", "config_ref": "evals/mcp/own.yaml"} | entry
    file = laid(tmp_path / "pilot", CASE, files={"evals/mcp/own.yaml": config}, mcp={"servers": [server]})
    assert any(problem in one for one in refusals(file)), refusals(file)


def test_two_servers_of_one_name(tmp_path: Path) -> None:
    """They are refused; so is a real one of a single case."""
    file = laid(tmp_path / "pilot", CASE, mcp={"servers": [MOCK, MOCK]})
    assert refusals(file) == ["eval.yaml: two servers are called 'depth'"]
    real = {"servers": [{"name": "depth", "mode": "real", "command": "node"}]}
    file = laid(tmp_path / "pilot", CASE | {"mcp": real})
    assert refusals(file) == ["0.yaml: a server of a single case is a mocked one"]


def turns(*texts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A case with these turns."""
    listed = [{"role": "user", **text} for text in texts]
    return {"input": {"turns": listed}, "expect": {"must_contain": ["done"]}, **more}


SCENARIO = {"user_simulator": {"scenario": "You are Ann.", "model": {"name": "m"}}}
ROOM = {"content": "A room?", "capture": [{"variable": "room", "pattern": r"room (?P<value>\d+)"}]}
SAID = {"messages": [{"respond": "Name the bay."}, {"says": "Go on."}], "instructions": "You are Ann.", "model": "m"}
PATTERN = r"room (?P<value>(?a:\d)+)"
KEPT = {
    "messages": [{"says": "Is {{room}} free?"}, {"says": "Take it."}],
    "captures": [{"turn": 0, "variable": "room", "pattern": PATTERN}],
}


@pytest.mark.parametrize(
    ("case", "written", "scorer", "options"),
    [
        (
            turns({"content": "Hi."}, {"respond": "Name the bay."}, {"content": "Go on."}, **SCENARIO),
            ("Hi.",),
            "simulated-user",
            SAID,
        ),
        (
            turns({"content": "Hi."}, ROOM, {"content": "Is {{room}} free?"}, {"content": "Take it."}),
            ("Hi.", "A room?"),
            "scripted-user",
            KEPT | {"captures": [KEPT["captures"][0] | {"turn": 1}]},  # type: ignore[index, operator]
        ),
    ],
)
def test_turns_that_are_not_known_before(
    tmp_path: Path, case: dict[str, Any], written: tuple[str, ...], scorer: str, options: dict[str, Any]
) -> None:
    """From the first one on a user says them, in their order, and they are written again."""
    suite = loaded(laid(tmp_path / "pilot", case))
    (read,) = suite.cases
    assert (read.prompt, *read.turns) == written
    assert read.user is not None
    assert (read.user.check.scorer, thaw(read.user.check.options), read.user.turns) == (scorer, options, 2)
    back, losses = again(suite, tmp_path / "back/pilot")
    assert losses == []
    assert back.cases[0].execution_digest == read.execution_digest


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        (turns({"respond": "Begin."}, {"content": "b"}, **SCENARIO), "nothing comes before the first message"),
        (turns({"content": "a"}, {"respond": "b"}), "no user_simulator says who answers"),
        (turns({"content": "a"}, {"content": "b", "respond": "c"}, **SCENARIO), "content or respond, and not both"),
        (turns({"content": "a"}, {"content": "{{x}}"}), "gives a value for 'x'"),
        (turns({"content": "{{room}}"}, ROOM, {"content": "{{room}}"}), "gives a value for 'room'"),
        (turns(ROOM, ROOM, {"content": "{{room}}"}), "two answers give a value for 'room'"),
        (
            turns({"content": "a", "capture": [{"variable": "x", "jsonpath": "$.x"}]}, {"content": "b"}),
            "by its pattern",
        ),
        (turns({"content": "a", "capture": [{"variable": "x", "pattern": "(a)(b)"}]}, {"content": "b"}), "which group"),
        (turns({"content": "a", "capture": [{"variable": "x", "pattern": "(a"}]}, {"content": "b"}), "(a"),
    ],
)
def test_turns_that_are_refused(tmp_path: Path, case: dict[str, Any], problem: str) -> None:
    """Turns that would end in an error there, or have no meaning here, each at its place."""
    messages = refusals(laid(tmp_path / "pilot", case))
    assert any(problem in one for one in messages), messages


def test_values_that_nothing_needs(tmp_path: Path) -> None:
    """They are told, and the conversation stays as it is written; so are those of the only turn."""
    suite = loaded(laid(tmp_path / "pilot", turns(ROOM, {"content": "Go on."}), turns(ROOM)))
    assert [(case.turns, case.user) for case in suite.cases] == [(("Go on.",), None), ((), None)]
    assert "no later turn needs the value of 'room'" in notices(suite)
    assert "capture of the only turn has no effect" in notices(suite)


@pytest.mark.slow
def test_a_conversation_with_a_value(program: Program, tmp_path: Path) -> None:
    """The value of the first answer stands in the next message; a condition about it ends the conversation."""
    checked = {"content": "Is {{room}} free?", "post_condition": {"must_contain_any": ["done"]}}
    file = laid(program.work / "pilot", turns(ROOM, checked, {"content": "Take {{room}}."}))
    replies = [
        {"match": "A room", "text": "You get room 12."},
        {"match": "Is 12 free", "text": "Yes, done."},
        {"match": "Take 12", "text": "All done."},
    ]
    (program.work / "mock.yaml").write_text(json.dumps({"replies": replies}))
    words = ("eval", file, "--engine", "mock", "--set", "engines.mock.script=mock.yaml", "--store", "none")
    done = program(*words, "--runs", "1")
    assert "1 of 1 case passed" in done.stdout, done.stdout + done.stderr
    (program.work / "mock.yaml").write_text(json.dumps({"replies": replies[1:]}))
    lost = program(*words, "--runs", "1")
    assert lost.code == 3, lost.stdout + lost.stderr
    said = " ".join((lost.stdout + lost.stderr).split())
    assert "the value of 'room' in answer 1 is not there" in said
    replies[1]["text"] = "No."
    (program.work / "mock.yaml").write_text(json.dumps({"replies": replies}))
    ended = program(*words, "--runs", "1")
    assert "0 of 1 case passed, 1 failed" in ended.stdout, ended.stdout + ended.stderr
