"""The words of a score: the reason, in a sentence, and its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillgauge.api import FrozenDict, Json

from .asking import Ballot
from .marks import SPEAKS
from .panel import Decision
from .reading import Answer, Finding
from .shapes import Shape, Statements

_TOLD_STATEMENTS = 3
_TOLD_CHARACTERS = 200
_REASON = 2_000


class Telling:
    """Puts a decision into words.

    Args:
        shape: what was asked for.
        decision: what came of it.
        ballots: what each judge said, at least one.
        signs: the signs that what is judged speaks to a judge, by the name of its part.
    """

    def __init__(
        self,
        shape: Shape,
        decision: Decision,
        ballots: Sequence[Ballot],
        signs: Mapping[str, Sequence[str]],
    ) -> None:
        self._shape = shape
        self._decision = decision
        self._ballots = ballots
        self._signs = signs
        self._answers = [ballot.answer for ballot in ballots if ballot.answer is not None]
        self._is_panel = len(ballots) > 1

    def reason(self) -> str:
        """Return the reason why a check passed or failed."""
        text = self._statements(self._shape) if isinstance(self._shape, Statements) else self._number()
        silent = len(self._ballots) - len(self._answers)
        missing = f" ({silent} of {len(self._ballots)} judges did not answer)" if silent else ""
        return f"{text}{missing}{self._warning()}"

    def why_undecided(self) -> str:
        """Return the reason why there is no verdict."""
        failures = [ballot for ballot in self._ballots if ballot.failure]
        if not self._is_panel:
            return f"{failures[0].failure}{self._warning()}"
        text = "; ".join(f"{ballot.judge}: {ballot.failure}" for ballot in failures)
        seats = f"{len(failures)} of {len(self._ballots)} judges did not answer"
        return f"the panel has no majority, since {seats}: {text}"[:_REASON] + self._warning()

    def evidence(self, left_out: Mapping[str, int]) -> dict[str, Json]:
        """Return the answer of each judge, the votes, and the material that they did not see."""
        document: dict[str, Json] = {}
        if self._is_panel:
            document["panel"] = tuple(self._seat(ballot) for ballot in self._ballots)
        else:
            document |= self._ballots[0].document()
        if isinstance(self._shape, Statements):
            if self._answers:
                document["answers"] = tuple(self._statement(self._shape, at) for at in range(self._shape.size))
        else:
            document["criteria"] = self._shape.text
            if self._is_panel:
                document["votes"] = FrozenDict(self._decision.splits[0].document())
            elif self._answers:
                document |= self._answers[0].evidence.passages()
        if left_out:
            document["characters_left_out"] = FrozenDict(left_out)
        if self._signs:
            document[SPEAKS] = FrozenDict({name: tuple(signs) for name, signs in self._signs.items()})
        return document

    def _warning(self) -> str:
        """Return what a reader has to know before he believes the verdict; empty if there is nothing."""
        return "".join(f"; {name} speaks to the judge ({', '.join(signs)})" for name, signs in self._signs.items())

    def _number(self) -> str:
        text = self._shape.number(self._decision.value)
        if self._is_panel:
            split = self._decision.splits[0]
            text = f"{split.yes} of {split.seats} judges pass it, at a median of {text}"
        passes = self._decision.passes
        agreeing = (one for one in self._answers if (one.value >= self._shape.passes_at) is passes)
        reason = next((one.evidence.reason for one in agreeing if one.evidence.reason), "")
        if reason:
            return f"{text}: {reason}"
        return text if self._is_panel else f"the judge gave {text}"

    def _statements(self, shape: Statements) -> str:
        text = shape.count(self._decision.holding)
        against = []
        for at, split in enumerate(self._decision.splits):
            if not split.verdict:
                reason = _speaker(self._answers, at, holds=False).evidence.reason
                against.append(_short(shape.statements[at]) + (f" ({_short(reason)})" if reason else ""))
        if not against:
            return text
        more = len(against) - _TOLD_STATEMENTS
        rest = f"; and {more} more" if more > 0 else ""
        return f"{text}; not: {'; '.join(against[:_TOLD_STATEMENTS])}{rest}"

    def _seat(self, ballot: Ballot) -> Json:
        if ballot.answer is None:
            return FrozenDict({"judge": ballot.judge, **ballot.document(), "failure": ballot.failure})
        return FrozenDict({"judge": ballot.judge, "value": ballot.answer.value, **ballot.document()})

    def _statement(self, shape: Statements, at: int) -> Json:
        split = self._decision.splits[at]
        holds = split.verdict
        document: dict[str, Json] = {"statement": shape.statements[at], "holds": holds}
        if self._is_panel:
            document["votes"] = FrozenDict(split.document())
        if holds is not None:
            document |= _speaker(self._answers, at, holds=holds).evidence.document()
        return FrozenDict(document)


def _speaker(answers: Sequence[Answer], at: int, *, holds: bool) -> Finding:
    """The first finding of those that say what most say."""
    return next(answer.findings[at] for answer in answers if answer.findings[at].holds is holds)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TOLD_CHARACTERS else f"{text[: _TOLD_CHARACTERS - 1]}…"
