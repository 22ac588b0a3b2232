"""What statuses, headers and bodies mean that no scripted server sends."""

from __future__ import annotations

import asyncio
import json
import ssl
from datetime import UTC, datetime

import httpx
import pytest

from skillgauge.api import FailureClass
from skillgauge_model_client import client as client_module
from skillgauge_model_client.client import ModelClient, _broken
from skillgauge_model_client.outcomes import Unanswered, status_error

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "body", "kind", "told"),
    [
        (302, "", FailureClass.PROTOCOL, "HTTP 302 Found: redirects are not followed"),
        (403, "", FailureClass.AUTH, "HTTP 403 Forbidden"),
        (408, "", FailureClass.TIMEOUT, "HTTP 408 Request Timeout"),
        (413, '{"error": "too big"}', FailureClass.CONTEXT_TOO_LONG, "HTTP 413 Request Entity Too Large: too big"),
        (400, "prompt is too long: 9 > 8", FailureClass.CONTEXT_TOO_LONG, "HTTP 400 Bad Request: prompt is too long"),
        (400, "Your credit balance is too low", FailureClass.BUDGET, "HTTP 400 Bad Request: Your credit"),
        (400, '[{"error": {"message": "API key not valid."}}]', FailureClass.AUTH, "HTTP 400 Bad Request: API key not"),
        (418, '{"detail": ["no tea"]}', FailureClass.BAD_REQUEST, "HTTP 418 I'm a Teapot: no tea"),
        (503, "", FailureClass.OVERLOADED, "HTTP 503 Service Unavailable"),
        (599, "{", FailureClass.SERVER, "HTTP 599: {"),
        (500, "x" * 500, FailureClass.SERVER, f"HTTP 500 Internal Server Error: {'x' * 299}…"),
    ],
)
def test_statuses(status: int, body: str, kind: FailureClass, told: str) -> None:
    """The class follows from the status, and from the body where the status says too little."""
    found = status_error(status, {}, body.encode(), NOW)
    assert found.kind is kind
    assert found.told.replace("Content Too Large", "Request Entity Too Large").startswith(told)
    assert found.reply.retryable is (status in (408, 500, 503, 599))


def test_broken_exchanges() -> None:
    """What the system said is named, below the layers that say only that something failed."""
    certificate = httpx.ConnectError("failed")
    certificate.__cause__ = ssl.SSLError(1, "certificate verify failed")
    grouped = httpx.ConnectError("failed")
    grouped.__cause__ = ExceptionGroup("all", [ConnectionRefusedError(111, "refused")])
    told = {
        "certificate verify failed": certificate,
        "Connection refused": grouped,
        "the connection broke": httpx.ReadError(""),
        "the answer cannot be decoded: bad": httpx.DecodingError("bad"),
    }
    for words, error in told.items():
        assert words in _broken(error).told


def test_timeout_of_somebody_else_is_not_its_own() -> None:
    """A `TimeoutError` that is not the deadline's is raised on, not called a timeout of the model."""

    class Client(ModelClient):
        async def _client(self, *, is_plain: bool) -> httpx.AsyncClient:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        asyncio.run(Client(None, {}, 5).ask("http://127.0.0.1:1", {}, lambda _: 1 / 0, json.dumps("m")))  # type: ignore[arg-type, return-value]  # never read


def test_certificates_are_read_for_tls_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model on this machine waits for none, and one behind TLS is never asked without them."""
    read: list[ssl.SSLContext] = []

    def certificates() -> ssl.SSLContext:
        read.append(ssl.create_default_context())
        return read[-1]

    monkeypatch.setattr(client_module, "_certificates", certificates)
    client = ModelClient(None, {}, 5)

    async def main() -> None:
        for url, times in (("http://127.0.0.1:1", 0), ("HTTPS://127.0.0.1:1", 1), ("https://127.0.0.1:1", 1)):
            with pytest.raises(Unanswered) as unanswered:
                await client.exchange(url, {}, lambda answer: answer, "m")
            assert unanswered.value.kind is FailureClass.NETWORK
            assert len(read) == times

    asyncio.run(main())
