"""The checks before a run: the server, the way to it, and its tools."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from skillgauge.api import Identity, JsonValue, Problem, Target, Workspace, host_environment, secret

from .session import McpSession
from .transports import Remote, Server, Spawned

AUTH_HEADERS = {"bearer": ("Authorization", "Bearer "), "api-key": ("X-API-Key", "")}
"""By `authType`: the header and what stands before the token."""


class McpAdapter:
    """Calls tools of servers that speak the Model Context Protocol."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing but the target can be missing."""
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Check that there is a URL, or a command whose program exists, and that the token is there."""
        problems = []
        if target.config.get("transport") == "sse":
            message = f"skill {target.id!r}: the transport of protocol version 2024-11-05, sse, is not supported"
            hint = "Serve streamable HTTP."
            problems.append(Problem("adapter.config", message, target.origin_of("config"), hint=hint))
        try:
            if is_remote(target):
                check_url(target)
                headers_of(target)
            else:
                _check_program(target)
        except ValueError as error:
            hint = "Write an http:// or https:// URL, or a shell command line that starts the server."
            problems.append(
                Problem(
                    "adapter.entrypoint",
                    f"skill {target.id!r}: {error}",
                    target.origin_of("entrypoint"),
                    hint=hint,
                )
            )
        return tuple(problems)

    def identity(self, target: Target) -> Identity:
        """The adapter's version, the tool, and the address or command; the server itself may change at any time."""
        settings: dict[str, JsonValue] = {"tool": tool_of(target)}
        if is_remote(target):
            settings["url"] = target.entrypoint or ""
        else:
            settings["command"] = command_line(target)
        return Identity(name="mcp", version=version("skillgauge-adapter-mcp"), settings=settings, complete=False)

    async def open(self, target: Target, workspace: Workspace) -> McpSession:
        """Nothing is started before the first call."""
        server: Server
        if is_remote(target):
            server = Remote(target.entrypoint or "", headers_of(target))
        else:
            server = Spawned(workspace, command_line(target), target.root)
        return McpSession(server, tool_of(target))


def is_remote(target: Target) -> bool:
    """Tell whether the server is reached by its address; otherwise it is started."""
    return not target.config.get("command") and (target.entrypoint or "").startswith(("http://", "https://"))


def tool_of(target: Target) -> str:
    """The tool that is called: the one named in the configuration or the metadata, else one with the skill's id."""
    return str(target.config.get("toolName") or target.metadata.get("toolName") or target.id)


def command_line(target: Target) -> tuple[str, ...]:
    """The words that start the server: `command` and `args` of its configuration, else its entrypoint.

    Raises:
        ValueError: a quotation is not closed, or there is no command.
    """
    command = target.config.get("command")
    words = shlex.split(str(command)) if command else shlex.split(target.entrypoint or "")
    arguments = target.config.get("args")
    if command and isinstance(arguments, tuple):
        words.extend(str(argument) for argument in arguments)
    if not words:
        raise ValueError("the entrypoint is empty")
    return tuple(words)


def check_url(target: Target) -> None:
    """Check that the entrypoint is an address that can be used.

    Raises:
        ValueError: it is not.
    """
    parts = urlsplit(target.entrypoint or "")
    if parts.username or parts.password:  # the message must not repeat it
        raise ValueError("a URL with a password in it would be in results; use authTokenEnvKey")
    if not parts.hostname or parts.port == 0:  # reading a port that is no number raises
        raise ValueError(f"{target.entrypoint!r} names no host")
    parts.hostname.encode("idna")  # raises for labels that are empty or too long to be looked up


def headers_of(target: Target) -> dict[str, str]:
    """The headers that the target's configuration asks for.

    Raises:
        ValueError: a header cannot be sent, or there is no token.
    """
    headers = _configured_headers(target)
    kind = target.config.get("authType") or "none"
    if kind == "none":
        return headers
    if kind not in AUTH_HEADERS:
        raise ValueError(f"authType {kind!r} is unknown; known are bearer, api-key and none")
    variable = target.config.get("authTokenEnvKey")
    if not variable:
        raise ValueError(f"authType {kind} needs authTokenEnvKey, the variable with the token")
    token = _token(str(variable))
    header, prefix = AUTH_HEADERS[kind]
    others = {name: text for name, text in headers.items() if name.lower() != header.lower()}
    return {**others, header: prefix + token}


def _configured_headers(target: Target) -> dict[str, str]:
    """Return the headers that the configuration has word by word."""
    configured = target.config.get("headers")
    if not isinstance(configured, Mapping):
        return {}
    headers = {}
    for name, value in configured.items():
        if not isinstance(value, str) or not _sendable(value) or not _is_header_name(name):
            raise ValueError(f"the value of header {name!r} must be a line of plain text")
        headers[name] = value
    return headers


def _token(variable: str) -> str:
    """Return the token in a variable, if there is one that can be sent."""
    token = secret(variable)
    if not token:
        raise ValueError(f"environment variable {variable} (authTokenEnvKey) is not set")
    if not _sendable(token):
        raise ValueError(f"the value of environment variable {variable} cannot be in a header")
    return token


def _is_header_name(name: str) -> bool:
    return name.isascii() and name.isprintable()


def _sendable(value: str) -> bool:
    return value.isascii() and value.isprintable() and value == value.strip()


def _check_program(target: Target) -> None:
    program = command_line(target)[0]
    if "://" in program:
        raise ValueError(f"{program!r} is neither an http or https URL nor a command")
    search = host_environment().get("PATH")
    exists = (Path(target.root or ".") / program).exists() if os.sep in program else shutil.which(program, path=search)
    if not exists:
        raise ValueError(f"program {program!r} is not there")
