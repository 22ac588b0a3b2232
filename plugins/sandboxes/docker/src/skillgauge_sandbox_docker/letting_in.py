"""The way out of a container without a network: to the model's API, by a relay outside.

A process inside hands its listening sockets out, through a socket in a folder that the container sees for reading; what
connects to them is served outside from then on. So the image needs `python3`, and nothing of the network does.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from skillgauge.api import Command, LaunchError, Running, SandboxSpec

from .options import DockerOptions

if TYPE_CHECKING:
    from skillgauge_model_relay import Relay

MIB = 1024 * 1024
_SOCKET = "socket"
_FIRST_PORT, _PORTS = 20_000, 12_000
"""All below those that Linux gives to clients, of which any may be taken where a network is shared."""
_PATIENCE_S = 60.0
_READY = b"ready"
_INSIDE = """
import array, os, socket, sys
os.chdir(sys.argv[1])
channel = socket.socket(socket.AF_UNIX)
channel.connect(sys.argv[2])
listeners = []
for port in sys.argv[3].split(","):
    listeners.append(socket.socket())
    listeners[-1].bind(("127.0.0.1", int(port)))
    listeners[-1].listen(128)
handles = array.array("i", [one.fileno() for one in listeners])
channel.sendmsg([b"?"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
if channel.recv(1):
    print("ready", flush=True)
    channel.recv(1)
"""


def make_relay(spec: SandboxSpec, options: DockerOptions) -> Relay:
    """The relay of a workspace."""
    from skillgauge_model_relay import Relay, RelayLimits  # noqa: PLC0415 - few workspaces need its HTTP client

    limits = RelayLimits(requests=options.relay_requests, total_bytes=options.relay_mb * MIB)
    # Where a container shares a network with somebody, ports may be taken; any will do.
    return Relay(spec.routes, spec.hosts, limits, first_port=_FIRST_PORT + secrets.randbelow(_PORTS))


async def let_in(relay: Relay, place: Path, start: Callable[[Command], Awaitable[Running]], image: str) -> None:
    """Have the container hand out its sockets.

    Args:
        relay: serves them.
        place: an empty folder that the container sees.
        start: starts a process in the container, which ends with the workspace.
        image: of the container, for messages.

    Raises:
        LaunchError: it does not.
    """
    advice = "use an image that has python3, choose another sandbox with --sandbox, or give containers their network"
    relay.admit_at(place / _SOCKET)
    ports = ",".join(map(str, relay.ports()))
    command = Command(argv=("python3", "-I", "-S", "-c", _INSIDE, str(place), _SOCKET, ports), streamed=True)
    running = await start(command)
    try:
        line = await asyncio.wait_for(anext(aiter(running.lines()), b""), _PATIENCE_S)
    except TimeoutError:
        line = b""
    if line != _READY:
        last_line = (await running.stop()).stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        detail = f" ({last_line})" if last_line else ""
        raise LaunchError(f"no way to the model's API leads out of a container of image {image!r}{detail}; {advice}")
