"""The keys of a manifest: the part that finding, testing and evaluating artifacts needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from skillgauge.api import EMPTY, Json, JsonObject

from .parts import ArtifactName, ManifestPart, SafePath, Text

PACKAGE_NAME = r"^(@[a-z0-9][a-z0-9_-]{0,63}/)?[a-z0-9][a-z0-9-]{0,63}$"
_NUMBER, _WORD = r"(0|[1-9][0-9]*)", r"[0-9A-Za-z-]+"
VERSION = rf"^{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_WORD}(\.{_WORD})*)?(\+{_WORD}(\.{_WORD})*)?$"


class RegisteredArtifact(ManifestPart):
    """One artifact that the manifest lists."""

    name: ArtifactName
    path: SafePath
    description: Annotated[str, Field(max_length=1024)] | None = None


class ArtifactRegistry(ManifestPart):
    """Artifacts that the manifest lists, by kind; a kind that is absent is found by convention."""

    skills: tuple[RegisteredArtifact, ...] | None = None
    agents: tuple[RegisteredArtifact, ...] | None = None
    commands: tuple[RegisteredArtifact, ...] | None = None


class FilePermissions(ManifestPart):
    """Globs of files, relative to the workspace."""

    read: tuple[SafePath, ...] = ()
    write: tuple[SafePath, ...] = ()


class NetworkPermissions(ManifestPart):
    """Hosts that may be asked."""

    hosts: tuple[Text, ...] = ()
    schemes: tuple[Literal["https", "http", "wss", "ws"], ...] = ("https",)


class ShellPermissions(ManifestPart):
    """Programs that may be run."""

    allow: bool = False
    binaries: tuple[Text, ...] = ()


class Permissions(ManifestPart):
    """The permissions that the package asks for; one that is not declared is denied."""

    fs: FilePermissions = FilePermissions()
    network: NetworkPermissions | None = None
    shell: ShellPermissions | None = None


class Variable(ManifestPart):
    """An environment variable of the package."""

    description: str
    required: bool = False
    default: str | None = None


class SystemDependencies(ManifestPart):
    """The programs and libraries that must be there."""

    binaries: tuple[Text, ...] = ()


class QualityTest(ManifestPart):
    """A command that tests the package as a whole."""

    name: Text
    command: Text
    description: str | None = None


class QualityEval(ManifestPart):
    """An entry of the index of evals; its metrics are kept as they are."""

    name: Text
    path: SafePath
    description: str | None = None
    metrics: tuple[JsonObject, ...] = ()


class Quality(ManifestPart):
    """Tests and evals of the package as a whole."""

    tests: tuple[QualityTest, ...] = ()
    evals: tuple[QualityEval, ...] = ()


class Manifest(ManifestPart):
    """A manifest, `package.agent.json` or `package.agent.yaml`."""

    name: Annotated[str, Field(max_length=130, pattern=PACKAGE_NAME)]
    version: Annotated[str, Field(pattern=VERSION)]
    description: Annotated[str, Field(max_length=1024)] | None = None
    skills: SafePath = "./skills"
    commands: SafePath = "./commands"
    agents: SafePath = "./agents"
    rules: SafePath = "./rules"
    hooks: SafePath = "./hooks/hooks.json"
    mcp: SafePath = "./mcp/servers.json"
    artifacts: ArtifactRegistry = ArtifactRegistry()
    extras: Mapping[str, Json] = Field(default=EMPTY)
    dependencies: Mapping[str, Json] = Field(default=EMPTY)
    permissions: Permissions | None = None
    env: Mapping[str, Variable] = Field(default_factory=dict)
    system_dependencies: SystemDependencies = SystemDependencies()
    quality: Quality = Quality()


class Workspace(ManifestPart):
    """A workspace of several packages, `workspace.agent.json`."""

    packages: Annotated[tuple[SafePath, ...], Field(min_length=1)]
