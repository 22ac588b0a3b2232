"""One question to a model's API: one pool of connections, one deadline, and never a key in what comes back."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import weakref
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any, TypeVar

from skillgauge.api import FailureClass, JudgeReply
from skillgauge_http_bodies import Decoder, EncodingError
from skillgauge_http_bodies.slim import httpx

from .adjustments import Adjustment, next_adjustment
from .keys import Key
from .outcomes import Unanswered, error_within, excerpt, is_success, status_error

T = TypeVar("T")

ANSWER_BYTES = 4 * 1024 * 1024
_REFUSAL_BYTES = 16 * 1024
_KEPT_CONNECTIONS = 64


class ModelClient:
    """Posts questions as JSON. Connections are shared by all questions of an event loop and end with it.

    Args:
        key: of the service.
        headers: of every question, those with the key among them.
        timeout_s: for one question.
        further: values of headers that must not be in what comes back, either.
    """

    def __init__(
        self, key: Key | None, headers: Mapping[str, str], timeout_s: float, *, further: Sequence[Key] = ()
    ) -> None:
        keys = (*((key,) if key else ()), *further)
        self._keys = sorted(keys, key=lambda one: len(one.value), reverse=True)  # one may be a part of another
        self._headers = headers
        self._timeout_s = timeout_s
        self._adjusted: dict[str, tuple[Adjustment, ...]] = {}
        """The way in which a model has to be asked, by its name."""
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[bool, httpx.AsyncClient]] = (
            weakref.WeakKeyDictionary()
        )
        """Of each event loop one for addresses with TLS and one for those without, as far as they were asked for."""

    async def ask(
        self, url: str, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], JudgeReply], model: str
    ) -> JudgeReply:
        """As `exchange`, for a judge: whatever goes wrong is a reply, too."""
        try:
            return await self.exchange(url, body, read, model)
        except Unanswered as unanswered:
            return unanswered.reply

    async def exchange(
        self, url: str, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T], model: str
    ) -> T:
        """Post a body and read the answer. Nothing is asked again.

        Only a model that says that it takes no temperature, no `max_tokens` but `max_completion_tokens`, or no role
        `system` is asked once more as it wants to be, and so from then on.

        Args:
            url: where to.
            body: what to post.
            read: makes something of the document that is the answer; raises `Unanswered` if it is none.
            model: the model that is asked.

        Raises:
            Unanswered: there is no answer, whatever the reason.
        """
        deadline = asyncio.timeout(self._timeout_s)
        try:
            async with deadline:
                return await self._converse(url, body, read, model)
        except TimeoutError:
            if not deadline.expired():
                raise
            message = f"no whole answer within {self._timeout_s:g} s"
            raise Unanswered(FailureClass.TIMEOUT, message, retryable=True) from None
        except Unanswered as unanswered:
            raise self._without_key(unanswered) from None
        except httpx.HTTPError as error:
            raise self._without_key(_broken(error)) from error

    async def _converse(
        self, url: str, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T], model: str
    ) -> T:
        for adjustment in self._adjusted.get(model, ()):
            body = adjustment.change(body)
        while True:
            try:
                return read(await self._post(url, body))
            except Unanswered as refusal:
                asked_for = next_adjustment(refusal, body)
                if asked_for is None:
                    raise
            body = asked_for.change(body)
            self._adjusted[model] = (*self._adjusted.get(model, ()), asked_for)

    async def _post(self, url: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        client = await self._client(is_plain=url.lower().startswith("http://"))
        content = json.dumps(body).encode()
        async with client.stream("POST", url, content=content, follow_redirects=False) as response:
            status = response.status_code
            answer, is_cut = await _read(response, ANSWER_BYTES if is_success(status) else _REFUSAL_BYTES)
        if not is_success(status):
            answer = self._out_of(answer.decode("utf-8", "replace")).encode()  # before an excerpt could cut a key
            raise status_error(status, response.headers, answer, datetime.now(UTC))
        if is_cut:
            raise Unanswered(FailureClass.PROTOCOL, f"the answer is larger than {ANSWER_BYTES} bytes")
        try:
            document = self._scrubbed(json.loads(answer))
        except (ValueError, RecursionError):
            said = excerpt(self._out_of(answer.decode("utf-8", "replace")))
            raise Unanswered(FailureClass.PROTOCOL, f"HTTP {status}: the answer is not JSON: {said}") from None
        if not isinstance(document, dict):
            raise Unanswered(FailureClass.PROTOCOL, f"HTTP {status}: the answer is no JSON object")
        if error := error_within(document):
            headers = {**error.headers, **response.headers}
            raise status_error(error.status, headers, error.body, datetime.now(UTC), within=status)
        return document

    async def _client(self, *, is_plain: bool) -> httpx.AsyncClient:
        clients = self._clients.setdefault(asyncio.get_running_loop(), {})
        if is_plain not in clients:
            client = httpx.AsyncClient(
                headers={
                    "User-Agent": f"skillgauge/{version('skillgauge-core')}",
                    "Accept": "application/json",
                    "Accept-Encoding": "identity",  # so that the limit on what is read is one on memory, too
                    **self._headers,
                    "Content-Type": "application/json",
                },
                timeout=None,  # asyncio's deadline is around the whole question; these would be for each single read
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=_KEPT_CONNECTIONS),
                trust_env=False,
                verify=not is_plain and _certificates(),  # reading them takes longer than some runs
            )
            clients[is_plain] = client
            _open[client] = _closing(client)
            await anext(_open[client])
        return clients[is_plain]

    def _without_key(self, unanswered: Unanswered) -> Unanswered:
        reply, told = unanswered.reply, self._out_of(unanswered.told)
        return Unanswered(unanswered.kind, told, retryable=reply.retryable, retry_after_s=reply.retry_after_s)

    def _scrubbed(self, value: Any) -> Any:
        """A document without the key, which some servers repeat."""
        if isinstance(value, str):
            return self._out_of(value)
        if isinstance(value, list):
            return [self._scrubbed(item) for item in value]
        if isinstance(value, dict):
            return {self._out_of(key): self._scrubbed(item) for key, item in value.items()}
        return value

    def _out_of(self, text: str) -> str:
        for key in self._keys:
            text = key.out_of(text)
        return text


_open: dict[httpx.AsyncClient, AsyncGenerator[None, None]] = {}
"""What closes the clients. It is kept here, since one that its owner has dropped just before the event loop ends would
be closed by a task that never runs."""


async def _closing(client: httpx.AsyncClient) -> AsyncGenerator[None, None]:
    """Closes a client when the event loop ends: a judge is not told when its last question was asked."""
    try:
        yield
    finally:
        _open.pop(client)
        await client.aclose()


async def _read(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    """A body up to a limit, and whether there was more, which is neither read nor decoded.

    Raises:
        httpx.DecodingError: it is encoded in a way that nobody asked for, or damaged.
    """
    content = bytearray()
    try:
        decoder = Decoder(response.headers.get("content-encoding", ""))
        async for chunk in response.aiter_raw():
            for piece in decoder.pieces(chunk):
                content += piece
                if len(content) > limit:
                    return bytes(content[:limit]), True
    except EncodingError as error:
        raise httpx.DecodingError(str(error)) from error
    return bytes(content), False


@cache  # reading them takes longer than some questions
def _certificates() -> ssl.SSLContext:
    """Return the certificates of httpx and of the system: only the system knows a company's own authority."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


def _broken(error: httpx.HTTPError) -> Unanswered:
    """Return the meaning of an exchange that did not come to its end."""
    message = f"{_cause(error)} ({type(error).__name__})"
    if isinstance(error, httpx.DecodingError):
        return Unanswered(FailureClass.PROTOCOL, f"the answer cannot be decoded: {message}")
    return Unanswered(FailureClass.NETWORK, message, retryable=True)


def _cause(error: BaseException) -> str:
    """Return the system's own words, below the layers that only say that something failed."""
    for cause in _below(error):
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno) if cause.errno > 0 and not isinstance(cause, ssl.SSLError) else str(cause)
    return str(error) or "the connection broke"


def _below(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__ or cause.__context__
