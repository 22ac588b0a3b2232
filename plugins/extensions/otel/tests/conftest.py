"""A real receiver of OpenTelemetry, a program of others that answers over MCP what it has received.

It reads OTLP as JSON alone. What the extension sends is protobuf, so an endpoint stands before it that decodes every
request with the project's own definitions, keeps it, and hands it on as JSON.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import shutil
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from google.protobuf.json_format import MessageToDict
from mcp import Client, StdioServerParameters, stdio_client
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

ROOT = Path(__file__).resolve().parents[4]
SERVER = ROOT / ".collector/node_modules/autotel-mcp/bin/autotel-mcp"
PATIENT_S = 30.0


REQUESTS: Mapping[str, Any] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}
_IDS = ("traceId", "spanId", "parentSpanId")


class Endpoint:
    """An address that takes OTLP over HTTP as protobuf, keeps the requests, and hands them on as JSON."""

    def __init__(self, onward: str | None = None) -> None:
        """Take the address of a receiver of JSON, if there is one."""
        self._onward = onward
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        """Path, headers and content, in the order of arrival."""
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one request."""

            def do_POST(self) -> None:
                """Decode, keep and hand on."""
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                endpoint.take(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        """Decode a request by the definitions of the project."""
        message = REQUESTS[path]()
        message.ParseFromString(body)
        document = _with_hex(MessageToDict(message, use_integers_for_enums=True))
        self.requests.append((path, headers, document))
        if self._onward:
            data = json.dumps(document).encode()
            request = urllib.request.Request(f"{self._onward}{path}", data, {"content-type": "application/json"})
            with urllib.request.urlopen(request, timeout=PATIENT_S) as answer:
                assert answer.status == 200

    def items(self, path: str, outer: str, inner: str, name: str) -> list[dict[str, Any]]:
        """Everything of one kind that has arrived."""
        return [
            item
            for place, _, document in self.requests
            if place == path
            for resource in document[outer]
            for scope in resource[inner]
            for item in scope[name]
        ]

    @property
    def spans(self) -> list[dict[str, Any]]:
        """Every span."""
        return self.items("/v1/traces", "resourceSpans", "scopeSpans", "spans")

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """The last state of each metric."""
        metrics = self.items("/v1/metrics", "resourceMetrics", "scopeMetrics", "metrics")
        return {metric["name"]: metric for metric in metrics}

    @property
    def records(self) -> list[dict[str, Any]]:
        """Every record of the log signal."""
        return self.items("/v1/logs", "resourceLogs", "scopeLogs", "logRecords")


def _with_hex(value: Any) -> Any:
    """The same document with ids as JSON has them: in hexadecimal digits."""
    if isinstance(value, dict):
        return {name: base64.b64decode(item).hex() if name in _IDS else _with_hex(item) for name, item in value.items()}
    return [_with_hex(item) for item in value] if isinstance(value, list) else value


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[Endpoint]:
    """Answer requests until the end."""
    thread = threading.Thread(target=endpoint.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        thread.join()
        endpoint.server.server_close()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that hands nothing on."""
    with serving(Endpoint()) as endpoint:
        yield endpoint


class Receiver:
    """The program, and questions about what it has received."""

    def __init__(self, portal: BlockingPortal, client: Client, address: str) -> None:
        """Take a client that is connected."""
        self._portal = portal
        self._client = client
        self.address = address

    def ask(self, tool: str, **arguments: object) -> Any:
        """The document that a tool of the program answers with."""
        result = self._portal.call(self._client.call_tool, tool, arguments)
        assert not result.is_error, result
        return json.loads(result.content[0].text)


@pytest.fixture(scope="session")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    """The program on a free port; the test is skipped where it is not installed."""
    node = shutil.which("node")
    if node is None or not SERVER.exists():
        pytest.skip("no receiver of OpenTelemetry is installed: make collector")
    home = tmp_path_factory.mktemp("receiver")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = home / "stderr.txt"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "AUTOTEL_OFFLINE_MODE": "true"}
    command = StdioServerParameters(
        command=node, args=[str(SERVER), "--collector-port", str(port)], env=environment, cwd=str(home)
    )
    with words.open("w") as errors, start_blocking_portal() as portal:
        client = Client(stdio_client(command, errlog=errors))
        with portal.wrap_async_context_manager(client):
            _await(words, f"OTLP receiver on 127.0.0.1:{port}")
            yield Receiver(portal, client, f"http://127.0.0.1:{port}")


def _await(words: Path, line: str) -> None:
    """Wait for the line in which the program says where it listens."""
    end = time.monotonic() + PATIENT_S
    while line not in words.read_text():
        if time.monotonic() > end:
            raise TimeoutError(words.read_text())
        time.sleep(0.05)
