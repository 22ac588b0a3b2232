"""The document that the command prints."""

from __future__ import annotations

from typing import Self

from skillgauge.api import Frozen

from .findings import Findings


class ProbeDocument(Frozen):
    """The facts that a program could be seen to tell; `null` is unknown."""

    argv: tuple[str, ...]
    protocol: bool
    """Whether it was asked by the Agent Client Protocol."""
    name: str | None
    version: str | None
    asks_local_model: bool
    answers: bool
    skill_folder: str | None
    skill_tool: str | None
    tells_tokens: bool
    trouble: str | None
    configuration: str
    """YAML, to be pasted."""

    @classmethod
    def of(cls, findings: Findings) -> Self:
        """The document of a probe."""
        return cls(
            argv=tuple(findings.argv),
            protocol=findings.is_protocol,
            name=findings.name,
            version=findings.version,
            asks_local_model=findings.reaches_model,
            answers=findings.answers,
            skill_folder=findings.skill_folder,
            skill_tool=findings.skill_tool,
            tells_tokens=bool(findings.usage or findings.reading.get("usage_keys")),
            trouble=findings.trouble,
            configuration=findings.configuration(),
        )
