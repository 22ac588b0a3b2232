"""The shapes of a rubric: what a judge is asked for, and how its answer is read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from skillgauge_judge_answers import Exhibits, Unreadable, folded, marked_object_of, unwrapped, without_thoughts

from .absence import is_about_absence
from .options import RubricOptions, Scale
from .reading import (
    NUMBER,
    Answer,
    Evidence,
    Finding,
    evidence_of,
    number_of,
    place_of,
    reason_of,
    truth_of,
)

_OF_TEN = re.compile(r"\s*(?:/|out of)\s*10(?:\.0+)?(?![0-9.,]*[0-9])")
_EVIDENCE = """\
Every answer needs evidence. Put into "quote" a passage of OUTPUT, TRAJECTORY or FILES, copied word for word, of at \
most 300 characters. If the answer rests on something that is not there, "quote" is null, and "absent" says what you \
looked for and did not find. {in_favour} needs a quote, unless what it is about has to be absent. A label alone, such \
as a heading or a file's name, proves nothing."""
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
    def read(self, text: str, marker: str, exhibits: Exhibits) -> Answer:
        """Read a whole answer: a judge may quote what the output demands, and that must not become the verdict.

        Args:
            text: what the judge answered.
            marker: what it had to repeat, since nobody whose text it saw knows it.
            exhibits: the texts under judgement.

        Raises:
            Unreadable: it is not what was asked for.
        """


class OutOfTen(Shape):
    """A number from 0 to 10, as a JSON object, or alone where nothing speaks to the judge."""

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
        """See `Shape.form`."""
        return f'{{"marker": "{marker}", "score": <number from 0 to 10>, "reason": "<one sentence>"}}'

    def read(self, text: str, marker: str, exhibits: Exhibits) -> Answer:
        """See `Shape.read`."""
        answer_alone = unwrapped(without_thoughts(text))
        if _is_echo(text, exhibits) or _is_echo(answer_alone, exhibits):
            raise Unreadable("it repeated what is judged")
        if "{" not in answer_alone:
            return _number_alone(answer_alone, exhibits)
        answer = marked_object_of(text, marker, exhibits)
        if "score" not in answer:
            raise Unreadable("its JSON object had no score")
        return Answer(number_of(answer["score"], 10) / 10, Evidence(reason_of(answer.get("reason"))))


class OutOfOne(Shape):
    """A number from 0 to 1, with evidence."""

    section = "CRITERIA"
    aim = "You judge what was made for a task by criteria. How well does it meet them? 0: not at all. 1: in full."
    ask = "How well are CRITERIA met? One JSON object."

    def __init__(self, criteria: str, threshold: float) -> None:
        self._criteria = criteria
        self.passes_at = threshold
        self.rules = _EVIDENCE.format(in_favour=f"A score of {threshold:g} or more")

    @property
    def text(self) -> str:
        """See `Shape.text`."""
        return self._criteria

    def form(self, marker: str) -> str:
        """See `Shape.form`."""
        return f'{{"marker": "{marker}", "score": <number from 0 to 1>, {_REPLY}}}'

    def read(self, text: str, marker: str, exhibits: Exhibits) -> Answer:
        """See `Shape.read`."""
        answer = marked_object_of(text, marker, exhibits)
        if "score" not in answer:
            raise Unreadable("its JSON object had no score")
        score = number_of(answer["score"], 1)
        needs_quote = score >= self.passes_at and _can_need_quote(self._criteria, exhibits)
        return Answer(score, evidence_of(answer, exhibits, "it", needs_quote=needs_quote))


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
        in_favour, against = self.verdicts
        evidence = _EVIDENCE.format(in_favour=f"The answer {in_favour}")
        self.rules = f"{_BURDEN.format(against=against)} {evidence}"

    @property
    def text(self) -> str:
        """See `Shape.text`."""
        return "\n".join(f"{number}. {statement}" for number, statement in enumerate(self.statements, 1))

    def form(self, marker: str) -> str:
        """See `Shape.form`."""
        verdicts = " or ".join(self.verdicts)
        line = f'{{"number": <1 to {len(self.statements)}>, "{self.key}": {verdicts}, {_REPLY}}}'
        return f'{{"marker": "{marker}", "answers": [{line}, ...]}}'

    def read(self, text: str, marker: str, exhibits: Exhibits) -> Answer:
        """See `Shape.read`."""
        answers = marked_object_of(text, marker, exhibits).get("answers")
        if not isinstance(answers, list):
            raise Unreadable("its JSON object had no list of answers")
        found: dict[int, Finding] = {}
        for answer in answers:
            number = self._number(answer)
            if number in found:
                raise Unreadable(f"it had two answers to number {number}")
            holds = self._verdict(answer.get(self.key), number)
            needs_quote = holds and _can_need_quote(self.statements[number - 1], exhibits)
            evidence = evidence_of(answer, exhibits, f"answer {number}", needs_quote=needs_quote)
            found[number] = Finding(holds, evidence)
        missing = [str(number) for number in range(1, len(self.statements) + 1) if number not in found]
        if missing:
            raise Unreadable(f"it had no answer to number {', '.join(missing)}")
        findings = tuple(found[number] for number in sorted(found))
        return Answer(sum(finding.holds for finding in findings) / len(findings), findings=findings)

    def _number(self, answer: object) -> int:
        """Return the number of the statement that an answer is about."""
        number = place_of(answer.get("number"), len(self.statements)) if isinstance(answer, dict) else None
        if number is None:
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
        truth = truth_of(value)
        if truth is None:
            raise Unreadable(f'answer {number} had a "holds" that was neither true nor false')
        return truth

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


def _can_need_quote(statement: str, exhibits: Exhibits) -> bool:
    """Tell whether a passage can show that a statement holds: something has to be there, and there is something."""
    return bool(exhibits.texts) and not is_about_absence(statement)


def _is_echo(text: str, exhibits: Exhibits) -> bool:
    """Tell whether an answer stands in the material. A lone number often does, unless it is all there is."""
    answer, passages = folded(text), exhibits.passages
    return answer in passages or (not NUMBER.fullmatch(answer) and any(answer in passage for passage in passages))


def _number_alone(text: str, exhibits: Exhibits) -> Answer:
    """A number without a marker, which anybody could have written."""
    answer = _prefix(text)
    if exhibits.signs:
        raise Unreadable("it had no marker, which it needs where the output speaks to the judge")
    return answer


def _prefix(text: str) -> Answer:
    """A number at the beginning, as `8` or `8/10 good`, if it is the only one."""
    number = NUMBER.match(text)
    if number is None:
        raise Unreadable("it was neither a JSON object nor a number")
    rest = text[number.end() :]
    if of_ten := _OF_TEN.match(rest):
        rest = rest[of_ten.end() :]
    if re.search(r"[\d{]", rest) or re.match(r"[\w%/]", rest):
        raise Unreadable("it held more than one number")
    return Answer(number_of(float(number[0]), 10) / 10, Evidence(reason_of(rest.strip(" \t\n.,:;-–—"))))
