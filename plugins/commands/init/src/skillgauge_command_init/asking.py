"""Ask an agent, or another judge, for drafts of evals of a skill."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from skillgauge.api import Judge, JudgeReply, JudgeRequest, Problem, Usage, UsageError, cut, plain
from skillgauge.api.run import Invocation
from skillgauge_skill_folders import SKILL_FILE, Skill, files_of

DRAFTER = "agent"
"""The judge that is asked unless the user names another: it asks an agent's program, so a login is enough."""
TASKS, SILENT = 6, 2
"""Prompts that need the skill, as few as can show a lift, and prompts that must not make it fire."""
_SKILL_CHARACTERS, _FILES = 60_000, 200
_QUESTIONS = 2
MOST_SESSIONS = _QUESTIONS + 2 * TASKS + SILENT
"""The most sessions that drafting for one skill takes: questions, both arms of each task, one of each other prompt."""
_ANSWER_TOKENS = 8192
_TYPES = {
    "contains": "the answer contains the text",
    "icontains": "the same, upper or lower case",
    "not-contains": "the answer does not contain the text",
    "regex": "the pattern (Python, searched) is found in the answer",
    "not-regex": "the pattern is not found in the answer",
    "is-json": "the answer is JSON; no value",
    "file-exists": "there is a file with this path; globs are allowed",
    "not-file-exists": "there is none",
    "file-contains": "the file `path` contains the text",
    "file-regex": "the pattern is found in the file `path`",
}
"""Types of assertions that a program decides, and that start no program."""

_SYSTEM = f"""You write evals for an Agent Skill: a folder with a SKILL.md that an AI agent may load. Each eval is a \
prompt that a user might type, and assertions that a program checks after an agent has worked on it in an empty \
folder. Every eval is run with the skill and without it, and kept only if the results differ.

Write {TASKS} evals for what the skill asks for and an agent without it would not do by itself: its own rules, names, \
formats, limits. A prompt reads like a user's: it does not name the skill or repeat its rules, and is none of its \
examples. It needs nothing but the folder: put input that it needs into "files".
Write {SILENT} prompts of neighbouring topics for which the skill must not be used.

Assertions are objects {{"text": what has to hold, in a few words, "type": one of the types below, "value": ...}}:
{chr(10).join(f"- {name}: {meaning}" for name, meaning in _TYPES.items())}
Prefer one or two assertions an eval that nothing but following the skill meets. Do not assert what any answer would \
meet, and no exact wording that the skill does not ask for.

Answer with one JSON object and nothing else:
{{"evals": [{{"id": "short-name", "prompt": "...", "files": [{{"path": "in.txt", "content": "..."}}], \
"assertions": [{{"text": "...", "type": "regex", "value": "..."}}]}}], "must_not_trigger": ["..."]}}"""
_REPAIR = "That cannot be used: {why}. Answer again with the one JSON object that was asked for."

_Text = Annotated[str, Field(min_length=1, max_length=20_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DraftFile(_Strict):
    """Input of an eval."""

    path: Annotated[str, Field(min_length=1, max_length=200)]
    content: Annotated[str, Field(max_length=200_000)]


class DraftAssertion(_Strict):
    """A condition on the result that a program decides."""

    text: _Text
    type: str
    value: JsonValue = None
    path: str | None = None


class DraftEval(_Strict):
    """One prompt that needs the skill."""

    id: Annotated[str, Field(min_length=1, max_length=80)]
    prompt: _Text
    files: Annotated[list[DraftFile], Field(max_length=20)] = []
    assertions: Annotated[list[DraftAssertion], Field(min_length=1, max_length=10)]


class Drafts(_Strict):
    """The proposal of an agent."""

    evals: Annotated[list[DraftEval], Field(min_length=1, max_length=TASKS)]
    must_not_trigger: Annotated[list[_Text], Field(max_length=SILENT)] = []

    def as_evals(self) -> list[dict[str, Any]]:
        """The evals as `evals.json` has them, each marked as a draft."""
        tasks = [
            {
                "id": name,
                "draft": True,
                "prompt": one.prompt,
                "files": [file.model_dump() for file in one.files],
                "should_trigger": True,
                "assertions": [each.model_dump(exclude_none=True) for each in one.assertions],
            }
            for name, one in zip(_ids([one.id for one in self.evals]), self.evals, strict=True)
        ]
        for task in tasks:
            if not task["files"]:
                del task["files"]
        silent = [
            {"id": f"silent-{number}", "draft": True, "prompt": prompt, "should_trigger": False}
            for number, prompt in enumerate(self.must_not_trigger, 1)
        ]
        return [*tasks, *silent]


@dataclass(frozen=True)
class Answer:
    """The drafts, and what asking for them used as far as it is known."""

    drafts: Drafts
    usages: tuple[Usage, ...]


def drafter(call: Invocation, judge: str | None, engine: str, model: str | None) -> Judge:
    """Make the judge that is asked.

    Args:
        call: the command line.
        judge: the one that the user names; by default an agent's program, without tools.
        engine: whose program that is.
        model: the model that it asks; by default the engine's own.

    Raises:
        PluginError: it is not installed, or its options are wrong.
    """
    resolved = call.registry.resolve("judges", judge or DRAFTER)
    options: dict[str, Any] = {}
    if judge is None:
        options = {"engine": engine} | ({"model": model} if model else {})
    checked = call.registry.validated_options(resolved, options)
    return cast(Judge, resolved.provider.make(checked, call.registry.peers_of(resolved.provider)))


async def ask(judge: Judge, skill: Skill) -> Answer:
    """Ask for drafts; an answer that cannot be used is asked for once more.

    Raises:
        UsageError: there is no usable answer, and why.
    """
    question = _question(skill)
    user, why = question, ""
    usages: list[Usage] = []
    for _ in range(_QUESTIONS):
        reply: JudgeReply = await judge.ask(JudgeRequest(system=_SYSTEM, user=user, max_output_tokens=_ANSWER_TOKENS))
        usages += [reply.usage] if reply.usage else []
        if reply.text is None:
            why = reply.error or "it gave neither an answer nor an error"
            break
        try:
            return Answer(drafts=read(reply.text), usages=tuple(usages))
        except ValueError as error:
            why = f"its answer cannot be used: {error}"
            user = f"{question}\n\n{_REPAIR.format(why=error)}"
    message = f"no drafts of evals for {plain(skill.name)}: {plain(why)}"
    hint = "Run `skillgauge init` again, with another --engine or --model; without --yes it makes a skeleton."
    raise UsageError(Problem("init.no-drafts", message, hint=hint))


def read(text: str) -> Drafts:
    """Read an answer.

    Raises:
        ValueError: it holds no such object, with everything that is wrong with it.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise ValueError("there is no JSON object in it")
    try:
        drafts = Drafts.model_validate_json(text[start : end + 1], strict=True)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, one['loc'])) or 'the answer'}: {one['msg']}" for one in error.errors()[:8]]
        raise ValueError(cut("; ".join(wrong), 600)) from None
    if faults := list(_faults(drafts)):
        raise ValueError(cut("; ".join(faults), 600))
    return drafts


def _faults(drafts: Drafts) -> Iterator[str]:
    """Yield everything that no program could check, or that must not be done."""
    for draft in drafts.evals:
        for assertion in draft.assertions:
            kind, value = assertion.type, assertion.value
            if kind not in _TYPES:
                yield f"{draft.id}: {kind!r} is no type of assertion here"
            elif kind.startswith("file-") and kind != "file-exists" and not assertion.path:
                yield f"{draft.id}: {kind} needs a 'path'"
            elif "regex" in kind and not _compiles(value):
                yield f"{draft.id}: {value!r} is no pattern"
        for file in draft.files:
            parts = PurePosixPath(file.path)
            if parts.is_absolute() or ".." in parts.parts:
                yield f"{draft.id}: the path {file.path!r} leads out of the workspace"


def _compiles(pattern: object) -> bool:
    try:
        return isinstance(pattern, str) and bool(re.compile(pattern))
    except re.error:
        return False


def _question(skill: Skill) -> str:
    """The skill as the question shows it."""
    text = (skill.root / SKILL_FILE).read_text("utf-8-sig")
    files = files_of(skill.root, ("evals", ".git"))[:_FILES]
    listing = json.dumps(files, ensure_ascii=False)
    return f"The files of the skill {skill.name!r}: {listing}\n\nIts SKILL.md:\n\n{cut(text, _SKILL_CHARACTERS)}"


def _ids(names: Sequence[str]) -> list[str]:
    """The names as ids, each once."""
    ids: list[str] = []
    for name in names:
        base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "eval"
        ids.append(next(each for each in (base, *(f"{base}-{at}" for at in range(2, 99))) if each not in ids))
    return ids


def cost(usages: Sequence[Usage | None]) -> float | None:
    """The known cost in US dollars; `None` if nothing of it is known."""
    costs = [usage.cost_usd for usage in usages if usage is not None and usage.cost_usd is not None]
    return sum(costs) if costs else None
