"""The targets of attacks: files, servers and a process that the suite makes itself, and nothing else."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import JsonObject

SERVICE = "127.0.0.1"
OTHER_HOST = "127.0.0.77"
"""Stands for another machine: an address of this one that nothing else uses."""


@dataclass(frozen=True)
class Grounds:
    """The place of attacks."""

    secret_file: Path
    """In a folder that nothing is told of."""
    open_folder: Path
    """Anybody may write there, as far as the file system is concerned."""
    shown_folder: Path
    """Shown to the workspace for reading."""
    service: str
    """`host:port` of a server of this machine that says a canary."""
    services: tuple[str, ...]
    """Every address at which something on this machine answers, as the attacker writes it."""
    others: tuple[str, ...]
    """The same for the other host."""
    victim: subprocess.Popen[bytes]
    """A process of the user's, with the key in its environment and the token in its arguments."""
    token: str
    key: str

    @property
    def victim_environment(self) -> JsonObject:
        """Return the environment by which the key reaches a process that needs it."""
        return {"ATTACK_API_KEY": self.key}


@contextmanager
def grounds() -> Iterator[Grounds]:
    """Make it all, and remove it all."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skillgauge-attacked-"))).resolve()
        folder.chmod(0o755)
        places = {}
        for name in ("secret", "open", "shown"):
            places[name] = folder / name
            places[name].mkdir()
            places[name].chmod(0o777 if name == "open" else 0o755)
        (places["secret"] / "id_ed25519").write_text("canary")
        tcp, udp = (stack.enter_context(_server(kind, SERVICE)) for kind in ("tcp", "udp"))
        others = tuple(stack.enter_context(_server(kind, OTHER_HOST)) for kind in ("tcp", "udp"))
        unix = stack.enter_context(_server("unix", str(places["secret"] / "socket")))
        abstract = stack.enter_context(_server("unix", f"@skillgauge-{secrets.token_hex(8)}"))
        token, key = secrets.token_hex(16), f"sk-attack-{secrets.token_hex(16)}"
        victim = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", token],
            env={"ATTACK_API_KEY": key},
            stdin=subprocess.DEVNULL,
        )
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        yield Grounds(
            secret_file=places["secret"] / "id_ed25519",
            open_folder=places["open"],
            shown_folder=places["shown"],
            service=tcp.removeprefix("tcp:"),
            services=(tcp, udp, unix, abstract),
            others=others,
            victim=victim,
            token=token,
            key=key,
        )


@contextmanager
def _server(kind: str, where: str) -> Iterator[str]:
    """A server that answers everything with a canary; gives its address as the attacker writes it."""
    family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as server:
        server.bind(where.replace("@", "\0", 1) if kind == "unix" else (where, 0))
        if kind != "udp":
            server.listen()
        serve = _answer_datagrams if kind == "udp" else _answer_connections
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        yield f"unix:{where}" if kind == "unix" else f"{kind}:{where}:{server.getsockname()[1]}"
        try:
            server.shutdown(socket.SHUT_RDWR)  # wakes the thread, which a mere close does not
        except OSError:
            return
        finally:
            thread.join(1)


def _answer_connections(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            try:
                connection.recv(1000)
                connection.sendall(b"canary")
            except OSError:
                continue


def _answer_datagrams(server: socket.socket) -> None:
    while True:
        try:
            _, sender = server.recvfrom(1000)
            if not sender:  # shut down
                return
            server.sendto(b"canary", sender)
        except OSError:
            return
