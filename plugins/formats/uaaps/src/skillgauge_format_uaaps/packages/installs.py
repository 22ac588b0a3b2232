"""The artifacts that a package gives to an agent beside its skills, in the neutral form of arms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skillgauge.api import Document, FileSpec, Install, Problem, SourceSpan, SuiteError, parse_document

from ..files.artifacts import AgentFile, CommandHead, RuleHead, ServersFile
from ..files.cases import Event
from .package import Artifact, Package

_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_TEXT_BYTES = 1024 * 1024
_NOT_INSTALLED = ("evals", "tests")


def installs_of(package: Package) -> tuple[Install, ...]:
    """Rules that always hold, AGENTS.md, commands, agents, hooks and servers."""
    return (*_rules(package), *_commands(package), *_agents(package), *_hooks(package), *_servers(package))


def _text(package: Package, path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            data = stream.read(_TEXT_BYTES + 1)
        if len(data) > _TEXT_BYTES:
            raise ValueError(f"larger than {_TEXT_BYTES:,} bytes")
        return data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        line = error.object[: error.start].count(b"\n") + 1 if isinstance(error, UnicodeDecodeError) else 1
        where = SourceSpan(str(path), line)
        package.findings.errors.append(Problem("suite.unreadable", f"{path.name} cannot be read: {error}", span=where))
        return None


def _parts(package: Package, path: Path) -> tuple[Any, str] | None:
    """Front matter and text of a Markdown file; `None` after noting what is wrong with it."""
    text = _text(package, path)
    if text is None:
        return None
    match = _HEAD.match(text)
    if match is None:
        return {}, text
    try:
        head = parse_document(f"---\n{match[1]}", file=str(path), kind="yaml")
    except SuiteError as error:
        package.findings.errors += error.problems
        return None
    return head.value or {}, text[match.end() :]


def _rules(package: Package) -> Iterator[Install]:
    file = package.root / "AGENTS.md"
    if file.is_file() and (text := _text(package, file)):
        yield Install(kind="rule", name="AGENTS.md", content={"text": text})
    for rule in package.rules:
        headed = _headed(package, rule, RuleHead)
        if headed and headed[0].is_always:
            yield Install(kind="rule", name=rule.name, content={"text": headed[1].strip()})


def _headed(package: Package, artifact: Artifact, model: Any) -> tuple[Any, str] | None:
    parts = _parts(package, artifact.path)
    if parts is None:
        return None
    count = len(package.findings.errors)
    made = package.findings.validated(model, Document(parts[0], str(artifact.path)), parts[0])
    if not parts[0]:  # without front matter there is no place in it
        start = SourceSpan(str(artifact.path), 1)
        package.findings.errors[count:] = [one.at(start) for one in package.findings.errors[count:]]
    return (made, parts[1]) if made is not None else None


def _commands(package: Package) -> Iterator[Install]:
    for command in package.commands:
        headed = _headed(package, command, CommandHead)
        if headed:
            options = {"description": headed[0].description, "text": headed[1].strip()}
            yield Install(kind="command", name=command.name, content=options)


def _agents(package: Package) -> Iterator[Install]:
    for agent in package.agents:
        if agent.path.is_file():  # the older form: one file with front matter
            parts = _parts(package, agent.path)
            head = parts[0] if parts and isinstance(parts[0], dict) else {}
            if parts:
                options = {"description": str(head.get("description", "")), "prompt": parts[1].strip()}
                yield Install(kind="agent", name=agent.name, content=options)
            continue
        read = package.findings.file(AgentFile, agent.path / "agent.yaml")
        if read is None:
            continue
        agent_file, document = read
        prompt = package.resolve(agent_file.system_prompt, agent.path, document.origin("system_prompt"))
        if prompt is None or not prompt.is_file():
            message = f"{agent_file.system_prompt!r} is not there"
            package.findings.error("missing-file", message, document.origin("system_prompt"))
            continue
        parts = _parts(package, prompt)
        if parts:
            about: dict[str, Any] = {
                "description": agent_file.description,
                "prompt": parts[1].strip(),
                "skills": agent_file.skills,
                "tools": agent_file.tools,
            }
            yield Install(kind="agent", name=agent.name, content=about)


def _hooks(package: Package) -> Iterator[Install]:
    """Command hooks of known events, with the files that their scripts may use; a prompt needs a model of its own."""
    events = {event.value for event in Event}
    entries = [
        {
            "event": event,
            "group": group_at,
            "entry": at,
            "matcher": group.matcher,
            "command": hook.command,
            "timeout_s": hook.timeout,
        }
        for event, groups in (package.hooks.hooks.items() if package.hooks else ())
        if event in events
        for group_at, group in enumerate(groups)
        for at, hook in enumerate(group.hooks)
        if hook.command is not None
    ]
    if entries:
        options: dict[str, Any] = {"root_variable": "PACKAGE_ROOT", "hooks": tuple(entries)}
        yield Install(kind="hooks", name=package.name, content=options, files=_scripts(package))


def _scripts(package: Package) -> tuple[FileSpec, ...]:
    """The package without what would give answers away."""
    return tuple(file for file in package.files if not set(_NOT_INSTALLED) & set(file.path.split("/")[:-1]))


def _servers(package: Package) -> Iterator[Install]:
    path = package.resolve(package.manifest.mcp, package.root, package.document.origin("mcp"))
    if path is None or not (path.is_file() or "mcp" in package.manifest.model_fields_set):
        return
    servers_file = package.findings.file(ServersFile, path)
    if servers_file and servers_file[0].servers:
        servers = {
            name: one.model_dump(mode="json", exclude_defaults=True) for name, one in servers_file[0].servers.items()
        }
        options: dict[str, Any] = {"root_variable": "PACKAGE_ROOT", "servers": servers}
        yield Install(kind="servers", name=package.name, content=options, files=_scripts(package))
