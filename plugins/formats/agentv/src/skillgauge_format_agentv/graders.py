"""Assertions as checks: those that are agentv's own here, those of promptfoo by the library for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from skillgauge.api import EMPTY, JsonObject, JsonValue, did_you_mean
from skillgauge_assertions import (
    FILE,
    REFUSED,
    RULES,
    Given,
    Node,
    RefusalError,
    Vars,
    filled,
    filled_value,
)

from .reading import AgentvReading

RUBRICS = ("llm-rubric", "agent-rubric", "rubrics", "llm-grader", "llm-judge")
"""Types that ask a judge; the last three in older files."""
CONTRADICTION = "The answer does not contradict this: "
_OLD = {"code-grader": "script", "code-judge": "script", "composite": "assert-set"}
_SHARED = ("type", "metric", "name", "id", "weight", "required", "min_score", "negate", "description")
FOLDS, ENDS = "i", ("starts-with", "ends-with")
"""The flag that ignores upper and lower case, and the types that look at one end of the answer."""
_ANSWER = "the answer, which stands below"
_OWN_REFUSED: Mapping[str, str] = {
    "field-accuracy": "compares fields of an object, each with a weight; write an `is-json` with a JSON Schema",
    "similar": REFUSED["similar"],
    "webhook": REFUSED["webhook"],
    "trajectory:goal-success": REFUSED["trajectory:goal-success"],
}
_KEPT = "has no effect here: the judge is chosen by --judge and --judge-model"


@dataclass(frozen=True)
class Part:
    """A check, but for what all parts of a grader have in common."""

    what: str
    """What tells it from the other parts; empty if there is one."""
    scorer: str
    options: JsonObject
    weight: float = 1.0
    """Its share among the parts."""
    required: bool = False
    is_binary: bool = True


@dataclass(frozen=True)
class Around:
    """The surroundings of the graders of one test."""

    reading: AgentvReading
    values: Vars
    prompt: str
    criteria: str
    """What the test says of a good answer, in older files."""
    reference: JsonValue
    skills: tuple[str, ...]
    threshold: float
    """What passes the test."""


Maker: TypeAlias = Callable[[Node, Around], Iterator[Part]]


def kind_of(node: Node) -> tuple[str, bool]:
    """The type of an assertion as it is written today, without `not-`, and whether its contrary is meant."""
    written = node.at("type").value
    if not isinstance(written, str):
        raise RefusalError("an assertion needs a `type`")
    kind = written.replace("_", "-")
    plain = kind.removeprefix("not-")
    return _OLD.get(plain, plain), (plain != kind) is not (node.at("negate").value is True)


def parts_of(node: Node, around: Around) -> tuple[Part, ...]:
    """The checks of an assertion that is no group and no code.

    Raises:
        RefusalError: nothing here decides it as agentv would.
        TemplateError: it needs more than variables.
    """
    kind, negated = kind_of(node)
    if kind in _OWN_REFUSED:
        raise RefusalError(f"{kind} {_OWN_REFUSED[kind]}", "Take it out, or say it by an assertion that is read.")
    if kind in _OWN:
        keys, make = _OWN[kind]
        if negated:
            raise RefusalError(f"there is no contrary of {kind} here", "Say it by another assertion.")
        if not around.reading.only(node, {**dict.fromkeys((*_SHARED, *keys), ""), **_JUDGED}, "an assertion"):
            return ()
        return tuple(make(node, around))
    if kind not in _KNOWN:
        raise RefusalError(f"there is no assertion {kind!r}{did_you_mean(kind, [*_OWN, *_KNOWN])}")
    supported = dict.fromkeys((*_SHARED, "value", "threshold", "flags"), "") | _JUDGED
    if not around.reading.only(node, supported, "an assertion"):
        return ()
    value = filled_value(node.at("value").value, around.values)
    threshold = _number(node.at("threshold")) if node.has("threshold") else None
    flags = _flags(node, kind)
    inline = "".join(flag for flag in flags if flag != FOLDS)
    assertion = Given(kind, negated, f"(?{inline}){value}" if inline else value, threshold, around.skills)
    scorer, options = (ends_of if kind in ENDS else RULES[kind])(assertion)
    return (Part("", scorer, {**options, "case_sensitive": False} if FOLDS in flags else options),)


def _flags(node: Node, kind: str) -> str:
    """The flags that stand beside a pattern."""
    flags = node.at("flags").value
    if flags is None:
        return ""
    if kind != "regex" or not isinstance(flags, str) or set(flags) - set("ims"):
        raise RefusalError(f"flags {flags!r} are not supported", "Patterns take the flags i, m and s.")
    return flags


def ends_of(assertion: Given) -> tuple[str, JsonObject]:
    """Return the check of an assertion about one end of the answer, where blanks count for nothing."""
    text = re.escape(assertion.text.strip())
    pattern = rf"\A\s*{text}" if assertion.type == "starts-with" else rf"{text}\s*\Z"
    return "regex", {"patterns": (pattern,), "case_sensitive": True, "absent": assertion.negated}


def _number(node: Node) -> float:
    value = node.value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    raise RefusalError(f"{node.origin.pointer[-1]} has to be a number of at least 0")


def _least(node: Node) -> float | None:
    """The least that passes, where an assertion says it."""
    for key in ("min_score", "threshold"):
        if node.has(key):
            return _number(node.at(key))
    return None


def _rubric(node: Node, around: Around) -> Iterator[Part]:
    value, prompt = around.reading.first(node, "value", "criteria", "rubrics"), node.at("prompt")
    least = _least(node)
    if prompt.value is not None:
        yield _of_prompt(prompt, value, around, least)
    elif isinstance(value.value, tuple) and value.value:
        for part in value.items():
            yield _criterion(part, around)
    elif value.value is not None:
        text = _text(value, around)
        if least is None:
            yield Part("", "rubric", {"claims": (text,)})
        else:
            options: JsonObject = {"criteria": text, "scale": "0-1", "threshold": least}
            yield Part("", "rubric", options, is_binary=False)
    elif around.criteria:
        yield Part("", "rubric", {"claims": (around.criteria,)})
    elif around.reference is not None:
        yield reference(around.reference)
    else:
        raise RefusalError("there is nothing to ask a judge", "Give a `value`: a text, or a list of criteria.")


def reference(value: JsonValue) -> Part:
    """A judge compares with what would be right."""
    text = value if isinstance(value, str) else None
    scorer, options = RULES["factuality"](Given("factuality", False, text or str(value), None))
    return Part("", scorer, options)


def _criterion(node: Node, around: Around) -> Part:
    if isinstance(node.value, str):
        return Part(node.value.strip(), "rubric", {"claims": (_text(node, around),)})
    supported = dict.fromkeys(("id", "outcome", "criteria", "operator", "weight", "required", "description"), "")
    supported |= {"min_score": "one criterion is true or false"}
    supported |= {"score_ranges": "! asks for a number by its ranges; write what has to be true"}
    if not around.reading.only(node, supported, "a criterion"):
        return Part("", "rubric", EMPTY)
    text = _text(around.reading.first(node, "outcome", "criteria", "description"), around)
    operator, identity = node.at("operator").value, node.at("id").value
    if operator not in (None, "correctness", "contradiction"):
        raise RefusalError(f"{operator!r} is no operator", "Known: correctness, contradiction.")
    claim = f"{CONTRADICTION}{text}" if operator == "contradiction" else text
    weight = _number(node.at("weight")) if node.has("weight") else 1.0
    label = identity if isinstance(identity, str) and identity else text
    return Part(label, "rubric", {"claims": (claim,)}, weight, required=node.at("required").value is True)


def _text(node: Node, around: Around) -> str:
    if not isinstance(node.value, str) or not node.value.strip():
        raise RefusalError("a criterion is a text that says something")
    return filled(node.value.strip(), around.values)


def _of_prompt(node: Node, value: Node, around: Around, least: float | None) -> Part:
    """A prompt of a grader is the criterion of the judge, with its templates as far as they are known before."""
    written = node.value
    if not isinstance(written, str) or not written.strip():
        raise RefusalError("a prompt that code makes is not run", "Write it as a text, or name a file with it.")
    is_file = written.startswith(FILE) or (written.endswith((".md", ".txt")) and "\n" not in written)
    text = around.reading.text(node, written) if is_file else written
    options = {"output": _ANSWER, "answer": _ANSWER, "output_text": _ANSWER, "input": around.prompt}
    options |= {"criteria": around.criteria, "expected_output": str(around.reference or ""), "reference_answer": ""}
    text = filled(text, {**options, **around.values})
    if isinstance(value.value, str):
        text = f"{text}\n\n{_text(value, around)}"
    around.reading.keep(node, "`prompt` of a grader", "the criterion of the judge, who has a prompt of its own")
    threshold = around.threshold if least is None else least
    return Part("", "rubric", {"criteria": text, "scale": "0-1", "threshold": threshold}, is_binary=False)


def _limits(keys: Mapping[str, tuple[str, float]]) -> Maker:
    def make(node: Node, around: Around) -> Iterator[Part]:
        limits = {key: _number(node.at(key)) for key in keys if node.has(key)}
        if not limits:
            raise RefusalError(f"{kind_of(node)[0]} needs {' or '.join(keys)}")
        for key, most in limits.items():
            name, unit = keys[key]
            limit = most * unit
            yield Part(key, "usage", {name: int(limit) if name in ("tokens", "turns", "tool_calls") else limit})

    return make


def _trajectory(node: Node, around: Around) -> Iterator[Part]:
    mode, least, expected = (node.at(key) for key in ("mode", "minimums", "expected"))
    if mode.value == "any_order" and isinstance(least.value, Mapping):
        for tool in least.names():
            yield _repeated(tool, least.at(tool).value)
    elif mode.value in ("in_order", "exact") and isinstance(expected.value, tuple):
        tools = tuple(_tool(step) for step in expected.items())
        yield Part("", "sequence", {"tools": tools, "order": "exact" if mode.value == "exact" else "in-order"})
    else:
        raise RefusalError("tool-trajectory needs mode any_order with minimums, or in_order or exact with expected")


def _repeated(tool: str, times: JsonValue) -> Part:
    """A tool that is called at least so many times."""
    if not isinstance(times, int) or isinstance(times, bool) or times < 1:
        raise RefusalError("minimums are numbers of calls above 0")
    return Part(tool, "sequence", {"tools": (tool,) * times, "order": "any"})


def _tool(step: Node) -> str:
    """The name of the tool of a step, of which nothing else can be asked."""
    fields = step.value if isinstance(step.value, Mapping) else {}
    tool = fields.get("tool")
    if not isinstance(tool, str) or fields.keys() - {"tool", "args"} or fields.get("args", "any") != "any":
        hint = "Write trajectory:tool-args-match for arguments."
        raise RefusalError("a tool in an order has a name and no arguments or time here", hint)
    return tool


_TOKENS = {"max_total": ("tokens", 1.0)}
_METRICS = {
    "max_tool_calls": ("tool_calls", 1.0),
    "max_llm_calls": ("turns", 1.0),
    "max_tokens": ("tokens", 1.0),
    "max_cost_usd": ("cost_usd", 1.0),
    "max_duration_ms": ("duration_s", 0.001),
}
_RUBRIC_KEYS = ("value", "criteria", "rubrics", "prompt", "threshold")
_JUDGED = dict.fromkeys(("provider", "target", "model", "max_steps", "temperature", "config"), _KEPT) | dict.fromkeys(
    ("transform", "preprocessors", "postprocess"), "! changes the output before it is looked at, which is not done here"
)
_OWN: Mapping[str, tuple[tuple[str, ...], Maker]] = {
    **dict.fromkeys(RUBRICS, (_RUBRIC_KEYS, _rubric)),
    "latency": (("threshold",), _limits({"threshold": ("duration_s", 0.001)})),
    "cost": (("budget", "threshold"), _limits({"budget": ("cost_usd", 1.0), "threshold": ("cost_usd", 1.0)})),
    "token-usage": (tuple(_TOKENS), _limits(_TOKENS)),
    "execution-metrics": (tuple(_METRICS), _limits(_METRICS)),
    "tool-trajectory": (("mode", "minimums", "expected"), _trajectory),
}
_KNOWN = (
    *("contains", "contains-any", "contains-all", "icontains", "icontains-any", "icontains-all"),
    *("starts-with", "ends-with", "regex", "is-json", "equals", "skill-used"),
    *("trajectory:tool-used", "trajectory:tool-args-match", "trajectory:tool-sequence", "trajectory:step-count"),
)
