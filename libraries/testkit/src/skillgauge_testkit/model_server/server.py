"""The server that a test starts: script in, requests out."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Self

from .connections import ConnectionServer, Incoming
from .dialects import Answer, IssuedCall
from .replies import ModelReply, Script, ToolCall
from .requests import ModelRequest
from .scripts import refusal_of_script
from .sessions import ModelSession, SessionBook


class ScriptError(Exception):
    """More was asked of a script than it allows."""


class ModelServer:
    """Answers each request with the next reply, or with what a function says about the request.

    Example::

        with ModelServer([ModelReply("8"), ModelReply(fault=ModelFault.OVERLOADED)]) as server:
            judge = AcmeJudge(AcmeOptions(base_url=server.url))
            ...
        assert server.requests[0].headers["x-api-key"] == "made-up-key"

    An agent gets a script for each of its sessions::

        said = ModelReply("I shall write it.", tools=[write_file("a.txt", "hello")])
        with ModelServer(in_turns(said, ModelReply("Done."))) as server:
            ...
        (session,) = server.sessions.values()
        assert session.tokens.output == 14

    Leaving the context ends every connection and thread. What went wrong with the script is raised then: an exception
    of the function, a tool that the request did not offer, more requests than allowed.

    Args:
        script: replies in their order, whoever asks, or a function, which is called from several threads.
        models: names that a list of models gives.
        max_requests: how many may come before every further one is refused.
    """

    def __init__(
        self,
        script: Iterable[ModelReply] | Script = (),
        *,
        models: Sequence[str] = ("scripted-1",),
        max_requests: int = 10_000,
    ) -> None:
        self._script = script if callable(script) else None
        self._queue = deque(() if callable(script) else script)
        self._max_requests = max_requests
        self._lock = threading.Lock()
        self._errors: list[Exception] = []
        self._book = SessionBook()
        self._numbers = count(1)
        self.models = tuple(models)
        self.requests: list[ModelRequest] = []
        """Those for an answer of a model, in the order in which they came."""
        self.others: list[str] = []
        """Method and path of all others: lists of models, counts of tokens, what nobody knows."""
        self._server = ConnectionServer(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The address of the server; nothing listens there after its end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def sessions(self) -> Mapping[str, ModelSession]:
        """The requests and the usage of each session, by name, in the order in which they began."""
        return MappingProxyType(self._book.sessions)

    def enqueue(self, *replies: ModelReply) -> None:
        """Add replies to the queue."""
        with self._lock:
            self._queue.extend(replies)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self._server.finish()
        self._thread.join(10.0)
        if kind is None and self._errors:
            raise self._errors[0]

    def noted(self, entry: str) -> None:
        """Remember a request that is none for an answer."""
        with self._lock:
            if len(self.others) < self._max_requests:
                self.others.append(entry)

    def answer(self, incoming: Incoming) -> Answer:
        """Remember a request and say what to answer."""
        conversation = incoming.dialect.read(incoming.fields)
        with self._lock:
            number = next(self._numbers)
            if number > self._max_requests:
                return Answer(number, None, self._failed(ScriptError(f"more than {self._max_requests} requests")))
            session = self._book.find(incoming.headers, conversation)
            request = ModelRequest(
                dialect=incoming.dialect.name,
                path=incoming.path,
                headers=incoming.headers,
                body=incoming.body,
                model=incoming.model,
                is_stream=incoming.is_stream,
                conversation=conversation,
                session=session.name,
                time_s=time.monotonic(),
            )
            self.requests.append(request)
            session.requests.append(request)
        reply, calls = self._reply(request, number)
        with self._lock:
            self._book.answered(session, reply, tuple(call.id for call in calls))
        return Answer(number, reply.model or request.model, reply, calls)

    def _reply(self, request: ModelRequest, number: int) -> tuple[ModelReply, tuple[IssuedCall, ...]]:
        """The reply and its tool calls; a script that fails gives an answer that says so."""
        try:
            reply = self._script(request) if self._script else self._next()
            chosen = [tool if isinstance(tool, ToolCall) else tool(request) for tool in reply.tools]
        except Exception as error:  # noqa: BLE001 - raised where the server is left
            return self._failed(error), ()
        freeform = request.conversation.freeform_tools
        return reply, tuple(
            IssuedCall(f"call_{number}_{index}", call.name, call.arguments, call.name in freeform)
            for index, call in enumerate(chosen)
        )

    def _next(self) -> ModelReply:
        with self._lock:
            return self._queue.popleft() if self._queue else refusal_of_script("the script has no reply left")

    def _failed(self, error: Exception) -> ModelReply:
        self._errors.append(error)
        return refusal_of_script(f"the script failed: {type(error).__name__}: {error}")
