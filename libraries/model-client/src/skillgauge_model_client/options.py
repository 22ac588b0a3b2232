"""The options of every plugin that asks a model; light, so that a plugin can announce it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from skillgauge.api import HARMLESS, Fact, Frozen, Traits


def _usable(url: str) -> str:
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:  # the message must not repeat it
        raise ValueError("a URL with a password in it would be in results; the key belongs into the environment")
    is_plain = url.isascii() and url.isprintable() and " " not in url and not parts.query and not parts.fragment
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or not is_plain:
        raise ValueError("must be an http or https URL without query")
    return url.rstrip("/")


Address = Annotated[str, AfterValidator(_usable)]
"""A base URL that can be asked and shown, without a slash at its end."""


class Prices(Frozen):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0, description="As `input` if it is not given.")
    cache_write: float | None = Field(default=None, ge=0, description="As `input` if it is not given.")


class ModelOptions(Frozen):
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
    """The traits of a judge with these options: with prices it tells what an answer costs."""
    return traits.model_copy(update={"tells": traits.tells | {Fact.COST}}) if options.prices else traits
