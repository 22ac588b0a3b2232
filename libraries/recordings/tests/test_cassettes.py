"""Recordings: what is kept of a session, that it comes back as it was, and what is said about those that do not fit."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from gzip import compress as gzip
from gzip import decompress as gunzip
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.contract.sandboxes import SandboxSpec, SpoiledError, Workspace
from skillgauge.errors import SuiteError
from skillgauge.types.arms import Arm, ArmKind, SkillRef
from skillgauge.types.suite import Case, FileSpec, Limits
from skillgauge.types.trajectory import EventKind, Trajectory, TrajectoryEvent
from skillgauge.types.trial import Execution, Failure, FailureClass, FileChange, Identity, Trial
from skillgauge.types.usage import Usage
from skillgauge_documents.redaction import Redactor
from skillgauge_recordings.cassettes import (
    LARGEST_FILE,
    LARGEST_RAW,
    SUFFIX,
    Cassette,
    file_name,
    read_cassettes,
    why_missing,
)
from skillgauge_recordings.places import Places
from skillgauge_recordings.recorder import FolderRecorder
from skillgauge_testkit import TemporarySandbox

SKILL = SkillRef(name="pdf", root="/skills/pdf", digest="d1")
SAID = Trajectory(events=(TrajectoryEvent(kind=EventKind.MESSAGE, text="done"),), skills_offered=("pdf",))
DONE = Execution(text="done", trajectory=SAID, usage=Usage(cost_usd=0.5), duration_s=2.5, arm_integrity="verified")


def trial(case: Case | None = None, **fields: Any) -> Trial:
    """A trial of an agent."""
    known: dict[str, Any] = {
        "trial_id": "t",
        "execution_id": "x",
        "ordinal": 0,
        "suite_id": "pdf",
        "case": case or Case(id="extract", prompt="how many pages?"),
        "case_index": 0,
        "arm": Arm(name="with_skill", kind=ArmKind.AGENT, skills=(SKILL,)),
        "runner": Identity(name="agent", version="1", settings={"mode": "a"}),
        "model": "m1",
        "repeat": 1,
        "seed": 0,
        "limits": Limits(),
    }
    return Trial.model_validate(known | fields)


def record(
    folder: Path,
    execution: Execution = DONE,
    one: Trial | None = None,
    *,
    files: dict[str, bytes] | None = None,
    prepare: Callable[[Path], None] = lambda _root: None,
    redactor: Redactor | None = None,
) -> None:
    """Record a session whose workspace holds some files; those that it changed are said by the execution."""

    async def run() -> None:
        async with TemporarySandbox().open(SandboxSpec(label="record")) as workspace:
            for path, content in (files or {}).items():
                place = workspace.root / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            prepare(workspace.root)
            recorder = FolderRecorder(folder, (redactor or Redactor()).redact)
            await recorder.record(one or trial(), execution, workspace)

    asyncio.run(run())


def changed(**changes: str) -> Execution:
    """An execution that changed files."""
    listed = tuple(FileChange(path=path.replace("__", "."), change=change) for path, change in changes.items())
    return DONE.model_copy(update={"files": listed})


def test_a_session_comes_back_as_it_was(tmp_path: Path) -> None:
    """Key, recipe, engine, model, execution and files; in one readable file whose name tells the trial."""
    made = changed(out__txt="created", old__txt="deleted", run__sh="modified")
    files = {"out.txt": "Zeile 1\r\nünde\n".encode(), "run.sh": b"#!/bin/sh\n", "untouched": b"x"}
    record(tmp_path, made, files=files, prepare=lambda root: (root / "run.sh").chmod(0o755))
    (path,) = [one for one in tmp_path.rglob("*") if one.is_file()]
    one = trial()
    assert path.relative_to(tmp_path).as_posix() == f"pdf/extract.with_skill.1.{one.cassette_key[:8]}{SUFFIX}"
    (cassette,) = read_cassettes(tmp_path)
    assert (cassette.key, cassette.model, cassette.engine) == (one.cassette_key, "m1", one.runner)
    assert cassette.recipe == one.recipe
    assert cassette.execution == made
    found = {file.path: (file.text, file.base64, file.executable) for file in cassette.files}
    assert found == {
        "out.txt": ("Zeile 1\r\nünde\n", None, False),
        "old.txt": (None, None, False),
        "run.sh": ("#!/bin/sh\n", None, True),
    }
    text = path.read_text()
    assert text.endswith("}\n")
    assert list(json.loads(text)) == sorted(json.loads(text))
    assert "ünde" in text
    assert path.stat().st_mode & 0o077 == 0


def test_no_recording_tells_where_its_workspace_was(tmp_path: Path) -> None:
    """Folders of the workspace have names in what was said, in the raw stream, and in files that are texts."""

    async def run() -> None:
        async with TemporarySandbox().open(SandboxSpec(label="place")) as workspace:
            said = f"wrote {workspace.root}/out.txt with {workspace.home}/.skills in {workspace.home.parent}/tmp/x"
            raw = f"{json.dumps({'text': said, 'ü': 1}, ensure_ascii=False)}\n"
            execution = changed(out__txt="created").model_copy(
                update={"text": said, "trajectory": Trajectory(raw=raw, model="m1")}
            )
            (workspace.root / "out.txt").write_text(f"{workspace.root}\n")
            await FolderRecorder(tmp_path, Redactor().redact).record(trial(), execution, workspace)

    asyncio.run(run())
    (cassette,) = read_cassettes(tmp_path)
    named = "wrote [skillgauge:workspace]/out.txt with [skillgauge:home]/.skills in [skillgauge:tmp]/x"
    assert cassette.execution.text == named
    assert cassette.execution.trajectory
    assert json.loads(cassette.execution.trajectory.raw or "") == {"text": named, "ü": 1}
    assert [file.text for file in cassette.files] == ["[skillgauge:workspace]\n"]


class Elsewhere:
    """Folders of a workspace that is nowhere."""

    def __init__(self, folder: str) -> None:
        self.root, self.home = Path(folder, "work"), Path(folder, "home")


FIRST, SECOND = Elsewhere("/tmp/first"), Elsewhere('/tmp/se"cond')


@given(
    st.lists(
        st.text(max_size=5)
        | st.sampled_from(
            [
                *("/tmp/first/work", "/tmp/first/home", "/tmp/first/tmp", "/tmp/first", "-tmp-first-work"),
                *("[skillgauge:workspace]", "[skillgauge:around]", "[skillgauge:", ":", "]"),
            ]
        )
    )
)
def test_places_come_back_as_they_were(parts: list[str]) -> None:
    """Whatever a text holds: in the same folders it is the same text again, and in others only the folders differ."""
    text, places = "|".join(parts), Places(cast("Workspace", FIRST))
    named = places.named(text)
    assert places.restored(named) == text
    moved = Places(cast("Workspace", SECOND)).restored(named)
    other = {"/tmp/first": '/tmp/se"cond', "-tmp-first-work": "-tmp-se-cond-work"}
    assert moved == "|".join(other.get(part, part.replace("/tmp/first/", '/tmp/se"cond/')) for part in parts)
    execution = Execution(text=text, trajectory=Trajectory(raw=json.dumps(text)))
    assert places.restored_in(places.named_in(execution)) == execution


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("in /tmp/first/work.", "in [skillgauge:workspace]."),
        ("/tmp/first/work/a", "[skillgauge:workspace]/a"),
        ("/tmp/first/workshop", "[skillgauge:around]/workshop"),
        ("/tmp/first/work.txt", "[skillgauge:around]/work.txt"),
        ("ls /tmp/first", "ls [skillgauge:around]"),
        ("/tmp/first-one", "/tmp/first-one"),
        (".claude/projects/-tmp-first-work/a.jsonl", ".claude/projects/[skillgauge:workspace_as_name]/a.jsonl"),
        ("-tmp-first-works", "-tmp-first-works"),
        ("[workspace]", "[workspace]"),
    ],
)
def test_what_is_a_place(text: str, named: str) -> None:
    """A name that goes on is another one, and a section of some other file is none (E-C5)."""
    assert Places(cast("Workspace", FIRST)).named(text) == named


def test_files_that_are_no_text_are_kept(tmp_path: Path) -> None:
    """Byte by byte; an empty file is one, and not a deleted one."""
    content = bytes(range(256))
    record(tmp_path, changed(bin="created", empty="created"), files={"bin": content, "empty": b""})
    (cassette,) = read_cassettes(tmp_path)
    binary, empty = cassette.files
    assert binary.base64
    assert b64decode(binary.base64) == content
    assert (empty.text, empty.base64) == ("", None)


def test_secrets_are_in_no_recording(tmp_path: Path) -> None:
    """Neither in the answer, nor in events, nor in what the agent wrote into files, also not inside of binary ones."""
    secret = "sk-canary-0123456789"
    redactor = Redactor()
    redactor.register("KEY", secret)
    told = Trajectory(events=(TrajectoryEvent(kind=EventKind.TOOL_RESULT, text=secret, data={secret: [secret]}),))
    execution = changed(a="created", b="created").model_copy(update={"text": f"it is {secret}", "trajectory": told})
    files = {"a": f"KEY={secret}".encode(), "b": b"\xff" + secret.encode() + b"\xff"}
    record(tmp_path, execution, files=files, redactor=redactor)
    (path,) = tmp_path.rglob(f"*{SUFFIX}")
    assert secret not in path.read_text()
    (cassette,) = read_cassettes(tmp_path)
    assert cassette.execution.text == "it is [redacted:KEY]"
    assert cassette.files[0].text == "KEY=[redacted:KEY]"
    assert "[redacted:KEY]" in (cassette.files[1].base64 or "")


def streamed(raw: str) -> Execution:
    """A session of which the program's own stream is known."""
    return DONE.model_copy(update={"trajectory": SAID.model_copy(update={"raw": raw})})


@pytest.mark.slow
def test_the_raw_stream_is_compressed(tmp_path: Path) -> None:
    """It is one line of the file and a small part of its length, comes back as it was, and has no secret in it."""
    secret = "sk-canary-0123456789"
    redactor = Redactor()
    redactor.register("KEY", secret)
    lines = [json.dumps({"number": number, "said": f"ünde {secret}", "more": "x" * 80}) for number in range(2000)]
    raw = "\n".join(lines) + "\r\n"
    record(tmp_path, streamed(raw), redactor=redactor)
    (path,) = tmp_path.rglob(f"*{SUFFIX}")
    text = path.read_text()
    assert len(text) < len(raw) / 10
    assert len([line for line in text.splitlines() if line.startswith(' "raw": ')]) == 1
    assert secret.encode() not in gunzip(b64decode(json.loads(text)["raw"]))
    (cassette,) = read_cassettes(tmp_path)
    assert cassette.raw is None
    assert cassette.execution == streamed(raw.replace(secret, "[redacted:KEY]"))
    record(tmp_path, streamed(raw), redactor=redactor)
    assert path.read_text() == text


def test_a_recording_with_a_plain_stream_is_read(tmp_path: Path) -> None:
    """As they were written at first."""
    record(tmp_path, DONE)
    (path,) = tmp_path.rglob(f"*{SUFFIX}")
    document = json.loads(path.read_text())
    document["execution"]["trajectory"]["raw"] = "{}\n"
    path.write_text(json.dumps(document))
    (cassette,) = read_cassettes(tmp_path)
    assert cassette.execution == streamed("{}\n")


@pytest.mark.parametrize(
    ("packed", "words"),
    [
        ("!", "base64"),
        (b64encode(b"no gzip").decode(), "incorrect header"),
        (b64encode(gzip(b"whole\n" * 100)[:-9]).decode(), "cut off"),
        (b64encode(gzip(b"\xff")).decode(), "codec"),
        (b64encode(gzip(bytes(LARGEST_RAW + 1))).decode(), "longer than"),
    ],
    ids=["no base64", "no gzip", "cut", "no text", "bomb"],
)
def test_a_damaged_stream_is_told(tmp_path: Path, packed: str, words: str) -> None:
    """With the file that it is in; one that stands for gigabytes is not unpacked."""
    record(tmp_path, streamed("{}\n"))
    (path,) = tmp_path.rglob(f"*{SUFFIX}")
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"raw": packed}))
    with pytest.raises(SuiteError, match=words) as caught:
        list(read_cassettes(tmp_path))
    (problem,) = caught.value.problems
    assert problem.origin is not None
    assert problem.origin.file == str(path)


@pytest.mark.parametrize(
    ("execution", "kept"),
    [
        (DONE, True),
        (DONE.model_copy(update={"failure": Failure.of_agent(FailureClass.MAX_TURNS, "out of turns")}), True),
        (DONE.model_copy(update={"failure": Failure.of_agent(FailureClass.TIMEOUT, "out of time")}), True),
        (DONE.model_copy(update={"failure": Failure.of_agent(FailureClass.RATE_LIMITED, "slow down")}), False),
        (DONE.model_copy(update={"failure": Failure.of_agent(FailureClass.ARM_INTEGRITY, "wrong arm")}), False),
        (DONE.model_copy(update={"replayed": True}), False),
    ],
)
def test_only_behaviour_is_recorded(tmp_path: Path, execution: Execution, kept: bool) -> None:
    """An agent that ran out of time or turns behaved so; trouble of the infrastructure and replays are not kept."""
    record(tmp_path, execution)
    assert bool(list(tmp_path.rglob(f"*{SUFFIX}"))) is kept


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (lambda root: (root / "big").write_bytes(bytes(LARGEST_FILE + 1)), "larger than 4194304 bytes"),
        (lambda root: (root / "big").symlink_to("/etc/hostname"), "does not stay inside"),
        (lambda root: (root / "big").mkdir(), "big"),
    ],
    ids=["large", "link", "folder"],
)
def test_a_file_that_cannot_be_recorded_makes_no_recording(
    tmp_path: Path, prepare: Callable[[Path], None], words: str
) -> None:
    """Half a session would grade as another one, so nothing is written."""
    with pytest.raises(SpoiledError, match=words):
        record(tmp_path, changed(big="created"), prepare=prepare)
    assert not list(tmp_path.rglob(f"*{SUFFIX}"))


def test_the_largest_file_is_recorded(tmp_path: Path) -> None:
    """The limit itself is allowed."""
    record(tmp_path, changed(big="created"), files={"big": bytes(LARGEST_FILE)})
    (cassette,) = read_cassettes(tmp_path)
    assert len(cassette.files[0].text or "") == LARGEST_FILE


def test_names_of_recordings_are_tame() -> None:
    """Whatever cases are called; trials that differ in anything have files of their own."""
    odd = Case(id="../ä/b c" + "x" * 100, prompt="p")
    name = file_name(trial(odd, suite_id="..", repeat=3))
    folder, _, file = name.partition("/")
    assert folder == "x"
    assert "/" not in file
    assert len(file) < 160
    assert file.isascii()
    assert name != file_name(trial(odd, suite_id="..", repeat=4))
    assert name != file_name(trial(odd, suite_id="..", repeat=3, model="m2"))


def test_a_session_that_is_recorded_again_replaces_the_old_one(tmp_path: Path) -> None:
    """Two of the same key would leave it to chance which is played."""
    record(tmp_path)
    record(tmp_path, DONE.model_copy(update={"text": "better"}))
    (cassette,) = read_cassettes(tmp_path)
    assert cassette.execution.text == "better"


def test_damaged_recordings_are_all_listed_with_their_place(tmp_path: Path) -> None:
    """Broken JSON, an unknown key, a wrong type and a schema of the future: file by file, with line and column."""
    record(tmp_path)
    good = json.loads(next(tmp_path.rglob(f"*{SUFFIX}")).read_text())
    broken = {
        "a": "{",
        "b": json.dumps(good | {"colour": "blue"}, indent=1),
        "c": json.dumps(good | {"key": 5}, indent=1),
        "d": json.dumps(good | {"schema_version": "2.0"}, indent=1),
    }
    for name, text in broken.items():
        (tmp_path / f"{name}{SUFFIX}").write_text(text)
    with pytest.raises(SuiteError) as raised:
        list(read_cassettes(tmp_path))
    problems = raised.value.problems
    files = [problem.span.file if problem.span else problem.origin.file for problem in problems if problem]  # type: ignore[union-attr]
    assert [Path(file).name for file in files] == [f"{name}{SUFFIX}" for name in "abcd"]
    assert [problem.origin.pointer for problem in problems if problem.origin] == [
        ("colour",),
        ("key",),
        ("schema_version",),
    ]


def test_a_folder_without_recordings_says_how_to_make_some(tmp_path: Path) -> None:
    """Absent or empty."""
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(SuiteError, match="--record"):
            list(read_cassettes(folder))


def recipes(*changes: dict[str, Any]) -> list[Cassette]:
    """Recordings whose recipes differ from the usual one."""
    one = trial()
    return [
        Cassette(key="k", recipe={**one.recipe, **change}, engine=one.runner, model="m1", execution=DONE)
        for change in changes
    ]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"case": Case(id="extract", prompt="how many pages, please?")}, "prompt"),
        ({"case": Case(id="extract", prompt="how many pages?", files=(FileSpec(path="a", text="x"),))}, "files"),
        ({"case": Case(id="extract", prompt="how many pages?", setup=("true",))}, "setup"),
        ({"case": Case(id="extract", prompt="how many pages?", env={"A": "1"})}, "environment"),
        (
            {"arm": Arm(name="with_skill", kind=ArmKind.AGENT, skills=(SKILL.model_copy(update={"digest": "d2"}),))},
            "skills",
        ),
        ({"limits": Limits(timeout_s=5)}, "limits (--timeout, --max-turns, or the case's own)"),
        ({"model": "m2"}, "model"),
        ({"runner": Identity(name="agent", settings={"mode": "b"})}, "engine settings"),
        ({"runner": Identity(name="agent", version="9", settings={"mode": "a"})}, ""),
    ],
)
def test_what_changed_is_named(change: dict[str, Any], word: str) -> None:
    """Each part of what decides a session by its name (E-D2); the version of the engine is none of them."""
    wanted = trial(**change)
    told = why_missing(wanted.recipe, recipes({}))
    assert told.endswith(f"these differ: {word}")
    assert "suite pdf, case extract, arm with_skill, repeat 1" in told


def test_the_nearest_recording_is_compared() -> None:
    """Among those of the same case; a case that was never recorded is said to be so."""
    one = trial().recipe
    near, far = {"prompt": "other"}, {"prompt": "other", "files": "other", "model": "m9"}
    assert why_missing(one, recipes(far, near)).endswith("these differ: prompt")
    assert why_missing(one, recipes({"case": "else"})) == (
        "there is no recording of suite pdf, case extract, arm with_skill, repeat 1"
    )
    assert why_missing(one, []).startswith("there is no recording")
