"""Skills of Claude Code, whichever engine drives it: those that its model was told of, and those it did not load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skillgauge.api import Block, JsonValue, RefusedSkill

from ..json_lines import bounded_text, items_at, text_at, texts_at

SKILL_TOOL = "Skill"
_REASON_CHARACTERS = 300
_OWN_FAULT = "InputValidationError"
"""Begins the answer to arguments that the model got wrong, which it can put right."""


@dataclass(frozen=True)
class Remedies:
    """The steps that the user of an engine can take if a skill was not loaded."""

    allow: str
    """If a permission is missing."""
    unhook: str
    """If a hook stopped the tool."""


class SkillCalls:
    """Collects calls of the tool `Skill`, and those whose result is an error.

    Args:
        remedies: what the user can do about refusals.
    """

    def __init__(self, remedies: Remedies) -> None:
        self._remedies = remedies
        self._skills: dict[str, str] = {}
        self._errors: dict[str, str] = {}

    def called(self, call_id: str, skill: str) -> None:
        """Take a call, with the skill that it names."""
        self._skills[call_id] = skill.removeprefix("/")

    def failed(self, call_id: str, reason: str) -> None:
        """Take the result of a call, of any tool, that is an error."""
        if call_id in self._skills:
            self._errors[call_id] = reason.replace("<tool_use_error>", "").replace("</tool_use_error>", "").strip()

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
                yield RefusedSkill(
                    name=name, reason=f"a hook blocked the tool Skill: {said}", hint=self._remedies.unhook
                )
            else:
                reason = "the session's permissions do not allow the tool Skill"
                yield RefusedSkill(name=name, reason=reason, hint=self._remedies.allow)


def refused_unasked(
    skills: Iterable[str], start: JsonValue, offered: Iterable[str], remedies: Remedies
) -> Iterator[RefusedSkill]:
    """Yield the skills that the model cannot ask for.

    Args:
        skills: those that were installed.
        start: the program's own account of the session's start, with its tools and the skills that it found.
        offered: skills that the model was told of.
        remedies: what the user can do about refusals.
    """
    if not has_skill_tool(start):
        reason = "the session's permissions take the tool Skill away"
        yield from (RefusedSkill(name=name, reason=reason, hint=remedies.allow) for name in skills)
        return
    unlisted = set(texts_at(start, "skills")) - set(offered)
    yield from (_kept_from_model(name) for name in skills if name in unlisted)


def has_skill_tool(start: JsonValue) -> bool:
    """Return whether the agent can load skills; settings that deny the tool leave it out of the session."""
    tools = texts_at(start, "tools")
    return not tools or SKILL_TOOL in tools


def offered_skills(start: JsonValue, listed: Iterable[str] | None, named: Iterable[str]) -> tuple[str, ...]:
    """Return the skills that the model was told of, and those that the prompt named.

    The program's list at its start has skills that only a user may call, and lacks those that only the model may, so
    it counts only where the session file has no list.

    Args:
        start: the program's own account of the session's start.
        listed: skills in the session file; `None` if it tells of none.
        named: skills that the prompt put into the request.
    """
    if not has_skill_tool(start):
        return ()
    return texts_at(start, "skills") if listed is None else tuple(dict.fromkeys((*listed, *named)))


def listed_skills(record: JsonValue) -> tuple[str, ...] | None:
    """Return the skills that a line of the session file says the model was told of; `None` for other lines."""
    if text_at(record, "type") != "attachment" or text_at(record, "attachment", "type") != "skill_listing":
        return None
    return texts_at(record, "attachment", "names")


def _kept_from_model(name: str) -> RefusedSkill:
    reason = "the program tells its model nothing of it, as `disable-model-invocation` in its front matter asks"
    hint = f"Take that field out, or begin the prompt with /{name}, as a user of the skill would"
    return RefusedSkill(name=name, reason=reason, hint=hint)


def flat(content: JsonValue) -> str:
    """Return the text of a result, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = (text_at(part, "text") or f"[{text_at(part, 'type') or 'part'}]" for part in items_at(content))
    return "\n".join(parts)
