"""The shapes of a rubric: what a judge is asked for, and how its answer is read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from .options import RubricOptions, Scale
from .reading import (
    Answer,
    Evidence,
    Finding,
    Unreadable,
    evidence_of,
    folded,
    marked_object_of,
    number_of,
    object_of,
    reason_of,
    unwrapped,
)

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?")
_OF_TEN = re.compile(r"\s*(?:/|out of)\s*10(?:\.0+)?(?![0-9.,]*[0-9])")
_EVIDENCE = """\
Every answer needs evidence. Put into "quote" a passage of OUTPUT, TRAJECTORY or FILES, copied word for word, of at \
most 300 characters. If the answer rests on something that is not there, "quote" is null, and "absent" says what you \
looked for and did not find. A label alone, such as a heading or a file's name, proves nothing."""
_BURDEN = """\
The burden of proof lies with each statement: it holds only if what you see shows that it does, so when in doubt, the \
answer is {against}. Something that must not be there is met by its absence. More than what was asked for is no fault, \
and a narrow but literal fulfilment suffices. A refusal, an empty output, or one about something else meets nothing."""
_REPLY = '"quote": <text or null>, "absent": <text or null>, "reason": "<one sentence>"'


class Shape(ABC):
    """The kind of a question, and the reading of its answer."""

    section: str
    """Name of what the author of the check wrote."""
    aim: str
    """What a judge is to do."""
    rules: str = ""
    """What it has to observe."""
    ask: str
    """The last sentence of a question."""
    passes_at: float
    """Least value that passes."""

    size: int = 1
    """How many verdicts an answer has."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The text of the check's author."""

    def number(self, value: float) -> str:
        """A value from 0 to 1 in words."""
        return f"{value:g} of 1"

    @abstractmethod
    def form(self, marker: str) -> str:
        """The JSON object that an answer has to be."""

    @abstractmethod
    def read(self, text: str, marker: str, material: Sequence[str]) -> Answer:
        """Read a whole answer: a judge may quote what the output demands, and that must not become the verdict.

        Args:
            text: what the judge answered.
            marker: what it had to repeat, since nobody whose text it saw knows it.
            material: what it was shown of what is judged, folded.

        Raises:
            Unreadable: it is not what was asked for.
        """


class OutOfTen(Shape):
    """A number from 0 to 10, as a JSON object or alone."""

    section = "CRITERIA"
    aim = "You judge one output by criteria. How well does it meet them? 0: not at all. 5: just enough. 10: in full."
    ask = "How well does OUTPUT meet CRITERIA? Score and reason, as one JSON object."
    passes_at = 0.5

    def __init__(self, criteria: str) -> None:
        self._criteria = criteria

    @property
    def text(self) -> str:
        """See `Shape.text`."""
        return self._criteria

    def number(self, value: float) -> str:
        """See `Shape.number`."""
        return f"{value * 10:g} of 10"

    def form(self, marker: str) -> str:
        """See `Shape.form`; without the marker, since a number alone is an answer, too."""
        return '{"score": <number from 0 to 10>, "reason": "<one sentence>"}'

    def read(self, text: str, marker: str, material: Sequence[str]) -> Answer:
        """See `Shape.read`."""
        text = unwrapped(text)
        if _is_echo(text, material):
            raise Unreadable("it repeated what is judged")
        if not text.startswith("{"):
            return _prefix(text)
        answer = object_of(text)
        if "score" not in answer:
            raise Unreadable("its JSON object had no score")
        return Answer(number_of(answer["score"], 10) / 10, Evidence(reason_of(answer.get("reason"))))


class OutOfOne(Shape):
    """A number from 0 to 1, with evidence."""

    section = "CRITERIA"
    aim = "You judge what was made for a task by criteria. How well does it meet them? 0: not at all. 1: in full."
    rules = _EVIDENCE
    ask = "How well are CRITERIA met? One JSON object."

    def __init__(self, criteria: str, threshold: float) -> None:
        self._criteria = criteria
        self.passes_at = threshold

    @property
    def text(self) -> str:
        """See `Shape.text`."""
        return self._criteria

    def form(self, marker: str) -> str:
        """See `Shape.form`."""
        return f'{{"marker": "{marker}", "score": <number from 0 to 1>, {_REPLY}}}'

    def read(self, text: str, marker: str, material: Sequence[str]) -> Answer:
        """See `Shape.read`."""
        answer = marked_object_of(text, marker, material)
        if "score" not in answer:
            raise Unreadable("its JSON object had no score")
        return Answer(number_of(answer["score"], 1), evidence_of(answer, material, "it"))


class Statements(Shape):
    """A verdict on each of several statements, with evidence."""

    passes_at = 1.0
    key: str
    """Of the verdict in an answer."""
    verdicts: tuple[str, str]
    """What it may be, as JSON writes it: that the statement holds, and that it does not."""

    def __init__(self, statements: Sequence[str]) -> None:
        self.statements = tuple(statements)
        self.size = len(self.statements)
        self.rules = f"{_BURDEN.format(against=self.verdicts[1])} {_EVIDENCE}"

    @property
    def text(self) -> str:
        """See `Shape.text`."""
        return "\n".join(f"{number}. {statement}" for number, statement in enumerate(self.statements, 1))

    def form(self, marker: str) -> str:
        """See `Shape.form`."""
        verdicts = " or ".join(self.verdicts)
        line = f'{{"number": <1 to {len(self.statements)}>, "{self.key}": {verdicts}, {_REPLY}}}'
        return f'{{"marker": "{marker}", "answers": [{line}, ...]}}'

    def read(self, text: str, marker: str, material: Sequence[str]) -> Answer:
        """See `Shape.read`."""
        answers = marked_object_of(text, marker, material).get("answers")
        if not isinstance(answers, list):
            raise Unreadable("its JSON object had no list of answers")
        found: dict[int, Finding] = {}
        for answer in answers:
            number = self._number(answer)
            if number in found:
                raise Unreadable(f"it had two answers to number {number}")
            verdict = self._verdict(answer.get(self.key), number)
            found[number] = Finding(verdict, evidence_of(answer, material, f"answer {number}"))
        missing = [str(number) for number in range(1, len(self.statements) + 1) if number not in found]
        if missing:
            raise Unreadable(f"it had no answer to number {', '.join(missing)}")
        findings = tuple(found[number] for number in sorted(found))
        return Answer(sum(finding.holds for finding in findings) / len(findings), findings=findings)

    def _number(self, answer: object) -> int:
        """Return the number of the statement that an answer is about."""
        number = answer.get("number") if isinstance(answer, dict) else None
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(self.statements):
            raise Unreadable("one of its answers had no number of the list")
        return number

    @abstractmethod
    def _verdict(self, value: object, number: int) -> bool: ...

    @abstractmethod
    def count(self, holding: int) -> str:
        """Say how many of them hold."""


class Claims(Statements):
    """Each is true or false."""

    section = "CLAIMS"
    aim = "You judge what was made for a task: whether each of several claims about it is true."
    ask = "Is each of CLAIMS true? One JSON object, with an answer for every number."
    key = "holds"
    verdicts = ("true", "false")

    def _verdict(self, value: object, number: int) -> bool:
        if not isinstance(value, bool):
            raise Unreadable(f'answer {number} had a "holds" that was neither true nor false')
        return value

    def count(self, holding: int) -> str:
        """See `Statements.count`."""
        return f"{holding} of {len(self.statements)} claims {'is' if holding == 1 else 'are'} true"


class Criteria(Statements):
    """Each is PASS or FAIL."""

    section = "CRITERIA"
    aim = "You judge what was made for a task: whether it meets each of several criteria."
    ask = "Is each of CRITERIA met? One JSON object, with an answer for every number."
    key = "result"
    verdicts = ('"PASS"', '"FAIL"')

    def _verdict(self, value: object, number: int) -> bool:
        if value not in ("PASS", "FAIL"):
            raise Unreadable(f'answer {number} had a "result" that was neither "PASS" nor "FAIL"')
        return value == "PASS"

    def count(self, holding: int) -> str:
        """See `Statements.count`."""
        return f"{holding} of {len(self.statements)} criteria {'is' if holding == 1 else 'are'} met"


def shape_of(options: RubricOptions) -> Shape:
    """Return the kind of question that a check asks."""
    if options.claims is not None:
        return Claims(options.claims)
    if isinstance(options.criteria, tuple):
        return Criteria(options.criteria)
    criteria = options.criteria or ""
    match options.scale:
        case Scale.TEN:
            return OutOfTen(criteria)
        case Scale.ONE:
            return OutOfOne(criteria, OutOfTen.passes_at if options.threshold is None else options.threshold)
        case _:
            return Criteria([criteria])


def _is_echo(text: str, material: Sequence[str]) -> bool:
    """Tell whether an answer stands in the material. A lone number often does, unless it is all there is."""
    answer = folded(text)
    return answer in material or (not _NUMBER.fullmatch(answer) and any(answer in part for part in material))


def _prefix(text: str) -> Answer:
    """A number at the beginning, as `8` or `8/10 good`, if it is the only one."""
    number = _NUMBER.match(text)
    if number is None:
        raise Unreadable("it was neither a JSON object nor a number")
    rest = text[number.end() :]
    if of_ten := _OF_TEN.match(rest):
        rest = rest[of_ten.end() :]
    if re.search(r"[\d{]", rest) or re.match(r"[\w%/]", rest):
        raise Unreadable("it held more than one number")
    return Answer(number_of(float(number[0]), 10) / 10, Evidence(reason_of(rest.strip(" \t\n.,:;-–—"))))
