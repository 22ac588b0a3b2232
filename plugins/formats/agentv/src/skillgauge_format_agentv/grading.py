"""The decision about a test: its assertions as checks with weights, and the rule that they make together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from skillgauge.api import Check, FileSpec, FrozenDict, JsonObject, JsonValue, VerdictMode, VerdictRule
from skillgauge_assertions import PROGRAMS, Given, Node, RefusalError, TemplateError, filled, program

from .graders import Around, Part, kind_of, parts_of
from .scripts import command_of, script

THRESHOLD = 0.8
"""What passes a test that says nothing."""
SET = "assert-set"
_SET_KEYS = dict.fromkeys(("type", "assert", "assertions", "threshold", "weight", "metric", "name"), "")
_CODE_KEYS = dict.fromkeys(
    ("type", "value", "threshold", "weight", "metric", "name", "id", "negate", "required", "min_score"), ""
)


@dataclass(frozen=True)
class Graded:
    """The checks of a test and their rule."""

    checks: tuple[Check, ...]
    rule: VerdictRule
    files: tuple[FileSpec, ...]
    written: JsonObject
    """By the id of a check the assertion with its variables put in, for writing back."""


@dataclass(frozen=True)
class Weighed:
    """A part of a grader, with what its assertion says of it."""

    part: Part
    weight: float
    required: bool
    least: float | None
    label: str
    node: Node


@dataclass
class Grading:
    """Makes checks of the assertions of one test."""

    around: Around
    files: dict[str, FileSpec] = field(default_factory=dict)
    written: dict[str, JsonValue] = field(default_factory=dict)
    number: int = 0

    def graded(self, assertions: list[Node]) -> Graded:
        """The checks of all assertions, and how they count together."""
        threshold = self.around.threshold
        if len(assertions) == 1 and assertions[0].has("threshold") and self._kind(assertions[0]) == SET:
            threshold = self._number(assertions[0].at("threshold"), THRESHOLD)
        elif any(self._kind(part) == SET and part.has("threshold") for part in assertions):
            node = next(part for part in assertions if self._kind(part) == SET and part.has("threshold"))
            self._refuse_group(node)
        weighed = self._made(assertions)
        rule, stages = self._rule(weighed, threshold)
        checks = tuple(
            Check(
                id=part.label,
                scorer=part.part.scorer,
                options=part.part.options,
                weight=part.weight or 1.0,
                beside=part.weight == 0,
                stage=stage,
                origin=part.node.origin,
            )
            for part, stage in zip(weighed, stages, strict=True)
        )
        return Graded(checks, rule, tuple(self.files.values()), FrozenDict(self.written))

    def weighed(self, assertions: list[Node]) -> list[Weighed]:
        """The checks of assertions that are not all that a test has."""
        for part in assertions:
            if self._kind(part) == SET and part.has("threshold"):
                self._refuse_group(part)
        return self._made(assertions)

    def _made(self, assertions: list[Node]) -> list[Weighed]:
        return [made for part in assertions for made in self._of(part, 1.0)]

    def _refuse_group(self, node: Node) -> None:
        message = "a threshold of a group decides only where it is all that the test asserts"
        self.around.reading.refuse(node.at("threshold"), message, "Put the group into a test of its own.")

    def _rule(self, weighed: list[Weighed], threshold: float) -> tuple[VerdictRule, list[int]]:
        """The mean has to reach the threshold; what is required is asked first, and ends it if it is not so."""
        rule = VerdictRule(mode=VerdictMode.MEAN, threshold=threshold)
        counting = [part for part in weighed if part.weight]
        gates = [part for part in counting if part.required]
        if not gates:
            return rule, [0] * len(weighed)
        if len(gates) == len(counting):
            return VerdictRule(mode=VerdictMode.ALL), [0] * len(weighed)
        self._refuse_outweighed(gates, threshold)
        return rule, [0 if part.required or not part.weight else 1 for part in weighed]

    def _refuse_outweighed(self, gates: list[Weighed], threshold: float) -> None:
        """Refuse each gate that could be missed without failing the test."""
        for gate in gates:
            if not _decides(gate, gates, threshold):
                message = "nothing here fails a test by this alone: what else is required could outweigh it"
                hint = f"Give it more than {1 - threshold:.0%} of the weight of what is required, or require all."
                self.around.reading.refuse(gate.node.at("required"), message, hint)

    def _kind(self, node: Node) -> str:
        try:
            return kind_of(node)[0]
        except RefusalError:
            return ""

    def _of(self, node: Node, share: float) -> Iterator[Weighed]:
        """The checks of one assertion, with `share` for each unit of its weight."""
        self.number += 1
        if isinstance(node.value, str):
            yield from self._criterion(node, share)
            return
        reading = self.around.reading
        try:
            kind, negated = kind_of(node)
            if kind == SET:
                yield from self._group(node, share)
                return
            weight = self._number(node.at("weight"), 1.0) * share
            if kind == "script":
                part, files = script(node, self.around, negated=negated)
                parts: tuple[Part, ...] = (part,)
                self.files |= {file.path: file for file in files}
            elif kind in PROGRAMS:
                parts = self._program(node, kind, negated=negated)
            else:
                parts = parts_of(node, self.around)
        except RefusalError as error:
            reading.refuse(node.at("type") if node.has("type") else node, str(error), error.hint)
        except TemplateError as error:
            reading.refuse(node, str(error), "Write what is meant, or give the variable in `vars`.", "suite.template")
        else:
            yield from self._weighed(node, kind, weight, parts)

    def _weighed(self, node: Node, kind: str, weight: float, parts: tuple[Part, ...]) -> Iterator[Weighed]:
        required, least = self._gate(node)
        name = self.around.reading.first(node, "metric", "name", "id").value
        label = name if isinstance(name, str) and name else f"{kind} {self.number}"
        total = sum(part.weight for part in parts) or 1.0
        for part in parts:
            own = f"{label}: {part.what}" if len(parts) > 1 and part.what else label
            own = self._unique(own)
            if kind == "script" or kind in PROGRAMS:
                self.written[own] = self._plainly(node, kind, part)
            yield Weighed(part, weight * part.weight / total, required or part.required, least, own, node)

    def _plainly(self, node: Node, kind: str, part: Part) -> JsonValue:
        """The assertion as it would be written where its files have been put."""
        kept: dict[str, JsonValue] = {"type": kind}
        kept |= {"command": command_of(part, self.files)} if kind == "script" else {"value": node.at("value").value}
        kept |= {key: node.at(key).value for key in ("threshold", "min_score", "config", "negate") if node.has(key)}
        return FrozenDict(kept)

    def _criterion(self, node: Node, share: float) -> Iterator[Weighed]:
        """A text is a criterion for the judge, with a weight of its own."""
        text = str(node.value).strip()
        if not text:
            self.around.reading.refuse(node, "this criterion is empty", code="suite.value")
            return
        try:
            claim = filled(text, self.around.values)
        except TemplateError as error:
            self.around.reading.refuse(node, str(error), code="suite.template")
            return
        part = Part("", "rubric", {"claims": (claim,)})
        yield Weighed(part, share, False, None, self._unique(claim), node)

    def _group(self, node: Node, share: float) -> Iterator[Weighed]:
        """The score of a group is the mean of its assertions, so that their weights share that of the group."""
        inner = list(self.around.reading.first(node, "assert", "assertions").items())
        if not self.around.reading.only(node, _SET_KEYS, "an assert-set"):
            return
        if not inner:
            raise RefusalError("an assert-set needs a list `assert`")
        weights = [1.0 if isinstance(one.value, str) else self._number(one.at("weight"), 1.0) for one in inner]
        part = self._number(node.at("weight"), 1.0) * share / (sum(weights) or 1.0)
        for one in inner:
            yield from self._of(one, part)

    def _program(self, node: Node, kind: str, *, negated: bool) -> tuple[Part, ...]:
        around = self.around
        if not around.reading.only(node, _CODE_KEYS, "an assertion"):
            return ()
        least = self._number(node.at("threshold"), 0.0) if node.has("threshold") else None
        assertion = Given(kind, negated, node.at("value").value, least)
        program_, files = program(
            around.reading, node.at("value"), assertion, around.values, around.prompt, self.number
        )
        self.files |= {file.path: file for file in files}
        return (Part("", *program_),)

    def _gate(self, node: Node) -> tuple[bool, float | None]:
        """Return whether a test fails with it, and the least that it has to be; a number says both in older files."""
        required = node.at("required")
        least = self._number(node.at("min_score"), THRESHOLD) if node.has("min_score") else None
        if isinstance(required.value, bool) or required.value is None:
            return required.value is True, least
        return True, self._number(required, THRESHOLD)

    def _number(self, node: Node, default: float) -> float:
        value = node.value
        if value is None:
            return default
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
            return float(value)
        message = f"{node.origin.pointer[-1]} has to be a number of at least 0"
        self.around.reading.refuse(node, message, code="suite.value")
        return default

    def _unique(self, label: str) -> str:
        unique_name, number = label, 1
        while unique_name in self._labels:
            number += 1
            unique_name = f"{label} ({number})"
        self._labels.add(unique_name)
        return unique_name

    def __post_init__(self) -> None:
        self._labels: set[str] = set()


def _decides(gate: Weighed, gates: list[Weighed], threshold: float) -> bool:
    """Tell whether a test fails with one of its gates, however good the others are."""
    if gate.part.is_binary:
        return gate.weight / sum(part.weight for part in gates) > 1 - threshold
    return len(gates) == 1 and (gate.least is None or gate.least <= threshold)
