"""PostgreSQL servers for the tests: one that all tests of a run share, and others that a test may restart and kill.

A server runs as an ordinary user (when root asks, as `nobody`, since PostgreSQL refuses to be root), in a folder of its
own, on a unix socket there and on a free port of 127.0.0.1. A supervisor ends it when no process of the test run holds
its lock any more, which is also so after `kill -9`.

As a script (`python postgres_servers.py FOLDER PORT`) this file is that supervisor.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

VARIABLE = "TESTS_POSTGRES_FOLDER"
"""Names the folder of the shared server, the same in all workers."""
USER = "tests"
"""The superuser of the server; anybody on this machine gets in by the socket, by the port with this password only."""
PASSWORD = "not-a-secret-of-anybody"
_PATIENCE_S = 60.0
_LOCK, _READY, _LOG, _VERSION, _SUPERVISOR = "users", "ready", "log", "version", "supervisor"
_SETTINGS = ("shared_buffers=32MB", "max_connections=60", "log_min_messages=warning", "wal_writer_delay=200ms")


def programs() -> Path | None:
    """The folder with the newest installed server; Debian puts none on PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    for folder in [*folders, *(Path(path) for path in os.environ.get("PATH", "").split(":") if path)]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


def missing() -> str:
    """Return why no server can be started here; empty if nothing is missing."""
    if os.name != "posix":
        return "the tests start PostgreSQL on POSIX systems only"
    if programs() is None:
        return "PostgreSQL's server is not installed (make postgres)"
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL refuses to run as root, and there is no setpriv"
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return f"PostgreSQL runs as users with a name only, and user {os.getuid()} has none (/etc/passwd)"
    return ""


@dataclass(frozen=True)
class PostgresServer:
    """A server that answers."""

    folder: Path
    port: int

    @property
    def socket(self) -> str:
        """Folder of its unix socket."""
        return str(self.folder / "s")

    def address(self, database: str, *, user: str = USER) -> str:
        """Of a database by the socket, where nobody needs a password."""
        return f"postgresql://{user}@/{database}?host={self.socket}&port={self.port}"

    def tcp_address(self, database: str, *, user: str = USER, port: int | None = None) -> str:
        """Of a database by the port, where everybody needs a password."""
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{database}?sslmode=disable"

    def psql(self, sql: str, database: str = "postgres", *, user: str = USER) -> str:
        """Run statements; returns what they print, without headings. Raises `CalledProcessError` if one fails."""
        words = [*self._client("psql", user), "-d", database, "-v", "ON_ERROR_STOP=1", "-XAtqc", sql]
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout.strip()

    def run(self, program: str, *words: str, user: str = USER) -> subprocess.CompletedProcess[str]:
        """Run a client program, as pg_dump is, with the address in front of further words."""
        return subprocess.run(
            [*self._client(program, user), *words], capture_output=True, text=True, check=False, timeout=300
        )

    def create(self, database: str) -> str:
        """Make an empty database; returns its address."""
        self.psql(f'CREATE DATABASE "{database}" TEMPLATE template0')
        return self.address(database)

    def stop(self, mode: str) -> None:
        """Stop it as `pg_ctl stop -m MODE` does."""
        self._control("stop", "-m", mode)

    def start(self) -> None:
        """Start it again."""
        self._control("start", "-l", str(self.folder / _LOG))

    def _control(self, *words: str) -> None:
        program = str(_found() / "pg_ctl")
        data = str(self.folder / "data")
        subprocess.run(
            _as_user([program, "-D", data, "-w", "-s", *words]), check=True, timeout=300, stdin=subprocess.DEVNULL
        )

    def _client(self, program: str, user: str) -> list[str]:
        return [str(_found() / program), "-h", self.socket, "-p", str(self.port), "-U", user]


@contextmanager
def server(folder: Path, settings: Sequence[str] = ()) -> Iterator[PostgresServer]:
    """A server of the caller's own, which may be stopped and started."""
    running = _make(folder, settings)
    running.start()
    try:
        yield running
    finally:
        pid = _pid(folder)
        if pid:
            running.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def shared_server(folder: Path) -> Iterator[PostgresServer]:
    """Use the server of a folder, started unless it runs.

    Raises:
        RuntimeError: it does not start; the message ends with its log.
    """
    folder.mkdir(mode=0o711, exist_ok=True)
    with (folder / "starting").open("w") as starting, (folder / _LOCK).open("w") as users:
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)  # waits while a supervisor puts an earlier server away
        if not (folder / _READY).exists():
            _start_shared(folder)
        running = PostgresServer(folder / "server", int((folder / _READY).read_text(encoding="ascii")))
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield running


def version_of(folder: Path) -> str:
    """Return the version of the shared server that runs or ran in a folder; empty if none did."""
    try:
        return (folder / _VERSION).read_text(encoding="utf-8")
    except OSError:
        return ""


def await_end(folder: Path) -> None:
    """Wait until the shared server of a folder has ended, and remove the folder."""
    if folder.exists():
        with (folder / _SUPERVISOR).open("w") as supervisor:
            fcntl.flock(supervisor, fcntl.LOCK_EX)  # a supervisor has it until all is put away
        shutil.rmtree(folder)


def _start_shared(folder: Path) -> None:
    shutil.rmtree(folder / "server", ignore_errors=True)  # of a start that failed
    running = _make(folder / "server", ())
    words = [sys.executable, "-I", "-S", __file__, str(folder), str(running.port)]
    with (folder / _LOG).open("wb") as log:
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    until = time.monotonic() + _PATIENCE_S
    while not (folder / _READY).exists():
        if time.monotonic() > until:
            raise RuntimeError(f"PostgreSQL does not start: {(folder / _LOG).read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
    (folder / _VERSION).write_text(running.psql("SHOW server_version"), encoding="utf-8")


def _make(folder: Path, settings: Sequence[str]) -> PostgresServer:
    """Make the files of a server."""
    folder.mkdir(mode=0o755)
    (folder / "s").mkdir()
    password = folder / "password"
    password.write_text(f"{PASSWORD}\n", encoding="ascii")
    if os.getuid() == 0:
        user = pwd.getpwnam("nobody")
        for path in (folder, folder / "s", password):
            os.chown(path, user.pw_uid, user.pw_gid)
    words = ["--auth-local=trust", "--auth-host=scram-sha-256", "-U", USER, f"--pwfile={password}", "-E", "UTF8"]
    initdb = [str(_found() / "initdb"), "-D", str(folder / "data"), "--locale=C", "--no-sync", *words]
    done = subprocess.run(_as_user(initdb), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"initdb fails: {done.stderr[-2000:]}")
    port = _free_port()
    places = [f"port={port}", f"unix_socket_directories='{folder}/s'", "listen_addresses='127.0.0.1'"]
    with (folder / "data/postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("\n".join(["", *_SETTINGS, *places, *settings, ""]))
    return PostgresServer(folder, port)


def _found() -> Path:
    folder = programs()
    if folder is None:
        raise RuntimeError(missing())
    return folder


def _as_user(words: list[str]) -> list[str]:
    """The same command as an ordinary user."""
    if os.getuid() != 0:
        return words
    user = pwd.getpwnam("nobody")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *words]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _pid(folder: Path) -> int:
    """The process of a server; 0 if it does not run."""
    try:
        return int((folder / "data/postmaster.pid").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 0


def supervise(folder: Path, port: int) -> None:
    """Run the shared server of a folder until no process holds the lock of its users any more."""
    running = PostgresServer(folder / "server", port)
    with (folder / _SUPERVISOR).open("w") as supervisor, (folder / _LOCK).open("w") as users:
        fcntl.flock(supervisor, fcntl.LOCK_EX)
        try:
            running.start()
            (folder / _READY).write_text(str(port), encoding="ascii")
            while not _is_locked(users):
                time.sleep(0.1)
        finally:
            (folder / _READY).unlink(missing_ok=True)
            if _pid(running.folder):
                running.stop("immediate")
            shutil.rmtree(running.folder, ignore_errors=True)


def _is_locked(file: IO[str]) -> bool:
    """Take the lock of a file for this process alone; tells whether that was possible."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if os.fork() == 0:  # the process that asked waits for none that goes on
        os.setsid()
        supervise(Path(sys.argv[1]), int(sys.argv[2]))
