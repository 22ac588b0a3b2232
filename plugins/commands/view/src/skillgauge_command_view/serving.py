"""The server: a socket on this machine, and the end by Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path

import uvicorn

from skillgauge.api import Problem, UsageError

from .access import Names, Tickets, is_every_address
from .app import Desk, make_app
from .links import ServedLinks
from .rendering import Pages
from .sources import Runs

_LARGEST_HEAD = 16_384
"""Bytes of a request's head."""
_AT_ONCE = 64
"""Requests that are answered at the same time; a browser asks for a few."""


@dataclass(frozen=True)
class Place:
    """The address of the server.

    Args:
        host: an address or a name of this machine.
        port: 0 stands for a free one.
    """

    host: str
    port: int


class _Uvicorn(uvicorn.Server):
    """Ends by a signal and says nothing of it: uvicorn's own would raise it again, and so end the command by it."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """End by Ctrl-C or a signal to end, while this lasts."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Server:
    """Serves pages until it is stopped.

    Args:
        runs: what can be looked at.
        place: its address.
        desk: all that the pages offer beyond showing runs.

    Raises:
        UsageError: it cannot listen there.
    """

    def __init__(self, runs: Runs, place: Place, desk: Desk) -> None:
        self._socket = _listening(place)
        self.port: int = self._socket.getsockname()[1]
        self._tickets = Tickets(self.port)
        self._host = place.host
        self._pages = Pages(ServedLinks(), inline_style=False)
        app = make_app(runs, self._tickets, Names(place.host, self.port), desk, self._pages)
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                access_log=False,
                date_header=False,
                h11_max_incomplete_event_size=_LARGEST_HEAD,
                http="h11",
                lifespan="off",
                limit_concurrency=_AT_ONCE,
                log_config=None,
                loop="asyncio",
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=1,
                ws="none",
            )
        )

    @property
    def address(self) -> str:
        """The address that opens the first page, once."""
        return self.address_of("")

    def address_of(self, run: str) -> str:
        """The address that opens the page of a run, once; of the list, if it is empty.

        Args:
            run: its name in addresses.
        """
        shown = "localhost" if is_every_address(self._host) else self._host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}/?token={self._tickets.token}{f'&run={run}' if run else ''}"

    def serve(self) -> None:
        """Answer requests until Ctrl-C or a signal to end."""
        threading.Thread(target=self._pages.prepare, daemon=True).start()
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        finally:
            self.close()

    def close(self) -> None:
        """Give up the socket of a server that does not serve."""
        self._socket.close()

    def stop(self) -> None:
        """End; may be called from another thread."""
        self._server.should_exit = True


def _listening(place: Place) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()  # so that a browser which is faster than the server waits
        except OSError:
            listener.close()
            raise
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot listen on {place.host}, port {place.port}: {reason}"
        raise UsageError(Problem("view.address", message, hint="Leave --port out to take a free one.")) from None
    return listener


@contextmanager
def opened_in_browser(address: str, notice: Callable[[str], None]) -> Iterator[None]:
    """Open the address in the user's browser.

    The token must not stand in the arguments of a program, which every user of this machine can read; so the browser
    is given a file, which only this user can read and which leads on.
    """
    with tempfile.TemporaryDirectory(prefix="skillgauge-view-") as folder:
        page = Path(folder, "open.html")
        page.touch(mode=0o600)
        leading = f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
        page.write_text(f"<!doctype html><html lang='en'><title>skillgauge view</title>{leading}", encoding="utf-8")
        # A browser of a terminal returns when it ends, and is to be answered until then.
        threading.Thread(target=_open, args=(page.as_uri(), notice), daemon=True).start()
        yield


def _open(address: str, notice: Callable[[str], None]) -> None:
    try:
        is_open = webbrowser.open(address)
    except webbrowser.Error:
        is_open = False
    if not is_open:
        notice("no browser could be opened here; open the address yourself")
