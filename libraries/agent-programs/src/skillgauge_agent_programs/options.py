"""The options of every engine of a command-line program; light, so that a plugin can announce it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from skillgauge.api import EMPTY, HARMLESS, MACHINE_PLACE, Frozen, JsonObject


def _usable(url: str) -> str:
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:  # the message must not repeat it
        raise ValueError("a URL with a password in it would be in results; the key belongs into the environment")
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(" \"'\\") and not parts.query
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or not is_plain:
        raise ValueError("must be an http or https URL without query")
    return url.rstrip("/")


Address = Annotated[str, AfterValidator(_usable)]
"""A base URL that can be asked and shown, without a slash at its end."""


class ProgramOptions(Frozen):
    """Options that every engine of a command-line program has; a subclass adds its own."""

    program: str | None = Field(
        default=None,
        min_length=1,
        description="The program: a name to look for in PATH, or a path.",
        json_schema_extra=MACHINE_PLACE,
    )
    model: str | None = Field(
        default=None, min_length=1, description="Model to ask where nobody names one.", json_schema_extra=HARMLESS
    )
    base_url: Address | None = Field(
        default=None, description="Where the model API is served; default: the vendor's own. A login is not sent there."
    )
    gateway: Address | None = Field(
        default=None,
        description="Where the model API is served if `base_url` is not set; default: what the engine's variable for "
        "that says. A login is sent there only if `pass_env` names the variable.",
    )
    api_retries: int = Field(
        default=3,
        ge=0,
        le=20,
        description="How often the program itself asks its API again when that fails.",
        json_schema_extra=HARMLESS,
    )
    pass_env: tuple[str, ...] = Field(
        default=(), description="Names of environment variables that the program gets besides, for example HTTPS_PROXY."
    )

    @property
    def secret_env(self) -> tuple[str, ...]:
        """Names among `pass_env` whose values are kept out of results; exceptions to a proxy occur there by chance."""
        return tuple(name for name in self.pass_env if name.lower() != "no_proxy")

    def login_hosts(self, hosts: tuple[str, ...], variables: tuple[str, ...]) -> tuple[str, ...]:
        """Return the hosts that a login has to reach.

        Args:
            hosts: the vendor's.
            variables: those by which the program itself takes an address; one that is passed on counts.
        """
        gateway = urlsplit(self.gateway or "")
        if gateway.scheme != "https" or not set(variables) & set(self.pass_env):
            return hosts
        return (*hosts, gateway.netloc)


class InstructedOptions(ProgramOptions):
    """Of an engine whose agent can also be asked a question, without tools and by instructions that replace its own."""

    instructions: str | None = Field(
        default=None,
        min_length=1,
        description="Said to the model in place of the program's own instructions; the agent has no tools then.",
    )
    mcp_servers: JsonObject = Field(
        default=EMPTY,
        description="MCP servers of every session, name to command, url or mock; paths start where the user is.",
    )
