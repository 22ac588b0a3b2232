"""One probe: a fresh home and workspace with skills in every usual place, a local model, and the program between."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from skillgauge_processes import temporary_folder

from .findings import Findings, of_model, of_output, of_updates
from .model import ScriptedModel
from .program import ProbeError, Program, initialize

PROMPT = "What does the probe say? Use the skill for it."
MODEL = "gpt-5.5"
_KEY = "made-up-key-of-the-probe"
_PLACES = (".agents", ".claude", ".cline", ".gemini", ".github", ".opencode", ".qwen", ".vibe")
_FOLDERS = {f"probe-{place[1:]}": f"{place}/skills" for place in _PLACES}
"""A skill for each folder in which programs look, so that its name tells which one a program reads."""
_START_SHARE = 0.5
"""The part of the time in which a program has to show that it speaks the protocol."""
ADDRESSES = {"OPENAI_BASE_URL": "{address}", "OPENAI_API_BASE": "{address}", "OPENAI_MODEL": "{model}"}
"""Variables by which programs are usually told of a server."""


def probe(argv: Sequence[str], env: Mapping[str, str], home: Path | None, limit_s: float) -> Findings:
    """Try a program and return what could be seen. Blocks.

    Args:
        argv: program and arguments; one with `{prompt}` among them is run to its end, any other is asked by the Agent
            Client Protocol.
        env: further variables, with placeholders.
        home: folder whose content its home begins with.
        limit_s: seconds for all of it.

    Raises:
        ProbeError: it cannot be started.
    """
    with temporary_folder() as base, ScriptedModel(list(_FOLDERS)) as model:
        workspace, own_home = base / "workspace", base / "home"
        for name, folder in _FOLDERS.items():
            (workspace / folder / name).mkdir(parents=True)
            text = f"---\nname: {name}\ndescription: Says what the probe says.\n---\nSay what the probe says.\n"
            (workspace / folder / name / "SKILL.md").write_text(text, encoding="utf-8")
        if home is None:
            own_home.mkdir()
        else:
            shutil.copytree(home, own_home)
        values = {"{address}": model.address, "{model}": MODEL, "{home}": str(own_home), "{workspace}": str(workspace)}
        templates = {**ADDRESSES, **env}
        variables = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(own_home),
            "LANG": "C.UTF-8",
            "OPENAI_API_KEY": _KEY,
            **{name: _filled(value, values) for name, value in templates.items()},
        }
        is_protocol = not any("{prompt}" in word for word in argv)
        findings = Findings(argv, is_protocol, env=templates)
        words = [_filled(word, {**values, "{prompt}": PROMPT}) for word in argv]
        with Program(words, variables, workspace, time.monotonic() + limit_s) as program:
            try:
                _talk(program, findings, model, limit_s) if is_protocol else _run(program, findings, model)
            except ProbeError as error:
                findings.trouble = str(error)
        of_model(findings, model, _FOLDERS)
        return findings


def _talk(program: Program, findings: Findings, model: ScriptedModel, limit_s: float) -> None:
    program.converse()
    answer = initialize(program, limit_s * _START_SHARE)
    info = answer.get("agentInfo") or {}
    findings.name, findings.version = info.get("name"), info.get("version")
    opened = program.ask("session/new", {"cwd": str(program.cwd), "mcpServers": []})
    prompt = [{"type": "text", "text": PROMPT}]
    answer = program.ask("session/prompt", {"sessionId": opened.get("sessionId"), "prompt": prompt})
    of_updates(findings, program.updates, answer, model)


def _run(program: Program, findings: Findings, model: ScriptedModel) -> None:
    of_output(findings, program.output(""), model)


def _filled(text: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text
