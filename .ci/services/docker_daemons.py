"""A Docker daemon for the tests: started when the first test needs it, shared by the workers of pytest-xdist.

It has its own folders and its own socket, no bridge and no rule of a packet filter, so it changes nothing that another
daemon of the machine has. A supervisor ends it when no process of the test run holds its lock any more, which is also
so after `kill -9`.

As a script (`python docker_daemons.py FOLDER`) this file is that supervisor.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

VARIABLE = "TESTS_DOCKER_FOLDER"
"""Names the folder of the daemon, the same in all workers."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
IMAGE = "skillgauge-tests:1"
"""Has a shell and the interpreter of these tests."""
_PATIENCE_S = 60.0
_SUPERVISOR = "supervisor"
_LOCK, _READY, _LOG, _VERSION, _FAILED = "users", "ready", "log", "version", "failed"


@dataclass(frozen=True)
class DockerDaemon:
    """A daemon that answers."""

    folder: Path

    @property
    def host(self) -> str:
        """For DOCKER_HOST."""
        return f"unix://{self.folder}/socket"

    @property
    def environment(self) -> dict[str, str]:
        """For the client."""
        return {"PATH": PATH, "HOME": str(self.folder), "DOCKER_HOST": self.host}

    def call(self, *words: str, stdin: bytes | None = None) -> str:
        """Run the client; returns its stdout. Raises `CalledProcessError` if it fails."""
        done = subprocess.run(
            ["docker", *words], input=stdin, capture_output=True, env=self.environment, timeout=300, check=True
        )
        return done.stdout.decode()


def missing() -> str:
    """Return why no daemon can be started here; empty if nothing is missing."""
    if os.name != "posix" or os.getuid() != 0:
        return "only root can start a Docker daemon"
    absent = [name for name in ("dockerd", "docker", "busybox", "ldd") if shutil.which(name, path=PATH) is None]
    return f"{' and '.join(absent)} not installed (make containers)" if absent else ""


@contextmanager
def shared_daemon(folder: Path) -> Iterator[DockerDaemon]:
    """Use the daemon of a folder, started unless it runs, with the image of the tests in it.

    Raises:
        RuntimeError: it does not start; the message ends with its log.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "starting").open("w") as starting, (folder / _LOCK).open("w") as users:
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)  # waits while a supervisor puts an earlier daemon away
        if not (folder / _READY).exists():
            _start(folder)
        daemon = DockerDaemon(folder)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield daemon


def version_of(folder: Path) -> str:
    """Return the version of the daemon that runs or ran in a folder; empty if none did."""
    try:
        return (folder / _VERSION).read_text(encoding="ascii")
    except OSError:
        return ""


def await_end(folder: Path) -> None:
    """Wait until the daemon of a folder has ended, and remove the folder."""
    if folder.exists():
        with (folder / _SUPERVISOR).open("w") as supervisor:
            fcntl.flock(supervisor, fcntl.LOCK_EX)  # a supervisor has it until all is put away
        shutil.rmtree(folder)


def _start(folder: Path) -> None:
    (folder / _FAILED).unlink(missing_ok=True)
    words = [sys.executable, "-I", "-S", __file__, str(folder)]
    with (folder / _LOG).open("wb") as log:
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"PATH": PATH}, check=True)
    until = time.monotonic() + _PATIENCE_S
    daemon = DockerDaemon(folder)
    while time.monotonic() < until and not (folder / _FAILED).exists():
        with suppress(subprocess.SubprocessError):
            version = daemon.call("version", "--format", "{{.Server.Version}}").strip()
            _import_image(daemon)
            (folder / _VERSION).write_text(version, encoding="ascii")
            (folder / _READY).touch()
            return
        time.sleep(0.1)
    raise RuntimeError(f"dockerd does not start: {(folder / _LOG).read_text(errors='replace')[-2000:]}")


def _import_image(daemon: DockerDaemon) -> None:
    with tempfile.NamedTemporaryFile(dir=daemon.folder, suffix=".tar") as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            _fill(archive)
        file.flush()
        daemon.call("import", file.name, IMAGE)


def _fill(archive: tarfile.TarFile) -> None:
    """Put a small system of this machine's own files in: busybox, and the interpreter with its standard library."""
    for name in ("bin", "etc", "proc", "sys", "dev", "tmp", "usr", "usr/bin"):
        _add_folder(archive, name)
    busybox = Path(str(shutil.which("busybox", path=PATH))).resolve()
    archive.add(busybox, "bin/busybox")
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    for applet in applets:
        if applet != "busybox":
            _add_link(archive, f"bin/{applet}", "busybox")
    prefix, python = Path(sys.base_prefix).resolve(), Path(sys.executable).resolve()
    library = Path(os.__file__).resolve().parent
    extensions = [str(path) for path in library.glob("lib-dynload/*.so")]
    for path in _libraries([str(python), *extensions]):
        archive.add(path.resolve(), str(path).lstrip("/"))
    archive.add(python, str(python).lstrip("/"))
    archive.add(library, str(library).lstrip("/"), filter=_is_needed)
    for place in {"usr/bin/python3", f"{prefix}/bin/python3".lstrip("/")} - {str(python).lstrip("/")}:
        _add_link(archive, place, str(python))
    su = archive.gettarinfo(busybox, "bin/su-with-setuid-bit")
    su.mode = 0o4755
    with busybox.open("rb") as content:
        archive.addfile(su, content)


def _libraries(programs: list[str]) -> set[Path]:
    done = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False)
    words = [word for line in done.stdout.splitlines() if line.startswith("\t") for word in line.split()]
    return {Path(word) for word in words if word.startswith("/")}


_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "ensurepip", "__pycache__"}


def _is_needed(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(entry.name).name
    return None if name in _LEFT_OUT or name.startswith("config-") else entry


def _add_folder(archive: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
    archive.addfile(entry)


def _add_link(archive: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    archive.addfile(entry)


def supervise(folder: Path) -> None:
    """Run the daemon of a folder until no process holds the lock of its users any more, or it ends by itself."""
    words = ["dockerd", "--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec", "--pidfile", f"{folder}/pid"]
    words += ["--host", f"unix://{folder}/socket", "--bridge=none", "--iptables=false", "--ip6tables=false"]
    words += ["--ip-forward=false", "--ip-masq=false"]
    with (folder / _SUPERVISOR).open("w") as supervisor, (folder / _LOCK).open("w") as users:
        fcntl.flock(supervisor, fcntl.LOCK_EX)
        daemon = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            while daemon.poll() is None and not _is_locked(users):
                time.sleep(0.1)
        finally:
            (folder / _READY).unlink(missing_ok=True)
            (folder / _FAILED).touch()
            _end(daemon)
            _unmount_below(folder)
            for name in ("data", "exec"):
                shutil.rmtree(folder / name, ignore_errors=True)


def _is_locked(file: IO[str]) -> bool:
    """Take the lock of a file for this process alone; tells whether that was possible."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _end(daemon: subprocess.Popen[bytes]) -> None:
    """End a daemon, with its containers and its containerd."""
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _unmount_below(folder: Path) -> None:
    """Take away what a daemon that was killed has left mounted, the innermost first."""
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for place in sorted((one for one in mounts if one.startswith(f"{folder}/")), key=len, reverse=True):
        subprocess.run(["umount", "--lazy", place], check=False)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if os.fork() == 0:  # the process that asked waits for none that goes on
        os.setsid()
        supervise(Path(sys.argv[1]))
