"""The facts that a probe has seen, and the configuration that says so."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .model import ANSWER, Counts, ScriptedModel

_OWN_NAMES = (("name",), ("_meta", "toolName"), ("_meta", "tool_name"))
"""Where a call of the protocol may name its tool."""
_NAMES = ("name", "tool", "toolName", "tool_name")
_KINDS = ("type", "event", "kind")
"""Fields by which lines of JSON say what they are."""
_OPENAI = "https://api.openai.com/v1"


@dataclass
class Findings:
    """The facts that a program could be seen to tell; `None` is unknown."""

    argv: Sequence[str]
    is_protocol: bool
    name: str | None = None
    """As it calls itself."""
    version: str | None = None
    answers: bool = False
    """Whether the model's answer came out of it."""
    reaches_model: bool = False
    skill_folder: str | None = None
    skill_tool: str | None = None
    usage: str | None = None
    """The rule by which an agent of the protocol tells tokens."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Options by which the engine `command` reads its lines."""
    strange: tuple[str, ...] = ()
    trouble: str | None = None
    """The reason why it did not come to its end."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that it was given, with placeholders."""

    def lines(self) -> Iterator[str]:
        """For people, one fact a line."""
        yield f"speaks: {'the Agent Client Protocol' if self.is_protocol else 'no protocol; run to its end'}"
        if self.is_protocol:
            yield f"calls itself: {_known(self.name)}, version {_known(self.version)}"
        yield f"asked the local model: {_yes(self.reaches_model)}"
        yield f"gave its answer: {_yes(self.answers)}"
        yield f"finds skills in: {_known(self.skill_folder)}"
        yield f"loads them by: {_known(self.skill_tool)}"
        yield f"tells tokens: {_known(self.usage if self.is_protocol else json.dumps(self.reading.get('usage_keys')))}"
        for request in self.strange:
            yield f"asked for {request}, which the local model does not serve"
        if self.trouble:
            yield f"stopped: {self.trouble}"

    def configuration(self) -> str:
        """A description to paste; without what is unknown."""
        about_skills = {"skill_folder": self.skill_folder, "skill_tool": self.skill_tool}
        options: dict[str, Any] = {"argv": list(self.argv)}
        if not self.is_protocol:
            options |= {**about_skills, **self.reading, "pass_env": ["OPENAI_API_KEY"] if self.reaches_model else None}
            return _yaml({"plugins": {"engines": {"command": _told(options)}}})
        options |= {"agent_name": self.name, **about_skills, "usage": self.usage}
        if self.reaches_model:
            options |= {"key_variable": "OPENAI_API_KEY", "base_url": _OPENAI, "env": dict(self.env)}
        name = self.argv[0].rpartition("/")[2]
        return _yaml({"plugins": {"engines": {"acp": {"agents": {name: _told(options)}}}}})


def _told(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}


def _known(value: str | None) -> str:
    return value if value and value != "null" else "unknown"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _yaml(value: Mapping[str, Any], indent: str = "") -> str:
    lines = []
    for key, one in value.items():
        if isinstance(one, Mapping):
            lines += [f"{indent}{key}:", _yaml(one, f"{indent}  ")]
        else:
            lines.append(f"{indent}{key}: {json.dumps(one, ensure_ascii=False)}")
    return "\n".join(lines)


def of_model(findings: Findings, model: ScriptedModel, folders: Mapping[str, str]) -> None:
    """Add what the model has seen.

    Args:
        findings: filled in.
        model: after the session.
        folders: name of a skill to the folder in which it alone lies.
    """
    findings.reaches_model = bool(model.calls or model.asides)
    findings.skill_folder = next((folders[name] for name in model.offered), None)
    findings.strange = tuple(model.strange)


def of_updates(
    findings: Findings, updates: Sequence[Mapping[str, Any]], answer: Mapping[str, Any], model: ScriptedModel
) -> None:
    """Add what an agent of the protocol has told of its session."""
    chunks = [one for one in updates if one.get("sessionUpdate") == "agent_message_chunk"]
    findings.answers = ANSWER in "".join(str((one.get("content") or {}).get("text") or "") for one in chunks)
    findings.skill_tool = _tool_in(updates, model.offered)
    findings.usage = _rule(answer.get("usage"), [_at(one, ("_meta", "usage")) for one in updates], model.spent)


def _tool_in(updates: Sequence[Mapping[str, Any]], offered: Collection[str]) -> str | None:
    """Return the name of the call that names a skill, else the first title that it had."""
    calls: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for one in updates:
        if "toolCallId" in one:
            calls[one["toolCallId"]].append(one)
    for pieces in calls.values():
        if not any(name in json.dumps(pieces) for name in offered):
            continue
        own = [name for one in pieces for place in _OWN_NAMES if isinstance(name := _at(one, place), str)]
        titles = [title.partition(":")[0].strip() for one in pieces if isinstance(title := one.get("title"), str)]
        return next(iter([*own, *titles]), None)
    return None


def _rule(final: Any, messages: Sequence[Any], spent: Sequence[Counts]) -> str | None:
    outputs = {counts.output for counts in spent if counts.output}
    if isinstance(final, Mapping) and final.get("outputTokens") in outputs:
        return "final"
    counts_told = [one["outputTokens"] for one in messages if isinstance(one, Mapping) and "outputTokens" in one]
    return "messages" if counts_told and sum(counts_told) in outputs else None


def of_output(findings: Findings, output: str, model: ScriptedModel) -> None:
    """Add what a program has printed, and how the engine `command` can read it."""
    findings.answers = ANSWER in output
    records = [one for line in output.splitlines() if isinstance(one := _parsed(line), dict)]
    reading: dict[str, Any] = {}
    for record in records:
        for path, value in _leaves(record):
            if value == ANSWER:
                reading |= {"answer_key": ".".join(path), "answer_where": _kind(record)}
    for part in _objects(records):
        named = next((part[key] for key in _NAMES if isinstance(part.get(key), str)), None)
        if named and named not in model.offered and any(v in model.offered for _, v in _leaves(part)):
            findings.skill_tool = named
    findings.reading = {**reading, **_usage_keys(records, model.spent)}


def _usage_keys(records: Sequence[Mapping[str, Any]], spent: Sequence[Counts]) -> Mapping[str, Any]:
    """Find the numbers of lines of one kind which add up to what the model has told."""
    groups: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        groups[json.dumps(_kind(record))].append(record)
    for kind, group in groups.items():
        sums: defaultdict[str, int] = defaultdict(int)
        for record in group:
            for path, value in _leaves(record):
                if isinstance(value, int) and not isinstance(value, bool):
                    sums[".".join(path)] += value
        for counts in spent:
            keys = {name: path for path, total in sums.items() for name in _names_of(total, counts)}
            if "output_tokens" in keys and "input_tokens" in keys:
                return {"usage_keys": keys, "usage_where": json.loads(kind)}
    return {}


def _names_of(total: int, counts: Counts) -> Iterator[str]:
    if total in (counts.sent, counts.sent - counts.cached):
        yield "input_tokens"
    if total == counts.cached:
        yield "cache_read_tokens"
    if total == counts.output:
        yield "output_tokens"
    if total == counts.sent + counts.output:
        yield "total_tokens"


def _kind(record: Mapping[str, Any]) -> dict[str, str]:
    return next(({key: record[key]} for key in _KINDS if isinstance(record.get(key), str)), {})


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _at(value: Any, place: Sequence[str]) -> Any:
    for step in place:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what lies below, each with the keys that lead to it; what is in lists is not reached by keys alone."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, (*path, str(key)))
    elif not isinstance(value, list):
        yield path, value


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
    if isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _objects(one)
