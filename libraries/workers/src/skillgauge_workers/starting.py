"""Start a worker process on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from pathlib import Path

_STDERR = 2


class WorkerProcess:
    """A worker process, and this end of the connection that it lives by."""

    def __init__(self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self.pid = process.pid
        self.reader = reader
        self.writer = writer

    async def end(self, grace_s: float) -> str:
        """Close the connection, wait for the end of the process, and kill it and its group if that takes too long.

        Args:
            grace_s: how long that may take, in seconds.

        Returns:
            How it ended, as in "ended with signal 9".
        """
        self.writer.close()
        try:  # not `asyncio.timeout`, which tells no time-out to a task that is being cancelled (Python 3.11.2)
            await asyncio.wait_for(self._process.wait(), grace_s)
        except TimeoutError:
            if self._process.returncode is None:
                os.killpg(self.pid, signal.SIGKILL)
            await self._process.wait()
        code = self._process.returncode or 0
        return f"ended with signal {-code}" if code < 0 else f"ended with exit code {code}"


async def start_worker(grace_s: float, folder: Path | None = None) -> WorkerProcess:
    """Start a worker process; what its plugins print goes to standard error.

    Args:
        grace_s: how long it may take to stop what is under way once the connection is closed, in seconds.
        folder: where it runs; `None` is the folder of this process.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", f"{__package__}.program", str(theirs.fileno()), str(grace_s)),
                stdin=DEVNULL,
                stdout=_STDERR,  # what a plugin prints there would stand in the middle of a report
                cwd=folder,
                pass_fds=(theirs.fileno(),),
                process_group=0,  # Ctrl-C is for the process that runs the evaluation, which ends this one in time
            )
        except BaseException:
            writer.close()
            raise
    return WorkerProcess(process, reader, writer)
