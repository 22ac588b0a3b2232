"""The gate in front of every page: who may ask, under which name, and what a browser may do with an answer.

Whoever can reach the port could be another program of this machine, another machine, or a page of a stranger in the
user's browser. So every request needs the cookie that the one-time token was changed for, names this server as `Host`
(a name of a stranger that leads here is refused), and comes from no other page. Answers allow no script at all.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from threading import Lock
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""No script, no style in a page, nothing from elsewhere, no frame."""
STYLE, ICON = "/view.css", "/view.svg"
"""The addresses that need no cookie: they are the same for everybody, and say nothing of any run."""
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_READING = frozenset({"GET", "HEAD"})
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass
class Tickets:
    """The token that opens the first page, and the cookie that it is changed for. A token works once.

    Args:
        port: of the server.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    form_key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """Stands in every form that writes, so that only a page of ours can send one."""
    _is_spent: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def cookie_name(self) -> str:
        """The name of the cookie; browsers do not tell ports of a host apart, so the name does."""
        return f"skillgauge-view-{self.port}"

    @property
    def cookie(self) -> str:
        """The header that gives a browser the cookie."""
        return f"{self.cookie_name}={self._session}; HttpOnly; SameSite=Strict; Path=/"

    def spend(self, token: str) -> bool:
        """Tell whether this is the token and was not used before; it is used now."""
        with self._lock:
            is_good = not self._is_spent and _is_same(token, self.token)
            self._is_spent = self._is_spent or is_good
            return is_good

    def admits_form(self, key: str) -> bool:
        """Tell whether a form that writes is from one of our pages."""
        return _is_same(key, self.form_key)

    def admits(self, headers: Headers) -> bool:
        """Tell whether a request brings the cookie."""
        try:
            morsel = SimpleCookie("; ".join(headers.getlist("cookie"))).get(self.cookie_name)
        except CookieError:
            return False
        return morsel is not None and _is_same(morsel.value, self._session)


@dataclass(frozen=True)
class Names:
    """The names under which a browser may ask this server.

    Args:
        host: what the server listens on, as the user wrote it.
        port: of the server.
    """

    host: str
    port: int

    def allow(self, host_asked: str) -> bool:
        """Tell whether a `Host` means this server.

        Of a server that listens on every address, any number is one of its own: only a name can be turned to another
        machine by whoever owns it.
        """
        name, port = _split(host_asked)
        if port != str(self.port):
            return False
        own = {*_LOOPBACK_NAMES, self.host.lower(), f"[{self.host.lower()}]"}
        return name in own or (is_every_address(self.host) and _is_address(name.strip("[]")))


def is_loopback(host: str) -> bool:
    """Tell whether nothing but this machine can reach an address or name."""
    return host.lower() == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def is_every_address(host: str) -> bool:
    """Tell whether a server on this address listens on all of the machine's."""
    return _is_address(host) and ip_address(host).is_unspecified


class Gate:
    """An ASGI application that lets only admitted requests through to another, and marks its answers.

    Args:
        app: what answers.
        tickets: the token and the cookie.
        names: the names of this server.
        refuse: makes the page that says why a request is refused: of status, title and text.
        welcome: makes the page that a browser gets with its cookie: of the run that the address names, if any.
    """

    def __init__(
        self,
        app: ASGIApp,
        tickets: Tickets,
        names: Names,
        *,
        refuse: Callable[[int, str, str], Response],
        welcome: Callable[[str], Response],
    ) -> None:
        self._app = app
        self._tickets = tickets
        self._names = names
        self._refuse = refuse
        self._welcome = welcome

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._answer(scope, Headers(scope=scope))
        await (answer or self._app)(scope, receive, marked)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request that is not handed on."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._names.allow(hosts[0]):
            return self._refuse(421, "Wrong host", "This server answers to its own address only.")
        if not self._is_from_here(scope["method"], headers, hosts[0]):
            return self._refuse(403, "Refused", "The request comes from another page.")
        if self._tickets.admits(headers) or scope["path"] in (STYLE, ICON):
            return None
        if scope["path"] == "/" and scope["method"] == "GET":
            words = parse_qs(scope["query_string"].decode("latin-1"))
            if self._tickets.spend(words.get("token", [""])[0]):
                answer = self._welcome(words.get("run", [""])[0])
                answer.headers["Set-Cookie"] = self._tickets.cookie
                return answer
        message = (
            "The address that `skillgauge view` printed opens these pages once, in one browser. If it was used "
            "already, end the command with Ctrl-C and start it again."
        )
        return self._refuse(401, "Not open", message)

    def _is_from_here(self, method: str, headers: Headers, host: str) -> bool:
        """Tell whether a request was made by a page of ours or by the user.

        A browser names the origin of whatever one page sends to another; a link that is followed has none.
        """
        origins = headers.getlist("origin")
        if method in _READING:
            return all(origin == f"http://{host}" for origin in origins)
        return origins == [f"http://{host}"]


def _split(host_asked: str) -> tuple[str, str]:
    """The name and the port of a `Host`; browsers leave out port 80."""
    name, _, port = host_asked.lower().rpartition(":")
    return (name, port) if port.isdigit() else (host_asked.lower(), "80")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_same(first: str, second: str) -> bool:
    return secrets.compare_digest(first.encode("utf-8", "replace"), second.encode())
