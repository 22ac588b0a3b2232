"""The assertions of one test as checks with weights, and the rule that they make together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from skillgauge.api import Check, FileSpec, FrozenDict, JsonObject, JsonValue, VerdictMode, VerdictRule, did_you_mean
from skillgauge_assertions import (
    FILE,
    PROGRAMS,
    REFUSED,
    RULES,
    Given,
    Made,
    Node,
    Reading,
    RefusalError,
    TemplateError,
    Vars,
    filled_value,
    program,
)

EACH = VerdictRule(mode=VerdictMode.EACH)
"""Without a threshold all assertions have to hold."""
NOT = "not-"
SET = "assert-set"
_ON_OUTPUT = "! changes the output before it is looked at, which is not done here; assert what the answer itself says"
KEYS: Mapping[str, str] = {
    "type": "",
    "value": "",
    "threshold": "",
    "weight": "",
    "metric": "",
    "provider": "the judge is chosen by --judge and --judge-model",
    "rubricPrompt": "! is a prompt of a grader, which has its own here; put what it asks into `value`",
    "config": "! is passed to code of an assertion, which gets variables and prompt here, and nothing else",
    "transform": _ON_OUTPUT,
    "contextTransform": _ON_OUTPUT,
    "normalizeUnicode": "! is not known here",
    "description": "kept for people",
}
SET_KEYS: Mapping[str, str] = {"type": "", "assert": "", "threshold": "", "weight": "", "metric": ""}


@dataclass(frozen=True)
class Graded:
    """The checks of a test and their rule."""

    checks: tuple[Check, ...]
    rule: VerdictRule
    files: tuple[FileSpec, ...]
    written: JsonObject
    """By the id of a check the assertion with its variables put in, for writing back."""


@dataclass
class Grading:
    """Makes checks of the assertions of one case."""

    reading: Reading
    values: Vars
    prompt: str
    skills: tuple[str, ...]
    templates: Mapping[str, Node]
    direct: bool
    written: dict[str, JsonValue] = field(default_factory=dict)

    def graded(self, assertions: list[Node], threshold: Node | None) -> Graded:
        """The checks of all assertions, and how they count together."""
        limit = self._number(threshold) if threshold is not None else None
        assertions_ = [self._resolved(one) for one in assertions]
        alone = len(assertions_) == 1 and assertions_[0].at("type").value == SET
        made: list[tuple[Check, tuple[FileSpec, ...]]] = []
        rule = EACH if limit is None else VerdictRule(mode=VerdictMode.MEAN, threshold=limit)
        for node in assertions_:
            if node.at("type").value != SET:
                made += self._check(node, 1.0, len(made), scored=limit is not None)
                continue
            group = self._number(node.at("threshold")) if node.has("threshold") else None
            if group is not None and limit is None:
                if not alone:
                    hint = "Put the group into a test of its own, or give the test a threshold."
                    message = "a threshold of a group decides only where it is all that the test asserts"
                    self.reading.refuse(node.at("threshold"), message, hint)
                rule = VerdictRule(mode=VerdictMode.MEAN, threshold=group)
            made += self._group(node, len(made), scored=rule is not EACH)
        checks = tuple(check for check, _ in made)
        return Graded(checks, rule, tuple(file for _, files in made for file in files), self.written)

    def _group(self, node: Node, before: int, *, scored: bool) -> list[tuple[Check, tuple[FileSpec, ...]]]:
        """The score of a group is the mean of its assertions, so that their weights share that of the group."""
        self.reading.only(node, SET_KEYS, "an assert-set")
        inner = [self._resolved(one) for one in node.at("assert").items()]
        if not inner or any(one.at("type").value == SET for one in inner):
            self.reading.refuse(node, "an assert-set needs a list `assert`, with no further sets in it")
            return []
        weights = [self._weight(one) for one in inner]
        share = self._weight(node) / (sum(weights) or 1.0)
        return [made for one in inner for made in self._check(one, share, before + inner.index(one), scored=scored)]

    def _resolved(self, node: Node) -> Node:
        """An assertion, or the one of `assertionTemplates` that it refers to."""
        name = node.at("$ref").value
        if not isinstance(name, str):
            return node
        template = self.templates.get(name.removeprefix("#/assertionTemplates/"))
        if template is None or len(node.names()) > 1:
            self.reading.refuse(
                node, f"there is no assertion template {name!r}{did_you_mean(name, list(self.templates))}"
            )
            return Node(None, node.origin)
        return template

    def _check(
        self, node: Node, share: float, before: int, *, scored: bool
    ) -> Iterator[tuple[Check, tuple[FileSpec, ...]]]:
        if node.value is None or not self.reading.only(node, KEYS, "an assertion"):
            return
        kind = node.at("type").value
        if not isinstance(kind, str):
            self.reading.refuse(node, "an assertion needs a `type`", code="suite.missing-key")
            return
        weight = self._weight(node)
        name = node.at("metric").value
        try:
            check, files = self._made(node, kind, before + 1, scored=scored)
        except RefusalError as error:
            self.reading.refuse(node.at("type"), str(error), error.hint)
        except TemplateError as error:
            self.reading.refuse(node.at("value"), str(error), "Write what is meant into the value.")
        else:
            label = f"{name} ({kind} {before + 1})" if isinstance(name, str) and name else f"{kind} {before + 1}"
            scorer, options = check
            self.written[label] = self._plainly(node)
            yield (
                Check(
                    id=label,
                    scorer=scorer,
                    options=options,
                    weight=weight * share if weight else 1.0,
                    beside=weight == 0,
                    origin=node.origin,
                ),
                files,
            )

    def _plainly(self, node: Node) -> JsonValue:
        """The assertion as it would be written without variables, files and its weight."""
        kind = str(node.at("type").value)
        value = node.at("value").value if kind.removeprefix(NOT) in PROGRAMS else self._value(node.at("value"))
        kept = {key: node.at(key).value for key in ("type", "threshold", "metric") if node.has(key)}
        return FrozenDict(kept | ({"value": value} if value is not None else {}))

    def _made(self, node: Node, kind: str, number: int, *, scored: bool) -> tuple[Made, tuple[FileSpec, ...]]:
        plain = kind.removeprefix(NOT)
        if plain in REFUSED:
            raise RefusalError(f"{plain} {REFUSED[plain]}", "Take it out, or say it by an assertion that is read.")
        supported = [*RULES, *PROGRAMS, SET]
        if plain not in RULES and plain not in PROGRAMS:
            raise RefusalError(f"there is no assertion {kind!r}{did_you_mean(plain, supported)}")
        threshold = self._number(node.at("threshold")) if node.has("threshold") else None
        if plain in PROGRAMS:
            assertion = Given(plain, kind != plain, node.at("value").value, threshold, direct=self.direct)
            return program(self.reading, node.at("value"), assertion, self.values, self.prompt, number)
        value = self._value(node.at("value"))
        assertion = Given(plain, kind != plain, value, threshold, self.skills)
        return RULES[plain](assertion), ()

    def _value(self, node: Node) -> JsonValue:
        """The value with variables put in, or that of the file that it names."""
        written = filled_value(node.value, self.values)
        if not isinstance(written, str) or not written.startswith(FILE):
            return written
        if written.endswith((".json", ".yaml", ".yml")):
            return self.reading.document(node, written).value
        if written.endswith((".txt", ".md")):
            return filled_value(self.reading.text(node, written).strip(), self.values)
        raise RefusalError(
            f"a value that code makes is not read: {written!r}", "Name a text, or a .json or .yaml file."
        )

    def _weight(self, node: Node) -> float:
        return self._number(node.at("weight")) if node.has("weight") else 1.0

    def _number(self, node: Node) -> float:
        value = node.value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
            return float(value)
        self.reading.refuse(node, f"{node.origin.pointer[-1]} has to be a number of at least 0", code="suite.value")
        return 0.0
