"""The checks before a run: the address, and the credentials for it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

import anyio

from skillgauge.api import Identity, Problem, Severity, Target, Workspace, secret
from skillgauge_http_bodies.slim import httpx

from .session import HttpSession
from .token import Token

AUTH_HEADERS = {"bearer": ("Authorization", "Bearer "), "api-key": ("X-API-Key", "")}
"""By `authType`: the header and what stands before the token."""


class HttpAdapter:
    """Calls skills that are services."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing but the target can be missing."""
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Check that there is an address, headers can be sent, and the token is there."""
        problems = []
        try:
            url_of(target)
        except ValueError as error:
            hint = "Write a whole http:// or https:// URL, or a path and `baseUrl` in adapter.config.json."
            problems.append(Problem("adapter.entrypoint", str(error), target.origin_of("entrypoint"), hint=hint))
        try:
            headers_of(target)
        except ValueError as error:
            problems.append(Problem("adapter.config", str(error), target.origin_of("config")))
        if target.config.get("baseUrl") and "://" in (target.entrypoint or ""):
            problems.append(
                Problem(
                    "adapter.config",
                    f"skill {target.id!r}: its entrypoint is a whole URL, so `baseUrl` is ignored",
                    target.origin_of("config"),
                    hint="Leave out `baseUrl`, or write a path as the entrypoint.",
                    severity=Severity.WARNING,
                )
            )
        if target.config.get("authTokenEnvKey") and target.config.get("authType") is None:
            problems.append(
                Problem(
                    "adapter.config",
                    f"skill {target.id!r}: authTokenEnvKey without authType: no token is sent",
                    target.origin_of("config"),
                    hint="Add `authType`: bearer or api-key.",
                    severity=Severity.WARNING,
                )
            )
        return tuple(problems)

    def identity(self, target: Target) -> Identity:
        """The adapter's version and the address; incomplete, since the service may change at any time."""
        return Identity(
            name="http",
            version=version("skillgauge-adapter-http"),
            settings={"url": url_of(target), "authType": target.config.get("authType") or "none"},
            complete=False,
        )

    async def open(self, target: Target, workspace: Workspace) -> HttpSession:
        """Nothing is sent before the first call."""
        headers, token = headers_of(target)
        await anyio.sleep(0)  # loads what httpx needs for asyncio, which would make the first call look slow
        return HttpSession(target, url_of(target), headers, token)


def url_of(target: Target) -> str:
    """The address to post to.

    Raises:
        ValueError: there is none that can be posted to.
    """
    entrypoint, base = target.entrypoint or "", target.config.get("baseUrl")
    text = entrypoint
    if base and "://" not in entrypoint:
        text = f"{str(base).rstrip('/')}/{entrypoint.lstrip('/')}"
    try:
        url = httpx.URL(text)
        url.raw_host.decode("ascii").encode("idna")  # finds labels that are empty or too long to be looked up
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ValueError(f"skill {target.id!r}: {text!r} is no URL: {error}") from None
    if url.userinfo:  # the message must not repeat it
        raise ValueError(f"skill {target.id!r}: a URL with a password in it would be in results; use authTokenEnvKey")
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"skill {target.id!r}: {text!r} is no http or https URL")
    return text


def headers_of(target: Target) -> tuple[dict[str, str], Token | None]:
    """The headers that the target's configuration asks for, and the token that is in them.

    Raises:
        ValueError: a header cannot be sent, or there is no token.
    """
    headers = _configured_headers(target)
    kind = target.config.get("authType") or "none"
    if kind == "none":
        return headers, None
    if kind not in AUTH_HEADERS:
        raise ValueError(f"skill {target.id!r}: authType {kind!r} is unknown; known are bearer, api-key and none")
    variable = target.config.get("authTokenEnvKey")
    if not variable:
        raise ValueError(f"skill {target.id!r}: authType {kind} needs authTokenEnvKey, the variable with the token")
    token = _token(target, str(variable))
    header, prefix = AUTH_HEADERS[kind]
    others = {name: text for name, text in headers.items() if name.lower() != header.lower()}
    return {**others, header: prefix + token.value}, token


def _configured_headers(target: Target) -> dict[str, str]:
    """Return the headers that the configuration has word by word."""
    configured = target.config.get("headers")
    if not isinstance(configured, Mapping):
        return {}
    headers = {}
    for name, value in configured.items():
        if not isinstance(value, str) or not _sendable(value) or not _is_header_name(name):
            raise ValueError(f"skill {target.id!r}: the value of header {name!r} must be a line of plain text")
        headers[name] = value
    return headers


def _token(target: Target, variable: str) -> Token:
    """Return the token in a variable, if there is one that can be sent."""
    value = secret(variable)
    if not value:
        raise ValueError(f"skill {target.id!r}: environment variable {variable} (authTokenEnvKey) is not set")
    if not _sendable(value):
        raise ValueError(f"skill {target.id!r}: the value of environment variable {variable} cannot be in a header")
    return Token(variable, value)


def _is_header_name(name: str) -> bool:
    return name.isascii() and name.isprintable()


def _sendable(value: str) -> bool:
    return value.isascii() and value.isprintable() and value == value.strip()
