"""The recipe of a run: what another process needs to prepare the same run, as a document that people can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject

from .sandboxes import Tier


class NamedRevision(Frozen):
    """A change of the suites after they were loaded: a class of a plugin, and what one object of it holds."""

    made_by: str
    """`module:Class`; a dataclass in a package of the core or of an installed plugin."""
    state: JsonObject = EMPTY


class Recipe(Frozen):
    """An evaluation: its subject, who makes it and how. It holds no value of a known secret.

    Paths are relative to the folder where the run began; those below the user's home, and not below that folder, begin
    with `~/`. `[redacted:NAME]` in any text stands for the environment variable of that name if `secrets` lists it.
    Only options that mean something of each machine are absolute paths.
    """

    schema_version: Literal["1.0"] = "1.0"
    plan_id: str
    """Of the plan that must come out."""
    python: str
    """Version of Python, without its last number."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    """Version of the core and of every distribution that takes part, by name."""
    plugin_files: Mapping[str, str] = Field(default_factory=dict)
    """SHA-256 of each file that announces plugins, by its path, in the order in which they are loaded."""
    blocked: tuple[str, ...] = ()
    """Plugins that are not used."""
    only: tuple[str, ...] | None = None
    """The only plugins that are used; `None` allows all."""
    options: JsonObject = EMPTY
    """The options of each plugin, by `<kind>.<name>`, those of executors, stores and reporters left out."""
    harmless_options: JsonObject = EMPTY
    """The same, of those that count only where the plugin calls them harmless."""
    places: tuple[str, ...] = ()
    """The texts of options that are paths and begin with `~/`; the others are right as they are."""
    what: JsonObject
    revision: NamedRevision | None = None
    """`None` takes the suites as they are."""
    who: JsonObject
    how: JsonObject
    tier: Tier | None = None
    """Strength of the sandbox that the run has; a worker's must be as strong."""
    secrets: tuple[str, ...] = ()
    """Names of the environment variables whose values belong in the place of `[redacted:NAME]`."""
    loudness: tuple[int, bool | None]
    """As in `skillgauge.log`."""
