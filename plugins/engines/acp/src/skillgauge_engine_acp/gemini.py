"""Gemini CLI, which speaks the protocol itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from skillgauge.api import JsonObject, RunRequest, Usage, Workspace, canonical_json
from skillgauge_agent_programs.credentials import Key
from skillgauge_agent_programs.engine import Access, Launch
from skillgauge_agent_programs.json_lines import count_at, items_at, text_at
from skillgauge_agent_programs.skills import INVOKED

from .agents import GEMINI
from .calls import FAILED, ToolCall
from .engine import AcpEngine, program_of
from .reading import ALLOW, Reading

_TOOL = re.compile(r"(.+?)__.+")
_SKILL = re.compile(r"Skill \*\*(.+?)\*\* activated")
_SKILL_TOOL = "activate_skill"
_ASKED_FOR = re.compile(r'"(.+?)": ')
"""Begins the title of a call of that tool."""
_LOOKS_ROUND = re.compile(r"SKILL|skills|\.gemini|[*?]|\b(?:find|grep|rg)\b")
"""What is in a command that may print files which it does not name."""


class GeminiEngine(AcpEngine):
    """Starts the program in the mode in which one talks to it."""

    name = GEMINI.name
    agent = GEMINI
    program = program_of(GEMINI)
    diverting_variables = GEMINI.diverting_variables

    def key_headers(self, key: Key) -> Mapping[str, str]:
        """As the program itself sends it."""
        return {"x-goog-api-key": key.value}

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """The way to authenticate has to be in its settings."""
        home = workspace.home / ".gemini"
        home.mkdir(mode=0o700, exist_ok=True)
        settings: JsonObject = {
            "security": {"auth": {"selectedType": "gemini-api-key" if access.key else "oauth-personal"}},
            "general": {"enableAutoUpdate": False, "maxAttempts": self.options.api_retries + 1},
            "privacy": {"usageStatisticsEnabled": False},
        }
        (home / "settings.json").write_text(canonical_json(settings), encoding="utf-8")
        environment = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "NO_BROWSER": "true"}
        if self.is_elsewhere(access):
            environment["GOOGLE_GEMINI_BASE_URL"] = access.address
        return Launch(("--experimental-acp", "-m", self.model(request.model) or ""), environment)

    def reading(self, request: RunRequest) -> Reading:
        """Reads its own shape of usage, too."""
        return GeminiReading(request.prompt, [skill.ref.name for skill in request.skills])


class GeminiReading(Reading):
    """Finds tools in the ids of their calls, and skills in what a call gave."""

    refused = ()

    def tool_name(self, call: ToolCall) -> str:
        """The part of a call's id that is the tool."""
        match = _TOOL.fullmatch(call.id)
        return match[1] if match else super().tool_name(call)

    def finished(self, call: ToolCall) -> None:
        """The tool for skills says itself which one it has loaded."""
        if self.tool_name(call) != _SKILL_TOOL:
            super().finished(call)
            is_silent = text_at(call.fields, "kind") == "execute" and not items_at(call.fields, "content")
            self.may_have_read |= is_silent and self._can_read(text_at(call.fields, "title") or "")
            return
        if call.status == FAILED and (name := self._asked_for(call)):
            self.refuse(name, f"its tool failed: {call.result}")
        for part in items_at(call.fields, "content"):
            if loaded := _SKILL.match(text_at(part, "content", "text") or ""):
                self.fired.add(loaded[1], INVOKED)

    def rejected(self, call: ToolCall) -> None:
        """The program asks before it loads a skill."""
        if self.tool_name(call) == _SKILL_TOOL and (name := self._asked_for(call)):
            self.refuse(name, "the engine rejected the permission to load it", ALLOW)

    def _asked_for(self, call: ToolCall) -> str | None:
        """Return the skill that a call of the tool for skills names."""
        title = _ASKED_FOR.match(text_at(call.fields, "title") or "")
        return title[1] if title else None

    def _can_read(self, command: str) -> bool:
        """Tell whether a command could print a skill: it names one, or their folder, or files by a pattern."""
        return any(name in command for name in self._installed) or bool(
            self._installed and _LOOKS_ROUND.search(command)
        )

    def usage_of(self, answer: JsonObject, cost_usd: float | None) -> Usage | None:
        """The sum alone: what a cache held is in its input and is not told, and thoughts are not in its output."""
        counts = answer.get("_meta")
        read, written = (count_at(counts, "quota", "token_count", key) for key in ("input_tokens", "output_tokens"))
        if not read and not written:
            return None
        return Usage(total_tokens=(read or 0) + (written or 0))
