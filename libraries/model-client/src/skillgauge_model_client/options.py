"""The options of every plugin that asks a model; light, so that a plugin can announce it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from skillgauge.api import EMPTY, HARMLESS, Fact, Frozen, JsonObject, JsonValue, Traits

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OWN_HEADERS = frozenset(
    ("accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "transfer-encoding")
)
"""Set by the client itself, whoever asks."""


def _usable(url: str) -> str:
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:  # the message must not repeat it
        raise ValueError("a URL with a password in it would be in results; the key belongs into the environment")
    is_plain = url.isascii() and url.isprintable() and " " not in url and not parts.query and not parts.fragment
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or not is_plain:
        raise ValueError("must be an http or https URL without query; Azure's version is the option api_version")
    return url.rstrip("/")


Address = Annotated[str, AfterValidator(_usable)]
"""A base URL that can be asked and shown, without a slash at its end."""


def _named(headers: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    for name, variable in headers.items():
        if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
            raise ValueError(f"{name!r} is no header that can be set")
        if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):  # the message must not repeat a value
            raise ValueError(f"header {name!r} needs the name of an environment variable, which holds its value")
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("a header is given twice, in two spellings")
    return headers


HeaderVariables = Annotated[JsonObject, AfterValidator(_named)]
"""Name of a header -> environment variable with its value."""


class ServiceOptions(Frozen):
    """The way to authenticate at a service, for every plugin that asks one."""

    key_variable: str | None = Field(
        default=None, min_length=1, description="Environment variable that holds the key; default: the service's usual."
    )
    headers: HeaderVariables = Field(
        default=EMPTY,
        description="Further headers of each request: name to the environment variable that holds the value. One that "
        "carries a key otherwise takes its place.",
    )

    @property
    def header_variables(self) -> tuple[str, ...]:
        """The variables that hold values of headers."""
        return tuple(map(str, self.headers.values()))

    @property
    def header_names(self) -> tuple[str, ...]:
        """Names of the further headers, which identities name: another header may lead to another model."""
        return tuple(sorted(name.lower() for name in self.headers))


API_VERSION: Any = Field(
    default=None,
    min_length=1,
    description="Version of Azure's API, such as 2024-10-21: a deployment is asked then, with the header `api-key`.",
)
"""Field of the option `api_version`, for plugins that speak Chat Completions."""


class Prices(Frozen):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0, description="As `input` if it is not given.")
    cache_write: float | None = Field(default=None, ge=0, description="As `input` if it is not given.")


class ModelOptions(ServiceOptions):
    """Options that every judge has; a subclass gives `base_url` its default and `temperature` its upper bound."""

    base_url: Address
    model: str | None = Field(
        default=None, min_length=1, description="Model to ask where nobody names one.", json_schema_extra=HARMLESS
    )
    temperature: float | None = Field(
        default=0.0,
        ge=0,
        description="Temperature where a check gives none; null sends none.",
        json_schema_extra=HARMLESS,
    )
    timeout_s: float = Field(
        default=60.0, gt=0, le=3600, description="Seconds for one question, all in all.", json_schema_extra=HARMLESS
    )
    prices: Prices | None = Field(
        default=None, description="US dollars per million tokens; without them the cost is unknown."
    )


def told_by(options: ModelOptions, traits: Traits) -> Traits:
    """The traits of a judge with these options: its own variables, and with prices it tells what an answer costs."""
    return traits.model_copy(
        update={
            "secrets": (options.key_variable,) if options.key_variable else traits.secrets,
            "passes": (*traits.passes, *options.header_variables),
            "tells": traits.tells | {Fact.COST} if options.prices else traits.tells,
        }
    )
