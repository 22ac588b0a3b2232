"""The Messages API as clouds serve it: the same documents, at other paths, in other streams, with other errors."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from .anthropic import Anthropic
from .wire import Answer, Failure, Json

_TEXT = 7
"""Type of a header's value in Amazon's event streams."""
_EXCEPTIONS = {429: "throttlingException", 503: "serviceUnavailableException", 529: "serviceUnavailableException"}
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    529: "UNAVAILABLE",
}


class Bedrock(Anthropic):
    """`/model/MODEL/invoke` of Amazon Bedrock, and the same with `-with-response-stream`."""

    name = "bedrock"
    path = re.compile("/model/(?P<model>[^/]+)/(?P<action>invoke|invoke-with-response-stream)")
    counts: Mapping[str, str] = MappingProxyType({})
    stream_type = "application/vnd.amazon.eventstream"

    def is_stream(self, body: Json, action: str) -> bool:
        """Tell whether a stream is asked for, which the path says."""
        return action == "invoke-with-response-stream"

    def frames(self, answer: Answer, body: Json) -> Iterator[bytes]:
        """The answer as messages, each with an event in base64."""
        for event in self.events(answer):
            payload = {"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abc"}
            yield _message({":event-type": "chunk", ":message-type": "event"}, payload)

    def error(self, failure: Failure) -> Json:
        """The body of an answer with an error status."""
        return {"message": failure.message}

    def error_frame(self, failure: Failure) -> bytes:
        """An error in a stream."""
        kind = _EXCEPTIONS.get(failure.status, "internalServerException")
        return _message({":exception-type": kind, ":message-type": "exception"}, self.error(failure))


class Vertex(Anthropic):
    """`:rawPredict` and `:streamRawPredict` of Google's Vertex AI."""

    name = "vertex"
    path = re.compile(
        "/v1/projects/[^/]+/locations/[^/]+/publishers/anthropic/models/"
        "(?P<model>[^/:]+):(?P<action>rawPredict|streamRawPredict)"
    )
    counts: Mapping[str, str] = MappingProxyType({})

    def is_stream(self, body: Json, action: str) -> bool:
        """Tell whether a stream is asked for, which the path says."""
        return action == "streamRawPredict"

    def error(self, failure: Failure) -> Json:
        """The body of an answer with an error status."""
        status = _STATUSES.get(failure.status, "UNKNOWN")
        return {"error": {"code": failure.status, "message": failure.message, "status": status}}


def _message(headers: Mapping[str, str], payload: Json) -> bytes:
    """A message of Amazon's event streams: lengths, their checksum, headers, payload, and a checksum of it all."""
    encoded = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", _TEXT, len(value)) + value.encode()
        for name, value in {**headers, ":content-type": "application/json"}.items()
    )
    body = json.dumps(payload).encode()
    lengths = struct.pack("!II", 16 + len(encoded) + len(body), len(encoded))
    whole = lengths + struct.pack("!I", zlib.crc32(lengths)) + encoded + body
    return whole + struct.pack("!I", zlib.crc32(whole))
