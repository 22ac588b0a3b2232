"""The daemon that tests of containers share ends with them, however they end."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import docker_daemons
from docker_daemons import IMAGE, DockerDaemon

ROOT = Path(__file__).resolve().parents[2]
KILLED = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from docker_daemons import shared_daemon
with shared_daemon(Path(sys.argv[2])):
    print("running", flush=True)
    time.sleep(300)
"""


@pytest.mark.slow
@pytest.mark.containers
@pytest.mark.usefixtures("docker_daemon")
def test_a_daemon_ends_with_its_users() -> None:
    """It stays while one of two processes needs it, and is put away, mounts included, after both were killed."""
    folder = Path(tempfile.mkdtemp(prefix="skillgauge-docker-"))  # short: paths of sockets are
    command = [sys.executable, "-c", KILLED, str(ROOT / ".ci/services"), str(folder)]
    users = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    for user in users:
        assert user.stdout is not None
        assert user.stdout.readline() == b"running\n"
    pid = int((folder / "pid").read_text())
    for user in users:
        assert IMAGE in DockerDaemon(folder).call("images", "--format", "{{.Repository}}:{{.Tag}}")
        user.send_signal(signal.SIGKILL)
        user.communicate()
    docker_daemons.await_end(folder)
    assert not folder.exists()
    assert not Path(f"/proc/{pid}").exists()
    assert str(folder) not in Path("/proc/self/mounts").read_text()
