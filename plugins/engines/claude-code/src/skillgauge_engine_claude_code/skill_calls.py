"""Calls of the tool `Skill`: which of them loaded nothing, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skillgauge.api import Block, JsonValue, RefusedSkill
from skillgauge_agent_programs.json_lines import bounded_text, items_at, text_at

SKILL_TOOL = "Skill"
_REASON_CHARACTERS = 300
_OWN_FAULT = "InputValidationError"
"""Begins the answer to arguments that the model got wrong, which it can put right."""
_ALLOW = (
    "Take Skill out of permissions.deny and permissions.ask in the engine's option `settings` "
    "and in the .claude/settings.json of the workspace"
)
_UNHOOK = (
    "Take the hook for the tool Skill out of the engine's option `settings`, "
    "out of the .claude/settings.json of the workspace, or out of what the arm installs"
)


class SkillCalls:
    """Collects calls of the tool, and those whose result is an error."""

    def __init__(self) -> None:
        self._skills: dict[str, str] = {}
        self._errors: dict[str, str] = {}

    def called(self, part: JsonValue) -> None:
        """Take a part of a message of the model."""
        call_id = text_at(part, "id")
        if call_id and text_at(part, "name") == SKILL_TOOL:
            self._skills[call_id] = (text_at(part, "input", "skill") or "").removeprefix("/")

    def failed(self, call_id: str, told: str) -> None:
        """Take the result of a call, of any tool, that is an error."""
        if call_id in self._skills:
            self._errors[call_id] = told.replace("<tool_use_error>", "").replace("</tool_use_error>", "").strip()

    def refusals(self, blocked: Mapping[str, Block]) -> Iterator[RefusedSkill]:
        """Yield a refusal for each call that loaded nothing, but for those with wrong arguments.

        Args:
            blocked: call id -> what stopped the call.
        """
        for call_id, told in self._errors.items():
            if told.startswith(_OWN_FAULT):
                continue
            name = self._skills[call_id]
            said = bounded_text(" ".join(told.split()), _REASON_CHARACTERS)
            block = blocked.get(call_id)
            if block is None:
                yield RefusedSkill(name=name, reason=f"the tool Skill failed: {said}")
            elif block.by == "hook":
                yield RefusedSkill(name=name, reason=f"a hook blocked the tool Skill: {said}", hint=_UNHOOK)
            else:
                reason = "the session's permissions do not allow the tool Skill"
                yield RefusedSkill(name=name, reason=reason, hint=_ALLOW)


def without_tool(name: str) -> RefusedSkill:
    """Return the refusal of a skill in a session that does not have the tool at all."""
    return RefusedSkill(name=name, reason="the session's permissions take the tool Skill away", hint=_ALLOW)


def kept_from_model(name: str) -> RefusedSkill:
    """Return the refusal of a skill that the program found and did not tell its model of."""
    reason = "the program tells its model nothing of it, as `disable-model-invocation` in its front matter asks"
    hint = f"Take that field out, or begin the prompt with /{name}, as a user of the skill would"
    return RefusedSkill(name=name, reason=reason, hint=hint)


def flat(content: JsonValue) -> str:
    """Return the text of a result, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = (text_at(part, "text") or f"[{text_at(part, 'type') or 'part'}]" for part in items_at(content))
    return "\n".join(parts)
