"""What the model's tools do in a real workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Command, FileSpec, LaunchError, Running, SandboxSpec, Workspace
from skillgauge_engine_api.dialect import ToolCall
from skillgauge_engine_api.skills import read_skill
from skillgauge_engine_api.tools import RESULT_CHARACTERS, Toolbox
from skillgauge_testkit import FakeWorkspace, TemporarySandbox

Use = Callable[..., str]


def use(
    *calls: tuple[str, Mapping[str, Any]],
    files: Mapping[str, str] | None = None,
    prepare: Callable[[Path], None] = lambda _root: None,
    timeout_s: float = 30,
) -> tuple[list[str], dict[str, bytes]]:
    """Use tools one after the other; what they answered, and the files at the end."""

    async def run() -> tuple[list[str], dict[str, bytes]]:
        async with TemporarySandbox().open(SandboxSpec(label="tools")) as workspace:
            await workspace.put([FileSpec(path=path, text=text) for path, text in (files or {}).items()])
            prepare(workspace.root)
            toolbox = Toolbox(workspace, (), timeout_s)
            answers = [(await toolbox.use(ToolCall("1", name, arguments))).text for name, arguments in calls]
            paths = [path for path in await workspace.snapshot() if not (workspace.root / path).is_symlink()]
            return answers, {path: await workspace.collect(path, 10**7) for path in paths}

    return asyncio.run(run())


@pytest.mark.slow
def test_bash_tells_output_and_ending() -> None:
    """Both streams, the exit code or signal; the time limit is its own, and nothing is asked on stdin."""
    answers, _ = use(
        ("bash", {"command": "echo out; echo err >&2; exit 3"}),
        ("bash", {"command": "true"}),
        ("bash", {"command": "kill -9 $$"}),
        ("bash", {"command": "[[ a == a ]] && cat"}),
    )
    assert answers == ["out\nerr\n[exit code 3]", "[exit code 0]", "[signal 9]", "[exit code 0]"]
    (slow,), _ = use(("bash", {"command": "echo begun; sleep 60"}), timeout_s=2)
    assert slow == "Error: the command took longer than 2 s and was ended\nbegun\n"


def test_long_results_lose_their_middle() -> None:
    """The model sees beginning, end and how much is missing; the exit code is always there."""
    (answer,), _ = use(("bash", {"command": "head -c 100000 /dev/zero | tr '\\0' a; echo end"}))
    assert len(answer) < RESULT_CHARACTERS + 100
    assert "70004 characters left out" in answer
    assert answer.endswith("aend\n[exit code 0]")


def test_read_gives_lines() -> None:
    """All of them or some, with how many follow; what is no text, too large or not there is said."""
    text = "".join(f"line {number}\n" for number in range(1, 8))

    def prepare(root: Path) -> None:
        (root / "binary").write_bytes(b"\xff\x00")
        (root / "large").write_bytes(b"a" * (4 * 1024 * 1024 + 1))
        (root / "folder").mkdir()

    answers, _ = use(
        ("read", {"path": "a.txt"}),
        ("read", {"path": "./a.txt", "offset": 3, "limit": 2}),
        ("read", {"path": "a.txt", "offset": 99}),
        ("read", {"path": "binary"}),
        ("read", {"path": "large"}),
        ("read", {"path": "folder"}),
        ("read", {"path": "gone"}),
        files={"a.txt": text},
        prepare=prepare,
    )
    assert answers[0] == text
    assert answers[1] == "line 3\nline 4\n\n[3 more lines]"
    assert answers[2] == ""
    assert "is no text" in answers[3]
    assert "larger than" in answers[4]
    assert answers[5:] == ["Error: folder is not a regular file", "Error: No such file or directory"] or (
        "directory" in answers[5] and answers[6] == "Error: No such file or directory"
    )


def test_paths_stay_inside() -> None:
    """Absolute ones of the workspace are taken; others, those that climb, and links that lead out are refused."""

    def prepare(root: Path) -> None:
        (root.parent / "secret").write_text("mine")
        (root / "link").symlink_to(root.parent / "secret")
        (root / "out").symlink_to(root.parent)

    answers, files = use(
        ("read", {"path": "/etc/hostname"}),
        ("read", {"path": "../secret"}),
        ("read", {"path": "link"}),
        ("write", {"path": "a/../../secret", "content": "x"}),
        ("write", {"path": "out/secret", "content": "x"}),
        ("write", {"path": "out\\x", "content": "x"}),
        files={"in": "x"},
        prepare=prepare,
    )
    assert all(answer.startswith("Error: ") for answer in answers)
    assert set(files) == {"in"}


def test_absolute_paths_of_the_workspace_are_taken() -> None:
    """Models like to write them, since `pwd` tells them."""

    async def run() -> tuple[str, bytes]:
        async with TemporarySandbox().open(SandboxSpec(label="tools")) as workspace:
            toolbox = Toolbox(workspace, (), 30)
            call = ToolCall("1", "write", {"path": f"{workspace.root}/a/b.txt", "content": "x"})
            return (await toolbox.use(call)).text, await workspace.collect("a/b.txt", 10)

    assert asyncio.run(run()) == ("wrote a/b.txt", b"x")


def test_edit_replaces_what_is_unique() -> None:
    """Once, or everywhere if so told; nothing changes where the text is absent or ambiguous."""
    answers, files = use(
        ("edit", {"path": "a", "old_text": "one", "new_text": "1"}),
        ("edit", {"path": "a", "old_text": "two", "new_text": "2"}),
        ("edit", {"path": "a", "old_text": "three", "new_text": "3"}),
        ("edit", {"path": "b", "old_text": "two", "new_text": "2", "replace_all": True}),
        files={"a": "one two two", "b": "two two"},
    )
    assert answers[0] == "replaced 1 in a"
    assert "occurs 2 times" in answers[1]
    assert "does not occur" in answers[2]
    assert answers[3] == "replaced 2 in b"
    assert files == {"a": b"1 two two", "b": b"2 2"}


def test_a_program_that_is_edited_can_still_be_run() -> None:
    """Its mode survives; a plain file does not become a program."""

    def prepare(root: Path) -> None:
        (root / "go.sh").write_text("#!/bin/sh\necho old\n")
        (root / "go.sh").chmod(0o755)

    answers, _ = use(
        ("edit", {"path": "go.sh", "old_text": "old", "new_text": "new"}),
        ("bash", {"command": "./go.sh"}),
        ("write", {"path": "plain", "content": "#!/bin/sh\n"}),
        ("bash", {"command": "test -x plain"}),
        prepare=prepare,
    )
    assert answers[1] == "new\n[exit code 0]"
    assert answers[3] == "[exit code 1]"


class NoBash(FakeWorkspace):
    """A workspace that has `sh` only."""

    async def start(self, command: Command) -> Running:
        """As in a small container."""
        if command.argv[0] == "bash":
            raise LaunchError("bash: not found")
        return await super().start(command)


class Nothing(FakeWorkspace):
    """A workspace where nothing can be started."""

    async def start(self, command: Command) -> Running:
        """Never."""
        raise LaunchError(f"{command.argv[0]}: not found")


@pytest.mark.parametrize(
    ("workspace", "answer"), [(NoBash(), "[exit code 0]"), (Nothing(), "Error: sh: not found")], ids=["sh", "nothing"]
)
def test_where_there_is_no_bash_sh_does(workspace: Workspace, answer: str) -> None:
    """Commands run in small containers, too, and where nothing runs the model is told."""

    async def run() -> str:
        return (await Toolbox(workspace, (), 5).use(ToolCall("1", "bash", {"command": "true"}))).text

    assert asyncio.run(run()) == answer


@pytest.mark.parametrize(
    ("text", "description", "body"),
    [
        ("---\nname: a\ndescription: b c\n---\nbody\n", "b c", "body\n"),
        ("\ufeff---\r\ndescription: |\r\n  b\r\n  c\r\n---\r\n\r\nbody", "b c", "body"),
        ("---\ndescription: x\n---", "x", ""),
        ("no front matter\n---\n", "", "no front matter\n---\n"),
        ("---\nnever closed", "", "---\nnever closed"),
        ("---\n: [broken\n---\nbody", "", "body"),
        ("---\n- a list\n---\nbody", "", "body"),
        ("---\ndescription: 5\n---\nbody", "5", "body"),
        ("", "", ""),
    ],
)
def test_skills_are_read(text: str, description: str, body: str) -> None:
    """Front matter is optional and may be broken; the body is what follows it."""
    assert read_skill(text) == (description, body)
