"""A session, or a turn of one: what is asked of an agent, in which order, and how it is brought to an end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version

from skillgauge.api import Command, Emit, Failure, FailureClass, JsonObject, JsonValue, TrajectoryEvent, Workspace
from skillgauge_agent_programs.failures import failed, ran_out
from skillgauge_agent_programs.json_lines import count_at, dig, items_at, text_at
from skillgauge_agent_programs.raw import RawStream
from skillgauge_agent_programs.sessions import Ran

from .connection import Connection, ConnectionLostError, RemoteError
from .options import Permissions
from .transcript import AcpTranscript, is_sign_of_life

PROTOCOL_VERSION = 1
CANCEL_GRACE_S = 0.3
"""How long an agent may take to say how a session ended that was cancelled."""
_EXIT_S = 1.0
"""How long an agent may take to end after it has closed its output."""
_KINDS = {Permissions.ALLOW: ("allow_once", "allow_always"), Permissions.REJECT: ("reject_once", "reject_always")}


@dataclass(frozen=True)
class Terms:
    """The conditions of a session."""

    permissions: Permissions
    start_timeout_s: float
    """Until a prompt is accepted."""
    timeout_s: float | None
    """For all of it."""
    servers: tuple[JsonObject, ...] = ()
    """MCP servers that the agent is given, as the protocol names them."""


class Conversation:
    """Talks to an agent for one session.

    Args:
        transcript: told of everything.
        emit: told of every event.
        terms: what holds.
    """

    def __init__(self, transcript: AcpTranscript, emit: Emit, terms: Terms) -> None:
        self._transcript = transcript
        self._emit = emit
        self._terms = terms
        self._session: str | None = None
        self._is_repeating = False
        self._asking: asyncio.Future[JsonObject] | None = None
        self._started = self._heard = time.monotonic()

    async def hold(self, workspace: Workspace, command: Command, raw: RawStream) -> Ran:
        """Start the agent, talk to it, and end it. Cancelling does so at once.

        Raises:
            LaunchError: it cannot be started.
        """
        running = await workspace.start(command)
        self._started = self._heard = time.monotonic()
        connection = Connection(running, raw, self._notified, self._asked)
        reader = asyncio.ensure_future(connection.read())
        hopeless: Failure | None = None
        try:
            hopeless = await self._talk(connection, str(workspace.root))
        except asyncio.CancelledError:
            await self._cancel(connection)
            raise
        except ConnectionLostError:
            with suppress(TimeoutError):  # how it ended is all that there is to tell
                async with asyncio.timeout(_EXIT_S):
                    await running.wait()
        finally:
            finished = await running.stop()
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        # What is left is the agent itself, which nobody told to go.
        return Ran(replace(finished, left_behind=False), raw, connection.records, connection.noise, hopeless)

    async def _talk(self, connection: Connection, cwd: str) -> Failure | None:
        try:
            async with asyncio.timeout(self._terms.timeout_s):
                try:
                    async with asyncio.timeout(self._terms.start_timeout_s):
                        await self._open(connection, cwd)
                except TimeoutError:
                    if (limit := self._terms.start_timeout_s) < (self._terms.timeout_s or limit + 1):
                        return failed(FailureClass.LAUNCH, f"the agent accepted no prompt within {limit:g} s")
                    raise
                await self._prompt(connection)
        except TimeoutError:
            now, awaits_model = time.monotonic(), self._transcript.awaits_model
            await self._cancel(connection)
            return ran_out(now - self._started, now - self._heard, awaits_model=awaits_model)
        except RemoteError as error:
            self._tell(self._transcript.failed(error))
        return None

    async def _open(self, connection: Connection, cwd: str) -> None:
        client: JsonObject = {"name": "skillgauge", "version": version("skillgauge-engine-acp")}
        nothing: JsonObject = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        answer = await connection.request(
            "initialize",
            {"protocolVersion": PROTOCOL_VERSION, "clientCapabilities": nothing, "clientInfo": client},
        )
        if count_at(answer, "protocolVersion") != PROTOCOL_VERSION:
            message = (
                f"the agent speaks version {answer.get('protocolVersion')} of the protocol, not {PROTOCOL_VERSION}"
            )
            raise RemoteError(0, message)
        self._transcript.initialized(answer)
        continued = self._transcript.request.continues
        opening = self._new(connection, cwd) if continued is None else self._reopened(connection, cwd, answer)
        self._session = await opening
        reading = self._transcript.reading
        if reading.title is not None:
            with suppress(RemoteError):
                await connection.request("session/set_title", {"sessionId": self._session, "title": reading.title})
                reading.is_titled = True

    async def _new(self, connection: Connection, cwd: str) -> str:
        opened = await connection.request("session/new", self._setting(cwd))
        session = text_at(opened, "sessionId")
        if session is None:
            raise RemoteError(0, "the agent opened a session without an id")
        self._transcript.opened(session, opened)
        return session

    async def _reopened(self, connection: Connection, cwd: str, initialized: JsonObject) -> str:
        """Open the session of the earlier turns; until it is open an agent may repeat all that they were."""
        session = self._transcript.request.continues or ""
        method = _method_to_reopen(initialized)
        if method is None:
            raise RemoteError(0, "the agent cannot go on with a session that another process of it began")
        self._is_repeating = True
        opened = await connection.request(method, {"sessionId": session, **self._setting(cwd)})
        self._is_repeating = False
        self._transcript.opened(session, opened)
        return session

    def _setting(self, cwd: str) -> dict[str, JsonValue]:
        meta = self._transcript.reading.session_meta(self._transcript.request.limits.max_turns)
        setting: dict[str, JsonValue] = {"cwd": cwd, "mcpServers": self._terms.servers}
        return {**setting, "_meta": meta} if meta else setting

    async def _prompt(self, connection: Connection) -> None:
        text: JsonObject = {"type": "text", "text": self._transcript.request.prompt}
        # Whoever is slow to start must not make it look as if the model had been silent for a small part of the time.
        self._started = self._heard = time.monotonic()
        asking = connection.request("session/prompt", {"sessionId": self._session, "prompt": (text,)})
        self._asking = asyncio.ensure_future(asking)
        # Shielded, because the answer to a prompt that was cancelled still tells what it has used.
        self._tell(self._transcript.answered(await asyncio.shield(self._asking)))

    async def _cancel(self, connection: Connection) -> None:
        """Ask the agent to stop, which lets it say what it has used so far, and do not wait long for that."""
        if self._asking is None:
            return

        async def answer_of(asking: asyncio.Future[JsonObject]) -> JsonObject:
            await connection.notify("session/cancel", {"sessionId": self._session})
            return await asking

        try:  # not `asyncio.timeout`, which tells no time-out to a task that is being cancelled (Python 3.11.2)
            self._tell(self._transcript.answered(await asyncio.wait_for(answer_of(self._asking), CANCEL_GRACE_S)))
        except (TimeoutError, ConnectionLostError, RemoteError):
            self._asking.cancel()

    def _notified(self, method: str, params: JsonObject) -> None:
        if not self._is_repeating:
            self._tell(self._transcript.read({"method": method, "params": params}))
        if is_sign_of_life(method, params) and not self._transcript.reading.has_trouble:
            self._heard = time.monotonic()

    def _asked(self, method: str, params: JsonObject) -> Mapping[str, JsonValue] | None:
        """Answer a request for permission; files and terminals are the agent's own business inside of its workspace."""
        if method != "session/request_permission":
            return None
        option = self._option(params)
        is_allowed = option is not None and self._terms.permissions is Permissions.ALLOW
        self._tell(self._transcript.asked(params, is_allowed=is_allowed))
        if option is None:
            self._transcript.note("the agent asked for a permission and offered no answer that fits")
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": option}}

    def _option(self, params: JsonObject) -> str | None:
        options = {text_at(one, "kind"): text_at(one, "optionId") for one in reversed(items_at(params, "options"))}
        return next((options[kind] for kind in _KINDS[self._terms.permissions] if options.get(kind)), None)

    def _tell(self, events: Iterable[TrajectoryEvent]) -> None:
        for event in events:
            self._emit(event)


def _method_to_reopen(initialized: JsonObject) -> str | None:
    """Return the method that opens an earlier session; one that repeats nothing is preferred."""
    if dig(initialized, "agentCapabilities", "sessionCapabilities", "resume") is not None:
        return "session/resume"
    return "session/load" if dig(initialized, "agentCapabilities", "loadSession") is True else None
