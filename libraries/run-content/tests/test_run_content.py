"""Files of a run travel by their digests and are the same where they are laid down."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge_run_content import Entry, Files, LaidDown, Manifest, TooMuchError, WrongContentError, files, lay_down

NAMES = st.sampled_from(("a", "b.md", "scripts/c.sh", "deep/er/d", "é ü.txt"))
CONTENTS = st.dictionaries(NAMES, st.tuples(st.binary(max_size=50), st.booleans()), min_size=1)


def write(root: Path, contents: dict[str, tuple[bytes, bool]]) -> None:
    """Make files, some of which can be executed."""
    for name, (content, executable) in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if executable else 0o644)


def seen(root: Path) -> dict[str, tuple[bytes, bool]]:
    """The files of a folder."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), os.access(path, os.X_OK))
        for path in root.rglob("*")
        if path.is_file()
    }


class Sender:
    """Gives contents, and counts how often."""

    def __init__(self, sent: Files) -> None:
        self._files = sent
        self.asked: list[str] = []

    async def __call__(self, digest: str) -> bytes:
        """Note the digest."""
        self.asked.append(digest)
        return self._files.read(digest)


def laid(sent: Files, cache: Path, root: Path) -> tuple[LaidDown, Sender]:
    """Lay files down; the manifest travels as JSON."""
    sender = Sender(sent)
    manifest = Manifest.model_validate_json(sent.manifest.model_dump_json())
    return asyncio.run(lay_down(manifest, sender, cache, root)), sender


@given(CONTENTS, st.sampled_from(("skill", ".", "../beside", "../../far/skill", "~/skills/one")))
def test_the_same_files_come_out(contents: dict[str, tuple[bytes, bool]], place: str) -> None:
    """Content, names and the right to be executed are those of the original, wherever it lay; each is sent once."""
    with TemporaryDirectory() as folder:
        here, there = Path(folder, "here"), Path(folder, "there")
        write(here, contents)
        result, sender = laid(Files({place: here}), Path(folder, "cache"), there)
        root = result.home / place[2:] if place.startswith("~") else result.folder / place
        assert seen(root) == contents
        assert root.resolve().is_relative_to(there.resolve())
        assert sorted(sender.asked) == sorted({entry.digest for entry in Files({place: here}).manifest.files.values()})


def test_a_machine_fetches_a_content_once(tmp_path: Path) -> None:
    """What is in the cache is not sent again, unless it is damaged there."""
    write(tmp_path / "here", {"a": (b"one", False), "b": (b"one", False), "c": (b"two", False)})
    sent = Files({"s": tmp_path / "here"})
    assert len(laid(sent, tmp_path / "cache", tmp_path / "first")[1].asked) == 2
    assert laid(sent, tmp_path / "cache", tmp_path / "second")[1].asked == []
    kept = tmp_path / "cache" / (damaged := sent.manifest.files["s/c"].digest)[:2] / damaged
    kept.write_bytes(b"other")
    result, sender = laid(sent, tmp_path / "cache", tmp_path / "third")
    assert sender.asked == [damaged]
    assert (result.folder / "s/c").read_bytes() == b"two"


def test_what_is_changed_below_stays_there(tmp_path: Path) -> None:
    """Files that were laid down are copies: neither the cache nor another run sees what is written into them."""
    write(tmp_path / "here", {"a": (b"one", False)})
    sent = Files({"s": tmp_path / "here"})
    first, _ = laid(sent, tmp_path / "cache", tmp_path / "first")
    (first.folder / "s/a").write_bytes(b"spoiled")
    second, sender = laid(sent, tmp_path / "cache", tmp_path / "second")
    assert (sender.asked, (second.folder / "s/a").read_bytes()) == ([], b"one")


def test_what_does_not_travel(tmp_path: Path) -> None:
    """Links, version control and compiled code stay; folders that are named exist."""
    write(tmp_path / "here", {"a": (b"", False), ".git/config": (b"", False), "x/__pycache__/m.pyc": (b"", False)})
    (tmp_path / "here/link").symlink_to("/etc/passwd")
    (tmp_path / "here/up").symlink_to("..")
    result, _ = laid(Files({"s": tmp_path / "here"}, ["empty", "gone/too"]), tmp_path / "cache", tmp_path / "there")
    assert seen(result.folder / "s") == {"a": (b"", False)}
    assert (result.folder / "empty").is_dir()
    assert (result.folder / "gone/too").is_dir()


def test_what_has_changed_is_not_sent(tmp_path: Path) -> None:
    """A run is of the files that it began with."""
    write(tmp_path / "here", {"a": (b"one", False)})
    sent = Files({"s": tmp_path / "here"})
    (digest,) = (entry.digest for entry in sent.manifest.files.values())
    (tmp_path / "here/a").write_bytes(b"two")
    with pytest.raises(WrongContentError, match="has changed since the run began"):
        sent.read(digest)
    with pytest.raises(KeyError):
        sent.read("0" * 64)


def test_another_content_is_not_laid_down(tmp_path: Path) -> None:
    """Who sends something else is found out, and nothing of it is kept."""
    manifest = Manifest(files={"a": Entry(digest="0" * 64, size=1)})

    async def wrong(digest: str) -> bytes:
        return b"?"

    with pytest.raises(WrongContentError, match="is another content"):
        asyncio.run(lay_down(manifest, wrong, tmp_path / "cache", tmp_path / "there"))
    assert seen(tmp_path) == {}


@pytest.mark.parametrize("place", ["/etc/passwd", "a/../../b", "~root/x", "a/..", "x\0y"])
def test_places_that_lead_out(place: str) -> None:
    """A list of files names no absolute path, and none that leaves its folder behind the beginning."""
    with pytest.raises(ValidationError, match="is no place of a file"):
        Manifest(files={place: Entry(digest="0" * 64, size=0)})


def test_a_file_is_no_folder() -> None:
    """Such a list cannot be laid down."""
    entry = Entry(digest="0" * 64, size=0)
    with pytest.raises(ValidationError, match="lies below a file"):
        Manifest(files={"a": entry, "a/b": entry})


def test_what_nobody_uses_goes(tmp_path: Path) -> None:
    """The cache keeps a content for a month after its last use."""
    write(tmp_path / "here", {"old": (b"old", False), "new": (b"new", False)})
    both = Files({"s": tmp_path / "here"})
    laid(both, tmp_path / "cache", tmp_path / "first")
    long_ago = time.time() - 40 * 86_400
    for kept in (tmp_path / "cache").rglob("*"):
        os.utime(kept, (long_ago, long_ago))
    (tmp_path / "here/old").unlink()
    _, sender = laid(Files({"s": tmp_path / "here"}), tmp_path / "cache", tmp_path / "second")
    assert len(sender.asked) == 1, "it was too old, and is fetched anew"
    assert [path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()] == [b"new"]


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent, with what is too much."""
    write(tmp_path / "here", {"a": (b"12345", False), "b": (b"12345", False)})
    monkeypatch.setattr(files, "MOST_BYTES", 9)
    with pytest.raises(TooMuchError, match="s and what else"):
        _ = Files({"s": tmp_path / "here"}).manifest
    monkeypatch.setattr(files, "MOST_OF_A_FILE", 4)
    with pytest.raises(TooMuchError, match="s/a has more than"):
        _ = Files({"s": tmp_path / "here"}).manifest


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from skillgauge.api import RunFiles
from skillgauge_run_content import ContentOfRun, laid_down

async def main():
    async with laid_down(ContentOfRun(RunFiles({"s": Path(sys.argv[1])}))) as laid:
        assert (laid.folder / "s/a").read_bytes() == b"one"
        print("laid down", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_nothing_stays_after_a_kill(tmp_path: Path) -> None:
    """A worker that is killed leaves the cache behind, and no folder of the run."""
    write(tmp_path / "here", {"a": (b"one", False)})
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = [sys.executable, "-c", KILLED, str(tmp_path / "here")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "laid down\n"), done.stderr
    deadline = time.monotonic() + 30
    while left := list((tmp_path / "tmp").iterdir()):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    assert seen(tmp_path / "cache/skillgauge/content")
