"""Checks as assertions of promptfoo: the inverse of `rules`, which decides whether an assertion says the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from skillgauge.api import JsonObject, freeze, thaw
from skillgauge_patterns import alternatives

from .meaning import effective
from .rules import FACTS, RULES, Given, RefusalError

Assertion: TypeAlias = dict[str, Any]
Written: TypeAlias = list[Assertion]
_NOT = "not-"
_NOT_JAVASCRIPT = ("\\A", "\\Z", "(?i)", "(?s)", "(?m)", "(?x)", "(?s:", "(?i:", "(?P", "*+", "++", "?+", "}+", "{e<")
_EVERYWHERE = "(?=(?s:.*)"
_WORDS = re.compile(r"\\A\\s\*\+\(\?:\\S\+\+\(\?:\\s\+\+\|\\Z\)\)\{(?P<least>\d+),(?P<most>\d*)\}\+\\Z")
_NEARLY = re.compile(r"\(\?s\)\\A\(\?:(?P<text>.*)\)\{e<=(?P<most>\d+)\}\\Z", re.DOTALL)


def assertions(scorer: str, options: JsonObject) -> Written:
    """Return assertions that say the same: one that is read as just this check, else what comes nearest.

    Returns:
        Several assertions where all of them together say it; none if there is no such thing.
    """
    plain = thaw(options)
    for candidate in _CANDIDATES.get(scorer, _none)(plain):
        if _reads_as(candidate, scorer, options):
            return [candidate]
    return list(_NEAREST.get(scorer, _none)(plain))


def _reads_as(assertion: Assertion, scorer: str, options: JsonObject) -> bool:
    """Tell whether an assertion is read as a check by a scorer with these options."""
    kind = assertion["type"]
    plain = kind.removeprefix(_NOT)
    named = (options.get("skill"), *(options.get("skills") or ()))  # type: ignore[misc]
    skills = tuple(name for name in named if isinstance(name, str))
    given = Given(plain, kind != plain, freeze(assertion.get("value")), assertion.get("threshold"), skills)
    try:
        made = RULES[plain](given)
    except RefusalError:
        return False
    return made[0] == scorer and effective(*made) == effective(scorer, options)


def _none(_: Assertion) -> Iterator[Assertion]:
    yield from ()


def _no(options: Assertion) -> str:
    return _NOT if options.get("absent") else ""


def _exact(options: Assertion) -> Iterator[Assertion]:
    yield {"type": "equals", "value": options["value"]}


def _contains(options: Assertion) -> Iterator[Assertion]:
    if len(options["keywords"]) == 1:
        loose = "" if options.get("case_sensitive") else "i"
        yield {"type": f"{_no(options)}{loose}contains", "value": options["keywords"][0]}


def _each_contains(options: Assertion) -> Iterator[Assertion]:
    if options.get("stream", "answer") == "answer" and all(options["keywords"]):
        for word in options["keywords"]:
            yield from _contains({**options, "keywords": [word]})


def _regex(options: Assertion) -> Iterator[Assertion]:
    if len(options["patterns"]) != 1:
        return
    (pattern,), no = options["patterns"], _no(options)
    loose = "" if options.get("case_sensitive", True) else "i"
    if texts := alternatives(pattern):
        yield {"type": f"{no}{loose}contains-any", "value": list(texts)}
    if texts := _all_of(pattern):
        yield {"type": f"{no}{loose}contains-all", "value": list(texts)}
    if pattern.startswith("\\A") and len(texts := alternatives(pattern[2:])) == 1:
        yield {"type": f"{no}starts-with", "value": texts[0]}
    around = pattern.removeprefix(r"\A\s*").removesuffix(r"\s*\Z")
    if no and len(texts := alternatives(around)) == 1:
        yield {"type": "not-equals", "value": texts[0]}
    yield from _counted(pattern, no)
    if not any(mark in pattern for mark in _NOT_JAVASCRIPT):
        yield {"type": f"{no}regex", "value": pattern}


def _all_of(pattern: str) -> tuple[str, ...]:
    """Return the texts of a pattern that asks for all of them, in any order; nothing of any other."""
    parts = pattern.removeprefix("\\A").split(_EVERYWHERE)
    if not pattern.startswith(f"\\A{_EVERYWHERE}") or not all(part.endswith(")") for part in parts[1:]):
        return ()
    texts = [alternatives(part[:-1]) for part in parts[1:]]
    return tuple(text for (text,) in texts) if all(len(one) == 1 for one in texts) else ()


def _counted(pattern: str, no: str) -> Iterator[Assertion]:
    """Yield the assertions whose pattern holds a number: of words, or of characters that differ."""
    if match := _WORDS.fullmatch(pattern):
        bounds = {"min": int(match["least"])} | ({"max": int(match["most"])} if match["most"] else {})
        yield {"type": f"{no}word-count", "value": bounds}
    if (match := _NEARLY.fullmatch(pattern)) and len(texts := alternatives(match["text"])) == 1:
        yield {"type": f"{no}levenshtein", "value": texts[0], "threshold": int(match["most"])}


def _each_regex(options: Assertion) -> Iterator[Assertion]:
    """Yield an assertion for each pattern, if each is one of JavaScript's."""
    if options.keys() - {"patterns", "absent", "case_sensitive", "timeout_s"} or not options.get(
        "case_sensitive", True
    ):
        return
    if not any(mark in pattern for pattern in options["patterns"] for mark in _NOT_JAVASCRIPT):
        yield from ({"type": f"{_no(options)}regex", "value": pattern} for pattern in options["patterns"])


def _schema(options: Assertion) -> Iterator[Assertion]:
    kind, schema = "contains-json" if options.get("anywhere") else "is-json", options["schema"]
    yield {"type": f"{_no(options)}{kind}", **({"value": schema} if schema else {})}


def _tool(options: Assertion) -> Iterator[Assertion]:
    no, pattern = "" if options.get("called", True) else _NOT, options.get("tool_pattern") or ""
    named: Assertion = {"name": options["tool"]} if options.get("tool") else {"pattern": _glob_of(pattern)}
    if options.get("arguments"):
        texts = {key: _whole(one) for key, one in options["arguments"].items()}
        yield {"type": f"{no}trajectory:tool-args-match", "value": {**named, "args": texts}}
        return
    names = alternatives(pattern.removeprefix(r"\A(?:").removesuffix(r")\Z"))
    if options.get("tool") or names:
        yield {"type": f"{no}trajectory:tool-used", "value": options.get("tool") or list(names)}
    yield {"type": f"{no}trajectory:tool-used", "value": named}


def _whole(pattern: str) -> str:
    """Return the text that a pattern asks for as a whole; empty if it asks for something else."""
    texts = alternatives(pattern.removeprefix("\\A").removesuffix("\\Z"))
    return texts[0] if len(texts) == 1 else ""


def _glob_of(pattern: str) -> str:
    """Return the wildcards of a pattern that was made of them."""
    inner = pattern.removeprefix(r"\A(?:").removesuffix(r")\Z")
    return re.sub(r"\\(.)|\.\*|\.", lambda match: match[1] or ("*" if match[0] == ".*" else "?"), inner)


def _sequence(options: Assertion) -> Iterator[Assertion]:
    names = options.get("skills") or options.get("tools") or []
    if options.get("order", "in-order") == "any":
        kind = "skill-used" if options.get("skills") else "trajectory:tool-used"
        yield {"type": kind, "value": names}
        yield {"type": kind, "value": {"name": names[0], "min": len(names)}}
    mode = "exact" if options.get("order") == "exact" else "in_order"
    yield {"type": "trajectory:tool-sequence", "value": {"mode": mode, "steps": options.get("tools") or []}}


def _nearest_sequence(options: Assertion) -> Iterator[Assertion]:
    """Yield that a skill is used, for a sequence of nothing else."""
    if options.get("order") == "any" and len(options.get("skills") or ()) == 1:
        yield {"type": "skill-used", "value": options["skills"]}


def _trigger(options: Assertion) -> Iterator[Assertion]:
    yield {"type": f"{'' if options.get('should_trigger', True) else _NOT}skill-used", "value": options["skill"]}


def _usage(options: Assertion) -> Iterator[Assertion]:
    limits = {key: most for key, most in options.items() if most is not None}
    if limits.keys() <= {"duration_s", "cost_usd", "tool_calls"}:
        yield from (_limit(key, most) for key, most in limits.items())


def _limit(key: str, most: float) -> Assertion:
    if key == "duration_s":
        return {"type": "latency", "threshold": round(most * 1000, 6)}
    if key == "cost_usd":
        return {"type": "cost", "threshold": most}
    return {"type": "trajectory:step-count", "value": {"type": "tool", "max": most}}


def _rubric(options: Assertion) -> Iterator[Assertion]:
    reference = options.get("reference")
    if options.get("criteria") == FACTS and isinstance(reference, str):
        yield {"type": "factuality", "value": reference}
    elif isinstance(options.get("criteria"), str):
        yield {"type": "llm-rubric", "value": options["criteria"], **_threshold(options)}


def _threshold(options: Assertion) -> Assertion:
    return {"threshold": options.get("threshold", 0.5)} if options.get("scale") == "0-1" else {}


def _each_statement(options: Assertion) -> Iterator[Assertion]:
    criteria, reference = options.get("criteria") or options.get("claims"), options.get("reference")
    texts = [criteria] if isinstance(criteria, str) else list(criteria or ())
    more = f"\n\nAn answer that would be right: {reference}" if reference else ""
    for text in texts:
        yield {"type": "llm-rubric", "value": f"{text}{more}", **_threshold(options)}


_Writer: TypeAlias = Callable[[Assertion], Iterator[Assertion]]
_CANDIDATES: Mapping[str, _Writer] = {
    "exact": _exact,
    "contains": _contains,
    "regex": _regex,
    "json-schema": _schema,
    "tool-call": _tool,
    "sequence": _sequence,
    "trigger": _trigger,
    "usage": _usage,
    "rubric": _rubric,
}
"""By scorer the assertions of which one may say just what a check says."""
_NEAREST: Mapping[str, _Writer] = {
    "contains": _each_contains,
    "regex": _each_regex,
    "sequence": _nearest_sequence,
    "usage": _usage,
    "rubric": _each_statement,
}
"""By scorer what comes nearest: several assertions for several texts, or a judge who is asked in other words."""
