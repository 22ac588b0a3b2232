"""From an assertion to a check, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillgauge.api import Check, JsonObject, JsonValue, Origin, did_you_mean, text_of

from ..findings import Findings
from ..keys import ASSERTION_KEYS, SAYS_CHECK, Use, near_miss
from .phrases import typed_of
from .rules import COMMAND, RULES
from .scenarios import OUTPUT
from .typed import GRANTED, JUDGED, VALUE_KEYS, kind_of, made_of

TEXT_KEYS = (
    "text",
    "assertion",
    "expectation",
    "description",
    "check",
    "criterion",
    "criteria",
    "statement",
    "claim",
    "pass_if",
    "label",
    "name",
)
"""Where an assertion that is an object says what is asserted, in order of preference."""
_SAYING_KEYS = (*TEXT_KEYS, "prompt", "rubric", "value")
"""The same for one with a type that a judge decides, whose value may be all that it says."""
RUBRIC = "rubric"
SCALE, EXPECTED = "scale", "expected_output"
PASS_FAIL, GRADED = "pass-fail", "0-1"
SCALES = (PASS_FAIL, GRADED, "0-10")
SHOWN = ("trajectory", "files")
"""What a judge is shown beside the answer, unless an assertion says `false`."""
SCORE = "score"
"""Value of `reads` of a command that prints a score."""
_RULES = tuple(key for key, use in ASSERTION_KEYS.items() if use is Use.RULE)
OF_COMMAND = ("expect_exit_code", "fail_codes", "reads", "needs", "timeout_s")
"""Keys with which an assertion says how its command decides; `threshold` is one where it prints a score."""
_CASE_KEYS = frozenset({"case_sensitive", "flags"})
"""Keys with which an assertion says whether case matters; tools differ in what they do without one."""
_PLACEHOLDERS = ("{case_dir}", "{{case_dir}}", "{workspace}", "{{workspace}}")
"""What runners of other tools put into a command."""


@dataclass(frozen=True)
class Assertion:
    """One assertion of a case."""

    check: Check
    raw: JsonObject | None
    """The object as it stood in the file, if it was one."""
    critical: bool = False
    """Whether the case fails with it, however many others hold."""


def assertion_of(item: JsonValue, reference: JsonValue, origin: Origin, findings: Findings) -> Assertion | None:
    """The check that an assertion stands for; `None` after noting what is wrong with it.

    Args:
        item: a text, or an object.
        reference: what the case expects, for the judge.
        origin: where it stands.
        findings: takes what is wrong.
    """
    if isinstance(item, str):
        return _of_text(item.strip(), reference, origin, findings)
    if not isinstance(item, Mapping):
        findings.error("wrong-type", "an assertion must be text, or an object with 'text'", origin)
        return None
    return _Reading(item, reference, origin, findings).assertion()


def _of_text(text: str, reference: JsonValue, origin: Origin, findings: Findings) -> Assertion | None:
    typed = typed_of(text)
    rule = made_of(typed) if typed is not None else None
    if rule is not None:
        (scorer, options), _ = rule
        return Assertion(Check(id=text, scorer=scorer, options=options, origin=origin), None)
    if not text:
        findings.error("no-text", "an assertion says nothing", origin, "Write what has to be true of the result.")
        return None
    return Assertion(Check(id=text, scorer=RUBRIC, options=rubric_options(text, reference), origin=origin), None)


@dataclass(frozen=True)
class _Reading:
    """An assertion that is an object, while it is read."""

    raw: JsonObject
    reference: JsonValue
    origin: Origin
    findings: Findings

    def assertion(self) -> Assertion | None:
        """The check, or `None` after noting what is wrong."""
        if kind_of(self.raw) == GRANTED:
            self.findings.kept(GRANTED, Use.GRANTED, self.origin)
            return None
        rule = made_of(self.raw)
        if rule is not None and kind_of(self.raw).startswith(OUTPUT) and not _CASE_KEYS & self.raw.keys():
            self.findings.kept(str(self.raw.get("type", self.raw.get("check"))), Use.CASE, self.origin)
        check = self._decided(*rule) if rule is not None else self._judged()
        if check is None:
            return None
        weight = self._number("weight", most=None)
        beside = self.raw.get("optional") is True or weight == 0
        update: dict[str, Any] = {"beside": True} if beside else {}
        if weight:
            update["weight"] = weight
        critical = self.raw.get("critical") is True or self.raw.get("required") is True
        return Assertion(check.model_copy(update=update) if update else check, self.raw, critical)

    def _decided(self, decision: tuple[str, JsonObject], understood: frozenset[str]) -> Check | None:
        raw, (scorer, options) = self.raw, decision
        text = _first_text(raw, TEXT_KEYS)
        if scorer == COMMAND and any(one in str(options["command"]) for one in _PLACEHOLDERS):
            message = "this command has a placeholder that the runner of another tool fills"
            self.findings.error(
                "placeholder", message, self.origin, "Commands run in the agent's workspace: write '.'."
            )
            return None
        self._note_keys(understood | {"threshold"} if scorer == RUBRIC else understood)
        aside = (*TEXT_KEYS, "id", "type", *_RULES)
        texts = [str(raw.get("type", kind_of(raw))), *(text_of(raw[key]) for key in raw if key not in aside)]
        options = with_command_keys(scorer, options, raw, text)
        return Check(id=text or " ".join(texts[:2]), scorer=scorer, options=options, origin=self.origin)

    def _judged(self) -> Check | None:
        raw, kind = self.raw, kind_of(self.raw)
        text = _first_text(raw, TEXT_KEYS)
        if kind and not self._may_be_judged(kind, text):
            return None
        text = text or (_first_text(raw, _SAYING_KEYS) if kind else "")
        if not text:
            message, hint = "an assertion says nothing", "Write what has to be true of the result."
            if len(raw) == 1 and " " in next(iter(raw)):
                message += f": a colon has made an object of a sentence that begins with {next(iter(raw))!r}"
                hint = "Put the sentence in quotes."
            self.findings.error("no-text", message, self.origin, hint)
            return None
        details = self._details(text) if kind else self._other_texts(text)
        of_claim = frozenset(raw) - {*ASSERTION_KEYS, "id"} if kind else frozenset(TEXT_KEYS[:-1])
        self._note_keys(of_claim | self._judge_keys().keys())
        claim = f"{text} ({'; '.join(details)})" if details else text
        return Check(id=text, scorer=RUBRIC, options=self._asked_of_judge(claim), origin=self.origin)

    def _asked_of_judge(self, claim: str) -> JsonObject:
        """Return the options of a rubric: a claim, or a criterion where the assertion says how to answer."""
        own, threshold = self._judge_keys(), self._number("threshold", most=1.0)
        reference = own.get(EXPECTED, self.reference)
        options = rubric_options(claim, reference)
        if threshold is not None or SCALE in own:
            scale = own.get(SCALE, GRADED)
            graded = {} if scale == PASS_FAIL else {SCALE: scale}
            limit = {} if threshold is None else {"threshold": threshold}
            options = {"criteria": claim, **graded, **limit, **({} if reference is None else {"reference": reference})}
        return {**options, **{key: False for key in SHOWN if key in own}}

    def _judge_keys(self) -> JsonObject:
        """Return the keys that say what a judge is asked and shown; those with other values are parts of the claim."""
        raw = self.raw
        own = {key: False for key in SHOWN if raw.get(key) is False}
        scale = {SCALE: raw[SCALE]} if raw.get(SCALE) in SCALES else {}
        return {**own, **scale, **({EXPECTED: raw[EXPECTED]} if EXPECTED in raw else {})}

    def _may_be_judged(self, kind: str, text: str) -> bool:
        """Tell whether a judge can decide what no program does, which is noted; if not, the reason is."""
        written = str(self.raw["type"]) if "type" in self.raw else kind
        has_value = any(self.raw.get(key) is not None for key in VALUE_KEYS)
        near = "" if kind in RULES or kind in JUDGED else near_miss(kind.replace("-", "_"), _TYPES)
        if near and has_value:
            message = (
                f"unknown type {written!r} (did you mean {near.replace('_', '-')!r}?): its value would not be checked"
            )
            self.findings.error("unknown-type", message, self.origin, "docs/dialects.md has the types that are known.")
            return False
        if kind in JUDGED:
            return True
        if not text and not _first_text(self.raw, _SAYING_KEYS) and has_value:
            suggested = did_you_mean(kind, tuple(RULES))
            message = (
                f"no program decides type {written!r} with this value{suggested}, and there is no text for a judge"
            )
            self.findings.error("unknown-type", message, self.origin, "docs/dialects.md has the types that are known.")
            return False
        self.findings.left_to_judge(written, self.origin)
        return True

    def _details(self, text: str) -> list[str]:
        """Everything that its author says of a claim: its type, a value, a pattern, an instruction to the judge."""
        raw = self.raw
        aside = (*TEXT_KEYS, "id", "type", *ASSERTION_KEYS, *self._judge_keys())
        details = [f"{key}: {text_of(value)}" for key, value in raw.items() if key not in aside and value != text]
        details += self._other_texts(text)
        return [str(raw.get("type", "")), *details] if details else []

    def _other_texts(self, text: str) -> list[str]:
        """Return the texts under a second key of a text."""
        texts = ((key, self.raw.get(key)) for key in TEXT_KEYS if key != "name")
        return [f"{key}: {one}" for key, one in texts if isinstance(one, str) and one.strip() and one.strip() != text]

    def _note_keys(self, understood: frozenset[str]) -> None:
        text_key = next((key for key in TEXT_KEYS if isinstance(self.raw.get(key), str)), "")
        for key in self.raw:
            use = ASSERTION_KEYS.get(key)
            if use is Use.RULE:
                if key == "threshold" and "threshold" not in understood and kind_of(self.raw) in RULES:
                    self.findings.kept(key, Use.NONE, self.origin)
            elif use is not None and key != text_key and key not in understood:
                self.findings.kept(key, use, self.origin)
            elif use is not None or key in (*TEXT_KEYS, "type") or key in understood:
                continue
            elif not self.findings.is_misspelt(key, SAYS_CHECK, self.origin):
                self.findings.kept(key, Use.NONE, self.origin)

    def _number(self, key: str, *, most: float | None) -> float | None:
        value = self.raw.get(key)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= float(str(value)) <= (most if most is not None else float("inf")):
            limit = "a number from 0" if most is None else f"a number from 0 to {most:g}"
            self.findings.error("value", f"{key!r} must be {limit}", self.origin)
            return None
        return float(str(value))


_TYPES = tuple(name.replace("-", "_") for name in (*RULES, *JUDGED))


def rubric_options(claim: str, reference: JsonValue) -> JsonObject:
    """Return the options by which a judge decides one assertion, which is true or false."""
    return {"claims": (claim,)} if reference is None else {"claims": (claim,), "reference": reference}


def _first_text(raw: JsonObject, keys: tuple[str, ...]) -> str:
    found = (raw.get(key) for key in keys)
    return next((one.strip() for one in found if isinstance(one, str) and one.strip()), "")


def with_command_keys(scorer: str, options: JsonObject, raw: JsonObject, text: str) -> JsonObject:
    """Return options with what only a command has beside its value."""
    if scorer != COMMAND:
        return options
    keys = (*OF_COMMAND, "threshold") if raw.get("reads") == SCORE else OF_COMMAND
    more: dict[str, Any] = {key: raw[key] for key in keys if raw.get(key) is not None}
    if raw.get("expect_exit") is not None:
        more.setdefault("expect_exit_code", raw["expect_exit"])
    return {**options, **more, **({"label": text} if text else {})}
