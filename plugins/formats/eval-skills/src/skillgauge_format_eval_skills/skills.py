"""From `skill.json` to a target."""

from __future__ import annotations

import os
from pathlib import Path

from skillgauge.api import Document, JsonObject, Limits, Problem, SuiteError, Target, read_document

from .claiming import SKILL_FILE
from .files import AdapterConfig, OpenAdapterConfig, SkillFile, keys_of
from .findings import Findings
from .programs import Word, check_command, code_digest, words_of
from .schemas import schema_faults

CONFIG_FILE = "adapter.config.json"
OWN_ADAPTERS = ("http", "subprocess", "mcp")
"""Adapters whose settings eval-skills defines; others may have settings that only they know."""


def load_skill(path: Path) -> tuple[Target, tuple[Problem, ...]]:
    """The target that a skill file describes, and warnings about it.

    Raises:
        SuiteError: with every problem of the file, its adapter configuration and its program.
    """
    findings = Findings()
    document = read_document(path)
    skill = findings.validated(SkillFile, document.value, document.origin)
    root = Path(os.path.normpath(path.absolute())).parent
    config_path = root / CONFIG_FILE
    config, config_document = _config(config_path, skill, findings)
    if skill is not None:
        for key in ("inputSchema", "outputSchema"):
            schema = skill.input_schema if key == "inputSchema" else skill.output_schema
            for pointer, message in schema_faults(schema):
                findings.error("json-schema", f"in {key}: {message}", document.origin(key, *pointer))
        words = _words(skill, document, config, config_document)
        if skill.adapter_type == "subprocess":
            check_command(words, root, findings)
    if findings.errors or skill is None:
        raise SuiteError(findings.errors)
    findings.unknown_keys(skill.model_extra, keys_of(SkillFile), document.origin)
    definition = [path] if config_document is None else [path, config_path]
    target = Target(
        id=skill.id,
        name=skill.name,
        description=skill.description,
        version=skill.version,
        adapter=skill.adapter_type,
        entrypoint=skill.entrypoint,
        root=str(root),
        config=config.model_dump(by_alias=True, exclude_unset=True) if config else {},
        pass_env=_pass_env(config),
        tags=skill.tags,
        metadata={**skill.metadata, SKILL_FILE: _rest(skill)},
        limits=Limits(timeout_s=config.timeout_ms / 1000) if config and config.timeout_ms else Limits(),
        digest=code_digest(root, definition, words),
        origin=document.origin(),
        origins=(
            ("adapter", document.origin("adapterType")),
            ("entrypoint", document.origin("entrypoint")),
            *((("config", config_document.origin()),) if config_document else ()),
        ),
    )
    return target, findings.warnings


def _config(
    path: Path, skill: SkillFile | None, findings: Findings
) -> tuple[OpenAdapterConfig | None, Document | None]:
    if not path.exists():
        return None, None
    try:
        document = read_document(path)
    except SuiteError as error:
        findings.errors.extend(error.problems)
        return None, None
    adapter = skill.adapter_type if skill else None
    model = AdapterConfig if adapter in OWN_ADAPTERS else OpenAdapterConfig
    config = findings.validated(model, document.value, document.origin)
    if config is not None:
        if config.args and config.command is None:
            findings.error("missing-key", "'args' needs a 'command' before it", document.origin("args"))
        if config.type is not None and adapter is not None and config.type != adapter:
            message = f"these settings are for adapter {config.type!r}, but the skill's adapterType is {adapter!r}"
            findings.error("value", message, document.origin("type"))
    return config, document


def _words(
    skill: SkillFile, document: Document, config: OpenAdapterConfig | None, config_document: Document | None
) -> list[Word]:
    """The words of the command, wherever it is written."""
    if config is None or config_document is None or config.command is None:
        return words_of(skill.entrypoint, document.origin("entrypoint"))
    arguments = [Word(text, config_document.origin("args", index)) for index, text in enumerate(config.args)]
    return [*words_of(config.command, config_document.origin("command")), *arguments]


def _pass_env(config: OpenAdapterConfig | None) -> tuple[str, ...]:
    """Variables that the skill or its adapter may see; their values are kept out of every result."""
    if config is None:
        return ()
    token = config.auth_token_env_key if config.auth_type not in (None, "none") else None
    return (*config.pass_env, *((token,) if token and token not in config.pass_env else ()))


def _rest(skill: SkillFile) -> JsonObject:
    """Return the keys that a target has no field for; they travel under the file's name in the metadata."""
    written = skill.model_dump(by_alias=True, exclude_unset=True)
    own = ("id", "name", "description", "version", "tags", "adapterType", "entrypoint", "metadata")
    return {key: value for key, value in written.items() if key not in own}
