"""A run can be downloaded as a report of any installed reporter."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from starlette.requests import ClientDisconnect

from skillgauge.api import Artifact, PluginError
from skillgauge.api.report import Reporter, RunView
from skillgauge_command_view import downloads as module
from skillgauge_command_view.downloads import Download, DownloadResponse, Downloads


class Made:
    """A reporter that gives some files."""

    suffix = "made.txt"

    def __init__(self, artifacts: list[Artifact]) -> None:
        self._artifacts = artifacts

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The files."""
        return iter(self._artifacts)

    def read(self, path: Path) -> RunView | None:
        """Nothing."""
        return None


class Some:
    """Reporters by name."""

    def __init__(self, **made: Reporter) -> None:
        self._made = made

    def reporter_names(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self._made)

    def reporter(self, name: str) -> Reporter:
        """One of them."""
        return self._made[name]

    def commented(self, view: RunView) -> tuple[RunView, tuple[str, ...]]:
        """The run as it is."""
        return view, ()


def depending() -> Iterator[Artifact]:
    """Two files, the second of which tells what had been read of the first when it was made."""
    read: list[bytes] = []

    def chunks() -> Iterator[bytes]:
        for chunk in (b"a", b"b"):
            read.append(chunk)
            yield chunk

    yield Artifact(chunks())
    yield Artifact([b"after " + b"".join(read)], "more/second.txt")


class Depending(Made):
    """A reporter whose files depend on each other."""

    def __init__(self) -> None:
        super().__init__([])

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The files."""
        return depending()


def content_of(made: Download) -> bytes:
    """Read it whole."""
    with made.file:
        return b"".join(made.chunks())


def test_one_file_is_sent_as_it_is(views: list[RunView]) -> None:
    """Its name tells run and reporter."""
    made = Downloads(Some(plain=Made([Artifact([b"one ", b"two"])]))).make(views[6], "run6", "plain")
    assert made is not None
    assert (made.name, made.media_type) == ("run6-plain.made.txt", "text/plain")
    assert content_of(made) == b"one two"


def test_several_files_are_an_archive(views: list[RunView]) -> None:
    """Each file is made after the one before it was read."""
    made = Downloads(Some(several=Depending())).make(views[6], "run6", "several")
    assert made is not None
    assert (made.name, made.media_type) == ("run6-several.zip", "application/zip")
    with zipfile.ZipFile(io.BytesIO(content_of(made))) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {"report.made.txt": b"ab", "more/second.txt": b"after ab"}


@pytest.mark.parametrize(
    "reporter", [Made([Artifact([b"one"])]), Made([]), Depending()], ids=["one", "none", "several"]
)
def test_what_nobody_reads_is_closed(views: list[RunView], monkeypatch: pytest.MonkeyPatch, reporter: Reporter) -> None:
    """As when the browser is gone before the answer has begun."""
    files: list[IO[bytes]] = []

    def temporary() -> IO[bytes]:
        files.append(file := io.BytesIO())
        return file

    monkeypatch.setattr(module, "_temporary", temporary)
    made = Downloads(Some(some=reporter)).make(views[6], "run6", "some")
    assert made is not None

    async def gone(*_message: object) -> Any:
        raise ConnectionResetError

    with pytest.raises(ClientDisconnect):
        asyncio.run(DownloadResponse(made)({"type": "http", "asgi": {"spec_version": "2.4"}}, gone, gone))
    assert files
    assert [file.closed for file in files] == [True] * len(files)


@pytest.mark.parametrize("path", ["../out.txt", "/out.txt", "a/../../out.txt"])
def test_no_file_lies_outside_the_archive(views: list[RunView], path: str) -> None:
    """A reporter that wants to is refused."""
    downloads = Downloads(Some(odd=Made([Artifact([b"x"], path)])))
    with pytest.raises(PluginError, match="outside its folder"):
        downloads.make(views[6], "run6", "odd")


def test_no_other_reporter_is_asked(views: list[RunView]) -> None:
    """A name that is not offered is no reporter."""
    assert Downloads(Some()).make(views[6], "run6", "record") is None
    assert Downloads().make(views[6], "run6", "record") is None


@pytest.mark.slow
def test_installed_reporters_are_offered(serve: Any, views: list[RunView], downloads: Downloads) -> None:
    """Every link of the page gives a file, and the record is the run itself; without the cookie there is none."""
    with serve(views, downloads=downloads) as served:
        page = served.get("/runs/run6").text
        links = re.findall(r'<a href="(/runs/run6/reports/[^"]+)" download>', page)
        assert {"record", "markdown", "csv", "junit", "html"} <= {link.rpartition("/")[2] for link in links}
        for link in links:
            answer = served.get(link)
            assert answer.status_code == 200, link
            assert answer.headers["Content-Disposition"].startswith("attachment; filename="), link
            assert answer.content, link
        record = served.get("/runs/run6/reports/record").json()
        assert record["run"]["run_id"] == views[6].run.run_id
        assert served.get("/runs/run6/reports/no-such").status_code == 404
        assert served.get("/runs/run6/reports/..%2frecord").status_code == 404
        with served.stranger() as stranger:
            assert stranger.get("/runs/run6/reports/record").status_code == 401
