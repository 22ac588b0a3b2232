"""A workspace after a replay is as the recorded session left it."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgauge.api import Command, FileSpec, SandboxSpec, Workspace
from skillgauge_recordings import Places, RecordedFile
from skillgauge_recordings.restoring import restore
from skillgauge_testkit import TemporarySandbox


def restored(before: Mapping[str, str], *files: RecordedFile) -> dict[str, bytes]:
    """Files of a real workspace that held some, after restoring others."""

    async def run() -> dict[str, bytes]:
        async with TemporarySandbox().open(SandboxSpec(label="restore")) as workspace:
            await workspace.put([FileSpec(path=path, text=text) for path, text in before.items()])
            await restore(files, workspace, Places(workspace))
            return await contents(workspace)

    return asyncio.run(run())


async def contents(workspace: Workspace) -> dict[str, bytes]:
    """Every file with its content."""
    return {path: await workspace.collect(path, 10**7) for path in await workspace.snapshot()}


def test_created_changed_and_deleted_files() -> None:
    """All three, in folders that are not there yet, and with names that look like options."""
    files = [
        RecordedFile(path="new/a.txt", text="a\r\nb"),
        RecordedFile(path="changed", text="after"),
        RecordedFile(path="gone/deep/file"),
        RecordedFile(path="-rf"),
        RecordedFile(path="never there"),
    ]
    before = {"changed": "before", "gone/deep/file": "x", "-rf": "x", "kept": "k"}
    assert restored(before, *files) == {"new/a.txt": b"a\r\nb", "changed": b"after", "kept": b"k"}


def test_modes_are_restored() -> None:
    """A script that the agent made executable can be run by a validator."""

    async def run() -> int | None:
        async with TemporarySandbox().open(SandboxSpec(label="restore")) as workspace:
            file = RecordedFile(path="go", text="#!/bin/sh\nexit 7\n", executable=True)
            await restore([file], workspace, Places(workspace))
            return (await (await workspace.start(Command(argv=("./go",)))).wait()).exit_code

    assert asyncio.run(run()) == 7


def test_a_file_takes_the_place_of_a_folder_and_the_other_way_round() -> None:
    """The emptied folder is not in the way of the file, nor the deleted file in that of the folder."""
    files = [
        RecordedFile(path="folder/one"),
        RecordedFile(path="folder", text="now a file"),
        RecordedFile(path="file"),
        RecordedFile(path="file/inside", text="now a folder"),
    ]
    after = restored({"folder/one": "1", "file": "f"}, *files)
    assert after == {"folder": b"now a file", "file/inside": b"now a folder"}


@pytest.mark.slow
def test_many_files_are_deleted() -> None:
    """More than fit on one command line."""
    names = [f"{'d' * 200}/{number:04}" for number in range(700)]
    assert restored(dict.fromkeys(names, ""), *(RecordedFile(path=name) for name in names)) == {}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=2000))
def test_any_bytes_come_back(content: bytes) -> None:
    """Whatever a file held, it holds again."""
    assert restored({}, RecordedFile(path="f", base64=b64encode(content).decode())) == {"f": content}


@pytest.mark.parametrize(
    "bad",
    [
        RecordedFile(path="../outside", text="x"),
        RecordedFile(path="/outside", text="x"),
        RecordedFile(path="../outside"),
        RecordedFile(path="f", base64="no base64!"),
    ],
)
def test_what_is_wrong_changes_nothing(bad: RecordedFile) -> None:
    """A path that leaves the workspace, also one to delete, and damaged content are refused before anything happens."""

    async def run() -> dict[str, bytes]:
        async with TemporarySandbox().open(SandboxSpec(label="restore")) as workspace:
            await workspace.put([FileSpec(path="old", text="o")])
            outside = Path(workspace.root).parent / "outside"
            outside.write_text("mine")
            files = [RecordedFile(path="old"), RecordedFile(path="new", text="n"), bad]
            with pytest.raises(ValueError):  # noqa: PT011 - pydantic and base64 have their own kinds
                await restore(files, workspace, Places(workspace))
            assert outside.read_text() == "mine"
            return await contents(workspace)

    assert asyncio.run(run()) == {"old": b"o"}
