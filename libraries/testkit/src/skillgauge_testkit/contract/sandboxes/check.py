"""The contract of sandboxes, tried with real processes of a POSIX shell."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from skillgauge.api import (
    Command,
    FileSpec,
    Finished,
    ImageSandbox,
    JsonObject,
    LaunchError,
    Running,
    Sandbox,
    SandboxReport,
    Tier,
    Workspace,
)

from ..clauses import CANARY, PATIENCE_S, answered, called, canary, require, require_usable, run, shown
from ..shapes import require_shape
from ..trying import Trying
from .packing import packs

_REFUSALS = (ValueError, OSError, LookupError)
"""How `collect` may refuse what is not there for it."""

_QUIET_S = 0.4
"""How long a process that should be dead is watched for a sign of life; a living one gives eight."""

_BEAT = 'trap "" TERM HUP INT; n=0; while [ $n -lt 200 ]; do echo x >>"$1"; sleep 0.05; n=$((n+1)); done'
_LEAVE_BEATING = f"(sh -c '{_BEAT}' beat \"$0\" &)"
"""Starts a grandchild that ignores polite signals and gives a sign of life in the file named by `$0`, for a while."""

_SCRIPTS = (f"{_LEAVE_BEATING}; sleep 60", f'{_LEAVE_BEATING}; while [ ! -s "$0" ]; do sleep 0.05; done')
"""One goes on when its grandchild lives, the other ends then."""

_TIMEOUTS_S = (1.0, 5.0, 20.0)
"""Time limits, of which the first is taken that lets the grandchild come to life."""

_ENDS = {
    "timeout": "a command that exceeded its timeout_s",
    "cancel": "a cancelled Running.wait",
    "stop": "Running.stop",
    "close": "the end of a workspace",
    "end": "the end of the main process",
}
"""Ways in which a process ends."""


def check_sandbox(
    make: Callable[[], Sandbox], *, where: Callable[[Path], Path] | None = None, patience_s: float = PATIENCE_S
) -> None:
    """Check a sandbox with real processes: files, limits, environment, and that nothing is left behind.

    Example::

        def test_sandbox():
            check_sandbox(Maker(SANDBOXES, "acme_jail.plugin"))

    Args:
        make: makes a sandbox that is usable here, where there is a POSIX shell.
        where: for one that is remote, whose service the test plays: where here a file of its workspaces lies.
        patience_s: how long to wait for what should come at once.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    clauses = (
        _reports,
        _runs,
        _talks,
        _fails_to_launch,
        _moves_files,
        packs,
        _refuses_escapes,
        _caps,
        _has_own_environment,
        _kills,
        _is_private,
        _grades_afresh,
    )
    with canary() as secret, tempfile.TemporaryDirectory(prefix="skillgauge-contract-") as outside:
        for clause in clauses:
            run(clause(Trying(make, secret, Path(outside).resolve(), patience_s, where)))


async def _reports(trying: Trying) -> None:
    """It says what it can do, and every workspace says the same."""
    sandbox = called("making a sandbox", trying.make)
    require_shape(sandbox, Sandbox)
    report = await answered("Sandbox.check", trying.patience_s, sandbox.check)
    require(isinstance(report, SandboxReport), f"Sandbox.check must return a SandboxReport, not {shown(report)}")
    require(isinstance(report.tier, Tier), f"SandboxReport.tier must be a Tier, not {shown(report.tier)}")
    require_usable("Sandbox.check", report.problems)
    remote = trying.where is not None
    require(report.is_remote is remote, f"SandboxReport.is_remote must be {remote} where check_sandbox is told so")
    tells = isinstance(sandbox, ImageSandbox)
    require(tells or not report.runs_images, "a sandbox that runs images must have ImageSandbox.image")
    async with trying.open() as workspace:
        name, _, tier = workspace.tier.rpartition("/")
        message = f"Workspace.tier must be sandbox and reported tier, as `x/{report.tier}`: {workspace.tier!r}"
        require(name and tier == report.tier, message)
        require(workspace.root.is_absolute(), f"Workspace.root must be absolute, not {workspace.root}")
        root = (await trying.said(workspace, "pwd -P")).rstrip("\n")
        is_root = Path(root) in (workspace.root, workspace.root.resolve())
        require(is_root, f"a process must start in Workspace.root, {workspace.root}, but started in {root}")


async def _runs(trying: Trying) -> None:
    """Input, output, exit codes and working directories arrive, of several processes at once too."""
    async with trying.open() as workspace:
        odd = bytes(range(256)) * 4096
        echoed = await trying.sh(workspace, "cat; echo problem >&2; exit 3", stdin=odd)
        whole = echoed.stdout == odd and echoed.stderr == b"problem\n"
        require(whole, "a process must get its stdin, and its streams must come back byte by byte")
        right = echoed.exit_code == 3 and not echoed.timed_out and echoed.stdout_dropped == echoed.stderr_dropped == 0
        require(right, f"Finished must tell the exit code and that nothing was cut, not {_outcome(echoed)}")
        require(echoed.duration_s >= 0, "Finished.duration_s must be the seconds that the process took")
        empty = await trying.sh(workspace, "cat")
        require(empty.stdout == b"" and empty.exit_code == 0, "a process without input must see the end of stdin")
        await trying.said(workspace, "mkdir -p sub/folder")
        place = await trying.said(workspace, "pwd -P", cwd="sub/folder")
        relative = Path(place.rstrip("\n")).parts[-2:] == ("sub", "folder")
        require(relative, f"Command.cwd must be relative to the workspace root, but the process started in {place}")
        many = await asyncio.gather(*(trying.said(workspace, "cat", stdin=b"%d" % n) for n in range(8)))
        require(many == [str(n) for n in range(8)], f"processes at once must not mix their streams, but gave {many}")


async def _talks(trying: Trying) -> None:
    """An interactive process is talked to line by line; a streamed one is read line by line."""
    async with trying.open() as workspace:
        running = await trying.start(workspace, 'while read -r line; do echo "got $line"; done', interactive=True)
        lines = running.lines()
        for word in ("one", "two"):
            await answered("Running.write", trying.patience_s, running.write, f"{word}\n".encode())
            line = await answered("Running.lines", trying.patience_s, lines.__anext__)
            require(line == f"got {word}".encode(), f"Running.lines must give lines without their ends, not {line!r}")
        streamed = await trying.start(workspace, "cat; while :; do sleep 1; done", streamed=True, stdin=b"one\n")
        line = await answered("Running.lines", trying.patience_s, streamed.lines().__anext__)
        require(line == b"one", f"Running.lines must give what a streamed process made of its stdin, not {line!r}")
        await answered("Running.stop", trying.patience_s, running.stop)
        try:
            await asyncio.wait_for(running.write(b"three\n"), trying.patience_s)
        except BrokenPipeError:
            return
        raise AssertionError("Running.write must raise BrokenPipeError when the process no longer reads")


async def _fails_to_launch(trying: Trying) -> None:
    """Check that a command that cannot be started raises `LaunchError`."""
    async with trying.open() as workspace:
        for subject, command in (
            ("an absent program", Command(argv=("no-such-program-anywhere",))),
            ("an absent working directory", Command(argv=("sh", "-c", "true"), cwd="no/such/folder")),
        ):
            try:
                await (await workspace.start(command)).wait()
            except LaunchError:
                continue
            except Exception as error:
                outcome = f"raised {type(error).__name__}: {error}"
                raise AssertionError(f"Workspace.start of {subject} must raise LaunchError, but {outcome}") from error
            raise AssertionError(f"Workspace.start of {subject} must raise LaunchError, but went on")


async def _moves_files(trying: Trying) -> None:
    """Files come in, are seen, and come out."""
    source = trying.outside / "source.bin"
    source.write_bytes(bytes(range(256)))
    async with trying.open() as workspace:
        text = "line\n\u05e9\u05dc\u05d5\u05dd \U0001f9ea\n"
        files = [
            FileSpec(path="a/b c/text.txt", text=text),
            FileSpec(path="run.sh", text="#!/bin/sh\necho ran\n", executable=True),
            FileSpec(path="copy.bin", source=str(source)),
        ]
        await answered("Workspace.put", trying.patience_s, workspace.put, files)
        require(await trying.said(workspace, "cat 'a/b c/text.txt'") == text, "Workspace.put must write texts as UTF-8")
        require(await trying.said(workspace, "./run.sh") == "ran\n", "Workspace.put must make executable what says so")
        copied = await trying.collect(workspace, "copy.bin", 1000)
        require(copied == bytes(range(256)), "Workspace.put must copy a source file byte by byte")
        cut = await trying.collect(workspace, "copy.bin", 10)
        require(cut == bytes(range(10)), f"Workspace.collect must give at most `limit` bytes, but gave {shown(cut)}")
        before = await trying.snapshot(workspace)
        expected = {file.path for file in files}
        require(
            set(before) == expected,
            f"Workspace.snapshot must name every file, {sorted(expected)}, not {sorted(before)}",
        )
        await trying.said(workspace, "echo made >made.txt; echo more >>run.sh")
        after = await trying.snapshot(workspace)
        require(set(after) == {*expected, "made.txt"}, "Workspace.snapshot must see the files that processes make")
        changed = {path for path in before if before[path] != after[path]}
        require(changed == {"run.sh"}, f"Workspace.snapshot must change for run.sh only, not for {sorted(changed)}")
        require(
            await trying.collect(workspace, "made.txt", 9) == b"made\n", "Workspace.collect must read what was made"
        )
        empty = [FileSpec(path="made.txt", text="")]
        await answered("Workspace.put over a file", trying.patience_s, workspace.put, empty)
        require(
            await trying.collect(workspace, "made.txt", 9) == b"", "Workspace.put must replace a file that is there"
        )


async def _refuses_escapes(trying: Trying) -> None:
    """Nothing is read or written outside, whatever paths and links say."""
    hidden = trying.outside / "hidden.txt"
    hidden.write_text(trying.secret)
    async with trying.open() as workspace:
        links = f"ln -s {trying.outside} folder; ln -s {hidden} link; ln -s . loop; echo mine >own.txt"
        await trying.said(workspace, links)
        up = "../" * 20
        away = f"{trying.outside}/new.txt"
        for path in ("folder/new.txt", "../escaped.txt", away, f"a/{up}{away[1:]}"):
            await _require_refused(workspace, path)
        with suppress(ValueError):  # a link may also be replaced, as long as what it points to is left alone
            await workspace.put([FileSpec(path="link", text="replaced")])
        untouched = hidden.read_text() == trying.secret and not Path(away).exists()
        require(untouched, "Workspace.put must write nothing outside, through links neither")
        for path in ("folder/hidden.txt", "link", str(hidden), f"{up}{str(hidden)[1:]}", "absent.txt"):
            try:
                got = await workspace.collect(path, 1000)
            except _REFUSALS:
                continue
            replaced = path == "link" and got == b"replaced"
            require(replaced, f"Workspace.collect of {path!r} must be refused, but gave {shown(got)}")
        paths = [path for path in await trying.snapshot(workspace) if path not in ("own.txt", "link", "folder", "loop")]
        require(not paths, f"Workspace.snapshot must follow no link, but names {shown(paths)}")


async def _grades_afresh(trying: Trying) -> None:
    """Graders find nothing that an agent prepared, and their files find their place whatever is there."""
    async with trying.open() as workspace:
        await trying.said(workspace, 'for one in "$HOME" "$TMPDIR"; do echo x >"$one/seen"; done; echo kept >kept')
        look = 'for one in "$HOME" "$TMPDIR"; do test -w "$one" && test ! -e "$one/seen" || exit 1; done; cat kept'
        finished = await trying.sh(workspace, look, fresh=True)
        fresh = "a command with `fresh` must have a HOME and a TMPDIR that nothing in the workspace has seen"
        require(finished.exit_code == 0, f"{fresh}: {_outcome(finished)}")
        require(finished.stdout == b"kept\n", "a command with `fresh` must see the files below the root")
        script = "mkdir -p graders/check.sh answer.txt; echo x >graders/other.sh; ln -s / elsewhere"
        await trying.said(workspace, script)
        files = [FileSpec(path=path, text="mine\n") for path in ("graders/check.sh", "answer.txt", "elsewhere/x.txt")]
        await answered("Workspace.put with `anew`", trying.patience_s, workspace.put, files, anew=True)
        for file in files:
            got = await trying.collect(workspace, file.path, 10)
            require(
                got == b"mine\n", f"Workspace.put with `anew` must put {file.path!r} in its place, not {shown(got)}"
            )
        others = await trying.said(workspace, "ls graders")
        require(
            others == "check.sh\n", f"Workspace.put with `anew` must empty folders of its own, not leave {others!r}"
        )


async def _require_refused(workspace: Workspace, path: str) -> None:
    file = FileSpec.model_construct(path=path, text="escaped", source=None, executable=False, digest="")
    try:
        await workspace.put([file])
    except ValueError:
        return
    except Exception as error:
        outcome = f"raised {type(error).__name__}: {error}"
        raise AssertionError(f"Workspace.put to {path!r} must raise ValueError, but {outcome}") from error
    raise AssertionError(f"Workspace.put to {path!r} must raise ValueError, because that leaves the workspace")


async def _caps(trying: Trying) -> None:
    """Output beyond the limit is dropped and counted, of each stream for itself."""
    async with trying.open() as workspace:
        much = "head -c 200000 /dev/zero; head -c 300000 /dev/zero >&2"
        finished = await trying.sh(workspace, much, output_bytes=1000)
        kept = (len(finished.stdout), len(finished.stderr))
        require(
            kept == (1000, 1000), f"Command.output_bytes must bound each stream to 1000 bytes, but {kept} were kept"
        )
        dropped = (finished.stdout_dropped, finished.stderr_dropped)
        right = dropped == (199_000, 299_000) and finished.exit_code == 0
        require(
            right, f"Finished must count the dropped bytes, 199000 and 299000, while it runs on: {_outcome(finished)}"
        )


async def _kills(trying: Trying) -> None:
    """Check that a process, however it ends, takes its grandchildren along, even those that ignore signals."""
    await asyncio.gather(*(_kills_at(trying, how) for how in _ENDS))


async def _kills_at(trying: Trying, how: str) -> None:
    end = _ENDS[how]
    outside = trying.outside / f"{how}.beat"
    outside.touch()
    outside.chmod(0o666)  # a sandbox may run its processes as somebody else
    limits = _TIMEOUTS_S if how == "timeout" else (None,)
    for limit in limits:
        async with trying.open(writable=(str(trying.outside),)) as workspace:
            beat_seen = workspace.root / outside.name if trying.where else outside
            beat = trying.where(beat_seen) if trying.where else outside
            command = Command(argv=("sh", "-c", _SCRIPTS[how == "end"], str(beat_seen)), timeout_s=limit)
            running = await answered("Workspace.start", trying.patience_s, workspace.start, command)
            waiting = asyncio.ensure_future(running.wait())
            await asyncio.sleep(0)  # a task that has not begun would be cancelled without anybody noticing
            if not await _beats(beat, waiting, trying.patience_s) and limit != limits[-1]:
                continue  # this machine is busy
            outcome = _outcome(waiting.result()) if waiting.done() else "it wrote nothing"
            clause = f"SandboxSpec.writable must let a process write to a folder outside, but {outcome}"
            require(_size(beat), clause)
            await _require_end(trying, how, running, waiting, beat)
        break
    if how == "close":
        await asyncio.wait({waiting}, timeout=trying.patience_s)
        require(waiting.done(), f"{end} must end Running.wait of what was started in it")
        await _require_dead(beat, end)
        called("Running.wait of a process that ended with its workspace", waiting.result)


async def _require_end(
    trying: Trying, how: str, running: Running, waiting: asyncio.Future[Finished], beat: Path
) -> None:
    if how == "close":
        return
    if how == "cancel":
        waiting.cancel()
    elif how == "stop":
        await answered("Running.stop", trying.patience_s, running.stop)
    await asyncio.wait({waiting}, timeout=trying.patience_s)
    require(waiting.done(), f"{_ENDS[how]} must come to its end, but Running.wait goes on")
    await _require_dead(beat, _ENDS[how])
    if how == "timeout":
        require(waiting.result().timed_out, "Finished.timed_out must tell that a command exceeded its timeout_s")


async def _beats(beat: Path, waiting: asyncio.Future[Finished], patience_s: float) -> bool:
    """Wait for the first sign of life, or for the end."""
    for _ in range(int(patience_s / 0.02)):
        if _size(beat) or waiting.done():
            break
        await asyncio.sleep(0.02)
    return _size(beat) > 0


async def _require_dead(beat: Path, subject: str) -> None:
    size = _size(beat)
    await asyncio.sleep(_QUIET_S)  # the one thing that only time can show
    require(_size(beat) == size, f"{subject} must kill grandchildren too, but one is still writing")


def _size(beat: Path) -> int:
    """Bytes of a file that need not be there: it lies in the workspace, if that is on another machine."""
    return beat.stat().st_size if beat.exists() else 0


async def _has_own_environment(trying: Trying) -> None:
    """The environment is built from an allow list and what is asked for."""
    async with trying.open() as workspace:
        environment_text = await trying.said(workspace, "env")
        require(trying.secret not in environment_text, f"a process must not see {CANARY}, which nobody passed on")
        variable = await trying.said(workspace, 'echo "$GIVEN"', env={"GIVEN": "by the command"})
        require(variable == "by the command\n", "Command.env must be added to the environment of its process")
        again = await trying.said(workspace, 'echo "$GIVEN"')
        require(again == "\n", "Command.env must not reach other processes of the workspace")
        folders = 'for d in "$HOME" "$TMPDIR"; do echo x >"$d/probe" && rm "$d/probe" || exit 1; done'
        await trying.said(workspace, folders)
    env: JsonObject = {"GIVEN": "by the spec"}
    async with trying.open(pass_env=(CANARY,), env=env) as workspace:
        passed = await trying.said(workspace, f'echo "${CANARY} $GIVEN"')
        right = passed == f"{trying.secret} by the spec\n"
        require(right, "SandboxSpec.pass_env and SandboxSpec.env must reach the processes of the workspace")


async def _is_private(trying: Trying) -> None:
    """Two workspaces share no folder, and nothing of them is left."""
    mark = f"mark-{uuid4().hex}"
    places = ("$PWD", "$HOME", "$TMPDIR")
    async with trying.open() as first, trying.open() as second:
        folders = []
        for place in places:
            folders.append((await trying.said(first, f'echo "{place}"; echo x >"{place}/{mark}"')).strip())
        for place in places:
            finished = await trying.sh(second, f'test ! -e "{place}/{mark}"')
            require(finished.exit_code == 0, f"two workspaces must not share {place}")
        was_written = await trying.sh(first, f'test -e "$HOME/{mark}" && test -e "$TMPDIR/{mark}"')
        require(was_written.exit_code == 0, "HOME and TMPDIR must stay as they are for the time of a workspace")
        root = first.root
    remaining = [folder for folder in folders if (Path(folder) / mark).exists()]
    require(not remaining, f"a workspace must be removed at its end, but {', '.join(remaining)} is still there")
    require(not (root / mark).exists(), f"a workspace must be removed at its end, but {root} is still there")


def _outcome(finished: Finished) -> str:
    streams = f"{finished.stdout_dropped} and {finished.stderr_dropped} bytes dropped, stderr {shown(finished.stderr)}"
    return f"exit code {finished.exit_code}, signal {finished.signal}, timed_out {finished.timed_out}, {streams}"
