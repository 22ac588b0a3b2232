"""The receivers of telemetry: options first, then the standard variables. Without an address there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from pydantic import Field, field_validator

from skillgauge.api import HARMLESS, Frozen, host_environment, keep_secret, secret
from skillgauge_documents.immutables import immutable

PROTOCOL = "http/protobuf"
"""The one protocol that is spoken."""
_PREFIX = "OTEL_EXPORTER_OTLP"


class Signal(StrEnum):
    """The kinds of telemetry that a run gives."""

    TRACES = "traces"
    METRICS = "metrics"
    LOGS = "logs"


HEADERS = (f"{_PREFIX}_HEADERS", *(f"{_PREFIX}_{signal.name}_HEADERS" for signal in Signal))
"""Variables whose values are credentials."""


class OtelOptions(Frozen):
    """Options of `otel`."""

    endpoint: str | None = Field(
        default=None,
        description="Address of the collector for OTLP over HTTP, without `/v1/traces`; default: "
        "`OTEL_EXPORTER_OTLP_ENDPOINT`. Without either nothing is sent.",
    )
    content: bool = Field(
        default=False,
        description="Also send prompts, answers, arguments and results of tools, and the reasons of checks.",
    )
    timeout_s: float = Field(
        default=5.0,
        gt=0,
        le=20,
        description="Seconds that the end of a run waits for the collector at most.",
        json_schema_extra=HARMLESS,
    )

    @field_validator("endpoint")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is not None and not _is_http(value):
            raise ValueError("expected an address such as http://127.0.0.1:4318")
        return value


@immutable
class Destination:
    """The receiver of one signal."""

    url: str
    headers: Mapping[str, str]

    @property
    def shown(self) -> str:
        """The address without anything that could be a credential."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")


class SettingsError(Exception):
    """The variables ask for something that is not done; the text says what."""


def names_receiver(options: OtelOptions) -> bool:
    """Tell whether the user names a receiver at all, usable or not."""
    variables = (f"{_PREFIX}_ENDPOINT", *(f"{_PREFIX}_{signal.name}_ENDPOINT" for signal in Signal))
    return options.endpoint is not None or any(_variable(name) for name in variables)


def destinations(options: OtelOptions) -> dict[Signal, Destination]:
    """Return the receivers of the signals that the user has given an address.

    Raises:
        SettingsError: a variable cannot be followed; nothing may be sent then.
    """
    if _variable("OTEL_SDK_DISABLED").lower() == "true":
        return {}
    receivers = {}
    for signal in Signal:
        if _variable(f"OTEL_{signal.name}_EXPORTER") not in ("", "otlp"):
            continue
        url = _url(options, signal)
        if url is not None:
            receivers[signal] = Destination(url, dict(_headers(signal)))
    return receivers


def _url(options: OtelOptions, signal: Signal) -> str | None:
    own = _variable(f"{_PREFIX}_{signal.name}_ENDPOINT")
    base = options.endpoint or _variable(f"{_PREFIX}_ENDPOINT")
    if options.endpoint or not own:
        url = f"{base.rstrip('/')}/v1/{signal}" if base else ""
    else:
        url = own
    if not url:
        return None
    name = f"{_PREFIX}_{signal.name}_PROTOCOL"
    protocol = _variable(name) or _variable(f"{_PREFIX}_PROTOCOL") or PROTOCOL
    if protocol != PROTOCOL:
        raise SettingsError(f"{_PREFIX}_PROTOCOL is {protocol!r}, and only {PROTOCOL} is spoken")
    if not _is_http(url):
        raise SettingsError(f"the address for {signal} begins with neither http:// nor https://")
    return url


def _is_http(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _headers(signal: Signal) -> Iterator[tuple[str, str]]:
    """Yield the headers of a signal, which carry credentials."""
    name = f"{_PREFIX}_{signal.name}_HEADERS"
    text = secret(name) or secret(f"{_PREFIX}_HEADERS") or ""
    for entry in text.split(","):
        key, equals, value = entry.partition("=")
        if equals and key.strip():
            decoded = unquote(value).strip()
            for part in (decoded, decoded.rpartition(" ")[2]):
                if part:
                    keep_secret(name, part)
            yield unquote(key).strip().lower(), decoded


def _variable(name: str) -> str:
    return host_environment().get(name, "").strip()
