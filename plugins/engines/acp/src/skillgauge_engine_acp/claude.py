"""Claude Code behind its adapter `claude-agent-acp`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Literal

from skillgauge.api import (
    Block,
    Failure,
    FailureClass,
    JsonObject,
    JsonValue,
    RefusedSkill,
    RunRequest,
    Usage,
    Workspace,
)
from skillgauge_agent_programs.claude.skills import (
    SKILL_TOOL,
    Remedies,
    SkillCalls,
    has_skill_tool,
    listed_skills,
    offered_skills,
    refused_unasked,
)
from skillgauge_agent_programs.credentials import Key
from skillgauge_agent_programs.engine import Access, Launch
from skillgauge_agent_programs.failures import class_of_status, failed
from skillgauge_agent_programs.homes import files_in, lines_of
from skillgauge_agent_programs.json_lines import count_at, dig, items_at, parse_line, text_at, texts_at
from skillgauge_agent_programs.skills import EXPLICIT, INVOKED

from .agents import CLAUDE
from .calls import COMPLETED, ToolCall
from .connection import RemoteError
from .engine import AcpEngine, program_of
from .options import Permissions
from .reading import ALLOW, Reading

_SDK_MESSAGE = "_claude/sdkMessage"
_PROJECTS = ".claude/projects/*"
"""Folders of session files, by a pattern."""
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
_REMEDIES = Remedies(
    allow="Take Skill out of permissions.deny in the .claude/settings.json of the workspace",
    unhook="Take the hook for the tool Skill out of the .claude/settings.json of the workspace",
)
_STATUS = re.compile(r"\b(?:API Error:|rejected) \(?([45]\d\d)\b")
_COMMAND = re.compile(r"/(\S+)")
_KINDS: Mapping[str, FailureClass] = {
    "authentication_failed": FailureClass.AUTH,
    "billing_error": FailureClass.BUDGET,
    "rate_limit": FailureClass.RATE_LIMITED,
    "overloaded": FailureClass.OVERLOADED,
    "server_error": FailureClass.SERVER,
    "model_not_found": FailureClass.MODEL_NOT_FOUND,
}


class ClaudeEngine(AcpEngine):
    """Starts the adapter, which brings its own Claude Code.

    Skills that come with the program are off, and so are the user's settings; those of the workspace count.
    """

    name = CLAUDE.name
    agent = CLAUDE
    program = program_of(CLAUDE)
    address_variables = CLAUDE.address_variables
    diverting_variables = CLAUDE.diverting_variables

    def key_headers(self, key: Key) -> Mapping[str, str]:
        """As the program itself sends it."""
        return {"x-api-key": key.value} if key.variable == CLAUDE.variables[0] else super().key_headers(key)

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """All by the environment."""
        environment = _QUIET | {
            "ANTHROPIC_MODEL": self.model(request.model) or "",
            "CLAUDE_AGENT_ACP_PROTOCOL": "v1",
            "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
            "CLAUDE_CODE_MAX_RETRIES": str(self.options.api_retries),
            "CLAUDE_CONFIG_DIR": str(workspace.home / ".claude"),
        }
        if self.is_elsewhere(access):
            environment["ANTHROPIC_BASE_URL"] = access.address
        return Launch((), environment)

    def reading(self, request: RunRequest) -> Reading:
        """Reads messages of the SDK, too."""
        is_allowed = self.options.permissions is Permissions.ALLOW
        remedies = _REMEDIES if is_allowed else replace(_REMEDIES, allow=ALLOW)
        return ClaudeReading(request.prompt, [skill.ref.name for skill in request.skills], remedies)


class ClaudeReading(Reading):
    """Reads the messages of the program itself, which the adapter passes on when it is asked to."""

    def __init__(self, prompt: str, skills: Collection[str], remedies: Remedies) -> None:
        super().__init__(prompt, skills)
        self._remedies = remedies
        self._skill_calls = SkillCalls(remedies)
        self._start_message: JsonValue = None
        self._listed: tuple[str, ...] | None = None
        self._blocks: dict[str, Block] = {}
        self._tools: dict[str, str] = {}
        self._result: JsonValue = None
        self._earlier: Usage | None = None

    def session_meta(self, max_turns: int | None) -> JsonObject:
        """Pass on what tells about skills and permissions, and look at no settings of the user."""
        messages = ({"type": "system", "subtype": "init"}, {"type": "user"}, {"type": "result"})
        options: dict[str, JsonValue] = {"settingSources": ("project",), "promptSuggestions": False}
        if max_turns is not None:
            options["maxTurns"] = max_turns
        return {"claudeCode": {"emitRawSDKMessages": messages, "options": options}}

    def notified(self, method: str, params: JsonObject) -> None:
        """Take a message of the program."""
        message = dig(params, "message")
        if method != _SDK_MESSAGE:
            return
        match text_at(message, "type"):
            case "system" if self.offered is None:  # a sub-agent that works in the background makes it come again
                self._start(message)
            case "user":
                self._note_blocks(message)
            case "result":
                self._result = message
                self.turns = count_at(message, "num_turns")
                self._note_denials(message)
            case _:
                return

    def is_own_words(self, update: JsonObject) -> bool:
        """Tell whether a message is news of the program, as about gateways, which it may give after the answer."""
        return text_at(update, "_meta", "claudeCode", "kind") == "informational"

    def tool_name(self, call: ToolCall) -> str:
        """The vendor's name of it."""
        name = text_at(call.fields, "_meta", "claudeCode", "toolName") or super().tool_name(call)
        self._tools[call.id] = name or self._tools.get(call.id, "")
        return self._tools[call.id]

    def finished(self, call: ToolCall) -> None:
        """A skill's tool names the skill; one that is not there makes the call fail."""
        if self._tools.get(call.id) != SKILL_TOOL:
            super().finished(call)
        elif skill := text_at(call.fields, "rawInput", "skill"):
            self._skill_calls.called(call.id, skill)
            if call.status == COMPLETED:
                self.fired.add(skill, INVOKED)
            else:
                self._skill_calls.failed(call.id, call.result)

    def failure_of(self, error: RemoteError) -> Failure:
        """The program's own class of an error, or what the session's end says."""
        message = str(error).removeprefix("Internal error: ")
        if text_at(self._result, "subtype") == "error_max_turns":
            return failed(FailureClass.MAX_TURNS, message)
        if text_at(self._result, "terminal_reason") == "prompt_too_long":
            return failed(FailureClass.CONTEXT_TOO_LONG, message)
        status = _STATUS.search(message)
        if status:
            return failed(class_of_status(int(status[1]), message), message)
        kind = _KINDS.get(text_at(error.data, "errorKind") or "")
        return failed(kind, message) if kind else super().failure_of(error)

    def usage_of(self, answer: JsonObject, cost_usd: float | None) -> Usage | None:
        """By model, which counts what the program asks beside the session, too; it adds up all turns of one."""
        usage = _usage_by_model(self._result, "total_cost_usd", cost_usd)
        return usage.without(self._earlier) if usage else super().usage_of(answer, cost_usd)

    @property
    def known_refused(self) -> tuple[RefusedSkill, ...] | None:
        """Skills that the model cannot ask for, and those that it asked for in vain."""
        if self.offered is None:
            return None
        unasked = refused_unasked(self._installed, self._start_message, self.offered, self._remedies)
        refusals = self._skill_calls.refusals(self._blocks) if has_skill_tool(self._start_message) else ()
        return (*unasked, *refusals)

    def pass_over(self, home: Path, session: str) -> None:
        """Find what the turns before used: the program writes it down at the end of each, and goes on from there."""
        for path in files_in(home, f"{_PROJECTS}/{escape(session)}.jsonl"):
            for record in filter(None, map(parse_line, lines_of(path))):
                if text_at(record, "type") == "cost-state":
                    self._earlier = _usage_by_model(record, "totalCostUSD")

    def read_home(self, home: Path) -> None:
        """Find the skills that the model was told of; the list at the start is another."""
        for path in files_in(home, f"{_PROJECTS}/*.jsonl"):
            for record in filter(None, map(parse_line, lines_of(path))):
                if (names := listed_skills(record)) is not None:
                    self._listed = (*(self._listed or ()), *names)
        if self.offered is not None:
            named = (skill.name for skill in self.fired.all if skill.how == EXPLICIT)
            self.offered = offered_skills(self._start_message, self._listed, named)

    def _start(self, message: JsonValue) -> None:
        self._start_message = message
        self.offered = texts_at(message, "skills")
        self.blocked = ()
        self.program_version = f"claude {text_at(message, 'claude_code_version') or 'of an unknown version'}"
        command = _COMMAND.match(self.prompt.lstrip())
        if command and command[1] in self.offered:  # it puts the skill into the request, and nothing tells of it
            self.fired.add(command[1], EXPLICIT)

    def _note_blocks(self, message: JsonValue) -> None:
        for meta in items_at(message, "tool_result_meta"):
            if text_at(meta, "permission_decision", "decision") == "reject":
                by_hook = text_at(meta, "permission_decision", "source") == "hook"
                self._block(text_at(meta, "id") or "", "hook" if by_hook else "permission")

    def _note_denials(self, message: JsonValue) -> None:
        """Note the denials that the end lists and no message reported."""
        for denial in items_at(message, "permission_denials"):
            call_id = text_at(denial, "tool_use_id") or ""
            self._tools.setdefault(call_id, text_at(denial, "tool_name") or "")
            if call_id not in self._blocks:
                self._block(call_id, "permission")

    def _block(self, call_id: str, by: Literal["hook", "permission"]) -> None:
        event = "PreToolUse" if by == "hook" else None
        self._blocks[call_id] = Block(tool=self._tools.get(call_id, ""), by=by, event=event)
        self.blocked = tuple(self._blocks.values())


def _usage_by_model(record: JsonValue, cost: str, cost_usd: float | None = None) -> Usage | None:
    """Return the usage in a record that names it by model; `None` if it names no model.

    Args:
        record: of the program.
        cost: the key under which it names the dollars.
        cost_usd: those, where it does not.
    """
    models = dig(record, "modelUsage")
    used = list(models.values()) if isinstance(models, Mapping) else []
    if not used:
        return None
    parts = {
        "input_tokens": _sum(used, "inputTokens"),
        "cache_read_tokens": _sum(used, "cacheReadInputTokens"),
        "cache_write_tokens": _sum(used, "cacheCreationInputTokens"),
        "output_tokens": _sum(used, "outputTokens"),
    }
    counts = [count for count in parts.values() if count is not None]
    told = dig(record, cost)
    dollars = float(told) if isinstance(told, int | float) and not isinstance(told, bool) else cost_usd
    return Usage(
        **parts,
        reasoning_tokens=_sum(used, "thinkingTokens"),
        total_tokens=sum(counts) if len(counts) == len(parts) else None,
        cost_usd=dollars,
        cost_basis="price-list" if dollars is not None else None,  # of the program's own
    )


def _sum(used: list[JsonValue], key: str) -> int | None:
    counts = [count for one in used if (count := count_at(one, key)) is not None]
    return sum(counts) if counts else None
