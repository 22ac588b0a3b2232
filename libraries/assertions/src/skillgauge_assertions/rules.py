"""Assertions of promptfoo as checks: one function for each group of types, a table of all of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from skillgauge.api import JsonObject, JsonValue
from skillgauge_patterns import compiled

from .templates import as_text

Made: TypeAlias = tuple[str, JsonObject]
"""A scorer and its options."""


class RefusalError(Exception):
    """An assertion that nothing here decides as promptfoo would."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Given:
    """An assertion with variables put in."""

    type: str
    """Without `not-`."""
    negated: bool
    value: JsonValue
    threshold: float | None
    skills: tuple[str, ...] = ()
    """Names of the skills that are installed."""
    direct: bool = False
    """Whether a command answers, and no agent."""

    @property
    def text(self) -> str:
        """The value as one text.

        Raises:
            RefusalError: it is none, or empty.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, str | int | float) or self.value == "":
            raise RefusalError(f"{self.type} needs a text as `value`")
        return as_text(self.value)

    @property
    def texts(self) -> tuple[str, ...]:
        """The value as texts: a list, or one text with commas between them.

        Raises:
            RefusalError: it is something else.
        """
        if isinstance(self.value, str) and self.value.strip():
            try:
                rows = list(csv.reader([self.value], skipinitialspace=True))
            except csv.Error as error:
                raise RefusalError(f"{self.type} needs a list of texts as `value`: {error}") from None
            return tuple(one.strip() for one in rows[0]) if rows else ()
        listed = self.value if isinstance(self.value, tuple) else ()
        if listed and all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in listed):
            return tuple(map(as_text, listed))
        raise RefusalError(f"{self.type} needs a list of texts as `value`")

    def plain(self) -> None:
        """Raises `RefusalError` where the contrary is asked of what has none here."""
        if self.negated:
            raise RefusalError(f"there is no contrary of {self.type} here", "Say it by another assertion.")


def _equals(assertion: Given) -> Made:
    if isinstance(assertion.value, Mapping | tuple):
        assertion.plain()
        return "exact", {"value": assertion.value}
    text = _equal_text(assertion)
    if assertion.negated:
        return _regex(rf"\A\s*{_literal(text.strip())}\s*\Z", assertion)
    return "exact", {"value": text}


def _equal_text(given: Given) -> str:
    """Return the text that an output has to be; nothing at all is the empty text."""
    if given.value in (None, ""):
        return ""
    if isinstance(given.value, bool):
        return str(given.value).lower()
    return given.text


def _contains(assertion: Given) -> Made:
    strict = not assertion.type.startswith("i")
    several = assertion.type.endswith(("-any", "-all"))
    texts = assertion.texts if several else (assertion.text,)
    if not all(texts):
        raise RefusalError(
            f"{assertion.type} looks for an empty text, which is always found", "Take it out of the list."
        )
    if assertion.type.endswith("-any") and not assertion.negated and len(texts) > 1:
        return _regex("|".join(map(_literal, texts)), assertion, strict=strict)
    if assertion.type.endswith("-all") and len(texts) > 1:
        # One pattern, so that a part of the texts is no part of a score: promptfoo knows all or nothing.
        return _regex(r"\A" + "".join(f"(?=(?s:.*){_literal(text)})" for text in texts), assertion, strict=strict)
    return "contains", {"keywords": texts, "case_sensitive": strict, "absent": assertion.negated}


def _literal(text: str) -> str:
    return re.escape(text)


def _regex(pattern: str, given: Given, *, strict: bool = True) -> Made:
    return "regex", {"patterns": (pattern,), "case_sensitive": strict, "absent": given.negated}


def _pattern(assertion: Given) -> Made:
    try:
        compiled(assertion.text)
    except ValueError as error:
        raise RefusalError(
            f"this is no regular expression here: {error}", "Write it without JavaScript's extras."
        ) from error
    return _regex(assertion.text, assertion)


def _starts(given: Given) -> Made:
    return _regex(rf"\A{_literal(given.text)}", given)


def _json(assertion: Given) -> Made:
    schema: JsonValue = {} if assertion.value in (None, "") else assertion.value
    if not isinstance(schema, Mapping):
        raise RefusalError(f"{assertion.type} needs a JSON Schema as `value`, which is an object")
    anywhere = assertion.type == "contains-json"
    return "json-schema", {"schema": schema, "anywhere": anywhere, "absent": assertion.negated}


def _words(assertion: Given) -> Made:
    value = assertion.value
    bounds = value if isinstance(value, Mapping) else {"min": value, "max": value}
    least, most = (_count(bounds.get(key)) for key in ("min", "max"))
    if set(bounds) - {"min", "max"} or (least is None and most is None):
        raise RefusalError("word-count needs a number of words, or an object with `min` and `max`")
    if least is not None and most is not None and least > most:
        raise RefusalError(f"word-count: {least} is more than {most}")
    lower, upper = least or 0, "" if most is None else most
    return _regex(rf"\A\s*+(?:\S++(?:\s++|\Z)){{{lower},{upper}}}+\Z", assertion)


def _count(value: JsonValue) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise RefusalError("a number of words or calls is a whole number")


def _levenshtein(given: Given) -> Made:
    most = 5 if given.threshold is None else given.threshold
    return _regex(rf"(?s)\A(?:{_literal(given.text)}){{e<={int(most)}}}\Z", given)


def _limit(name: str, unit: float) -> Callable[[Given], Made]:
    def make(assertion: Given) -> Made:
        assertion.plain()
        if assertion.threshold is None:
            raise RefusalError(f"{assertion.type} needs a `threshold`")
        return "usage", {name: assertion.threshold * unit}

    return make


def _rubric(assertion: Given) -> Made:
    assertion.plain()
    if isinstance(assertion.value, tuple):
        assertion = Given(assertion.type, False, "\n".join(map(as_text, assertion.value)), assertion.threshold)
    text = as_text(assertion.value) if isinstance(assertion.value, Mapping) else assertion.text
    threshold = 0.7 if assertion.type == "g-eval" and assertion.threshold is None else assertion.threshold
    scale: JsonObject = {} if threshold is None else {"scale": "0-1", "threshold": threshold}
    return "rubric", {"criteria": text, **_AS_PROMPTFOO, **scale}


_AS_PROMPTFOO: JsonObject = {"trajectory": False, "files": False}
"""A grader of promptfoo sees the output and nothing else."""
FACTS = (
    "The answer states the same facts as the reference. It may say less, or more that does not contradict the "
    "reference; it fails where it contradicts it."
)


def _factuality(given: Given) -> Made:
    given.plain()
    return "rubric", {"criteria": FACTS, "reference": given.text, **_AS_PROMPTFOO}


def _skill(assertion: Given) -> Made:
    names, times = _matched(assertion, "name")
    for name in names:
        if name not in assertion.skills:
            skills_text = f"installed: {', '.join(assertion.skills)}" if assertion.skills else "none is"
            is_denied = assertion.negated or times == 0
            hint = "Take it out: it could never fail." if is_denied else "Put the file into the skill's folder."
            raise RefusalError(f"no skill {name!r} is installed ({skills_text})", hint)
    if times == 0 or assertion.negated:
        if len(names) > 1:
            raise RefusalError("not-skill-used of several skills is not supported", "Write one assertion for each.")
        return "trigger", {"skill": names[0], "should_trigger": False}
    if len(names) == 1 and times == 1:
        return "trigger", {"skill": names[0], "should_trigger": True}
    return "sequence", {"skills": names * times, "order": "any"}


def _matched(assertion: Given, key: str) -> tuple[tuple[str, ...], int]:
    """Names, and how often each has to be there; 0: never."""
    value = assertion.value
    if not isinstance(value, Mapping):
        return assertion.texts if isinstance(value, tuple) else (assertion.text.strip(),), 1
    name, least, most = value.get(key), _count(value.get("min")), _count(value.get("max"))
    if set(value) - {key, "min", "max"} or not isinstance(name, str) or not name:
        raise RefusalError(f"{assertion.type} of an object needs `{key}` and knows `min` and `max` beside it")
    return (name,), _least_times(assertion, least, most)


def _least_times(given: Given, least: int | None, most: int | None) -> int:
    """Return how often a name has to be there; 0: never."""
    if most is not None and (most or least):
        raise RefusalError(f"{given.type} cannot say how often at most", "Leave `max` out, or set it to 0.")
    if given.negated and least:
        raise RefusalError(f"not-{given.type} takes no `min`")
    if most == 0:
        return 0
    return max(1, least or 1)


def _tool(assertion: Given) -> Made:
    value = assertion.value
    if isinstance(value, Mapping) and "pattern" in value:
        (glob,), times = _matched(assertion, "pattern")
        if times > 1:
            raise RefusalError("a pattern of tools with `min` above 1 is not supported", "Name the tool.")
        return "tool-call", {"tool_pattern": _glob(glob), "called": times > 0 and not assertion.negated}
    names, times = _matched(assertion, "name")
    if times == 0 or assertion.negated:
        either = rf"\A(?:{'|'.join(map(_literal, names))})\Z"
        tool: JsonObject = {"tool": names[0]} if len(names) == 1 else {"tool_pattern": either}
        return "tool-call", {**tool, "called": False}
    if len(names) == 1 and times == 1:
        return "tool-call", {"tool": names[0]}
    return "sequence", {"tools": names * times, "order": "any"}


_WILDCARDS = {"*": ".*", "?": "."}


def _glob(glob: str) -> str:
    inner = "".join(_WILDCARDS.get(sign) or _literal(sign) for sign in glob)
    return rf"\A(?:{inner})\Z"


def _unsupported(value: Mapping[str, JsonValue]) -> str:
    """Return what an assertion on arguments says beyond what can be compared; empty if nothing."""
    extra = set(value) - {"name", "pattern", "args", "arguments", "mode"}
    if extra:
        return ", ".join(sorted(extra))
    if value.get("mode", "partial") != "partial":
        return "mode exact"
    return ""


def _arguments(assertion: Given) -> Made:
    value = assertion.value
    arguments = value.get("args", value.get("arguments")) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(arguments, Mapping) or not arguments:
        raise RefusalError(f"{assertion.type} needs `name` or `pattern`, and `args`")
    unsupported = _unsupported(value)
    if unsupported:
        hint = "Only some of the arguments can be compared."
        raise RefusalError(f"{assertion.type}: {unsupported} is not supported", hint)
    if not all(isinstance(text, str) for text in arguments.values()):
        raise RefusalError(f"{assertion.type} compares arguments that are texts, and no others")
    patterns = {key: rf"\A{_literal(str(text))}\Z" for key, text in arguments.items()}
    name, glob = value.get("name"), value.get("pattern")
    if not isinstance(glob or name, str):
        raise RefusalError(f"{assertion.type} needs `name` or `pattern`")
    tool: JsonObject = {"tool_pattern": _glob(str(glob))} if glob else {"tool": name}
    return "tool-call", {**tool, "arguments": patterns, "called": not assertion.negated}


def _sequence(assertion: Given) -> Made:
    assertion.plain()
    value = assertion.value if isinstance(assertion.value, Mapping) else {"steps": assertion.value}
    steps, mode = value.get("steps"), value.get("mode", "in_order")
    names = (
        tuple(one.get("name") if isinstance(one, Mapping) else one for one in steps) if isinstance(steps, tuple) else ()
    )
    if not names or not all(isinstance(one, str) and one for one in names) or mode not in ("in_order", "exact"):
        raise RefusalError(f"{assertion.type} needs names of tools as `steps`, and `mode` in_order or exact")
    return "sequence", {"tools": names, "order": "exact" if mode == "exact" else "in-order"}


def _steps(assertion: Given) -> Made:
    assertion.plain()
    value = assertion.value
    if not isinstance(value, Mapping) or set(value) != {"type", "max"} or value["type"] != "tool":
        raise RefusalError(
            f"{assertion.type} can only be {{type: tool, max: N}} here", "Count by trajectory:tool-used."
        )
    return "usage", {"tool_calls": _count(value["max"])}


Rule: TypeAlias = Callable[[Given], Made]
RULES: Mapping[str, Rule] = {
    "equals": _equals,
    **dict.fromkeys(
        ("contains", "icontains", "contains-any", "icontains-any", "contains-all", "icontains-all"), _contains
    ),
    "starts-with": _starts,
    "regex": _pattern,
    "is-json": _json,
    "contains-json": _json,
    "word-count": _words,
    "levenshtein": _levenshtein,
    "latency": _limit("duration_s", 0.001),
    "cost": _limit("cost_usd", 1),
    "llm-rubric": _rubric,
    "model-graded-closedqa": _rubric,
    "g-eval": _rubric,
    "factuality": _factuality,
    "model-graded-factuality": _factuality,
    "skill-used": _skill,
    "trajectory:tool-used": _tool,
    "trajectory:tool-args-match": _arguments,
    "trajectory:tool-sequence": _sequence,
    "trajectory:step-count": _steps,
}


_EMBEDDINGS = "compares by a model of embeddings, which no judge here is"
_OTHER_MODEL = "needs a service of its own, which is not called here"
_OVERLAP = "measures the overlap of words, which no scorer here does"
_TRACE = "reads a trace, which no engine here writes"
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(("similar", "similar:cosine", "similar:dot", "similar:euclidean", "answer-relevance"), _EMBEDDINGS),
    **dict.fromkeys(("bleu", "gleu", "meteor", "rouge-n", "rouge-s", "rouge-l"), _OVERLAP),
    **dict.fromkeys(("classifier", "moderation", "pi", "webhook", "guardrails"), _OTHER_MODEL),
    **dict.fromkeys(("trace-span-count", "trace-span-duration", "trace-error-spans"), _TRACE),
    **dict.fromkeys(
        ("context-faithfulness", "context-recall", "context-relevance"), "grades a context that was looked up"
    ),
    **dict.fromkeys(("perplexity", "perplexity-score"), "reads probabilities of tokens, which no engine here tells"),
    **dict.fromkeys(("select-best", "max-score"), "compares outputs of several providers with each other"),
    **dict.fromkeys(
        ("is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call", "tool-call-f1"),
        "reads calls of functions out of the output of a model",
    ),
    **dict.fromkeys(
        ("is-html", "contains-html", "is-xml", "contains-xml", "is-sql", "contains-sql"), "needs a parser of it"
    ),
    "ruby": "is code in Ruby",
    "is-refusal": "knows a refusal by a list of phrases that is promptfoo's own",
    "finish-reason": "reads why the model stopped, which no engine here tells",
    "conversation-relevance": "grades a conversation",
    "trajectory:goal-success": "shows a judge the trajectory; write an llm-rubric about the goal",
}
PROGRAMS: Mapping[str, str] = {"python": "python3", "javascript": "node"}
"""Types whose value is code, and what runs it."""
TYPES = frozenset(f"{no}{name}" for no in ("", "not-") for name in (*RULES, *REFUSED, *PROGRAMS))
"""Every type that promptfoo has, with its contrary."""
