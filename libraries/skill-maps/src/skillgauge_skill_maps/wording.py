"""The sentences and cells that terminal and page have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillgauge.api.report import chance_text, counted, listed, percent, signed_points

from .documents import MapDocument
from .model import PROVEN, Action, PairRow, Relation, SkillRow

_QUERIES = 4
"""Queries that are named."""


def sentences(document: MapDocument) -> Iterator[str]:
    """Yield the answer in one sentence, then how it was found."""
    yield document.verdict
    sessions = document.sessions
    line = f"{queries_text(sessions.queries)} asked {counted(sessions.runs, 'time')} with everything installed"
    yield f"{line}: {counted(sessions.screening, 'session')}"
    if document.tested:
        pairs = counted(document.tested, "suspicious pair")
        rule = f"a pair is called if p, corrected by Holm for {document.tested}, is at most {document.level:.0%}"
        yield f"{pairs} tested by leaving one out: {counted(sessions.leave_one_out, 'session')}; {rule}"
    if document.unknown:
        yield f"{counted(document.unknown, 'session')} ended in an error or did not tell which skills fired"
    yield f"the descriptions take about {document.description_tokens:,} tokens of every session (estimated)"


_WORDS = {
    Action.MERGE: "merge",
    Action.RENAME: "rename",
    Action.SHARPEN: "sharpen",
    Action.KEEP: "keep",
    Action.UNDECIDED: "cannot tell",
}


def action_text(row: SkillRow) -> str:
    """Return what to do about a skill in few words, with the skills that it is about."""
    word = _WORDS[row.action]
    return f"{word}: {', '.join(row.partners)}" if row.partners else word


def verdict_of(skills: Sequence[SkillRow], pairs: Sequence[PairRow]) -> str:
    """Return the answer of a map in one sentence."""
    proven = [pair for pair in pairs if pair.relation in PROVEN]
    never = sum(row.never_chosen for row in skills)
    parts = [f"{counted(len(skills), 'skill')}: {_counted_pairs(proven)}"]
    parts += [f"{never} never chosen"] if never else []
    for action, word in _WORDS.items():
        number = sum(row.action is action for row in skills)
        if number:
            parts.append(f"{word} {number}")
    return "; ".join([parts[0], ", ".join(parts[1:])])


def _counted_pairs(proven: Sequence[PairRow]) -> str:
    if not proven:
        return "no skill is proven to shadow another"
    if len(proven) == 1:
        return f"{proven[0].skill} shadows {proven[0].query_of}"
    return f"{len(proven)} pairs in which one shadows the other"


def cost_text(row: SkillRow) -> str:
    """Return the tokens that a skill costs by being there: of its description, and as measured by leaving it out."""
    estimate = f"about {row.description_tokens}"
    if row.input_tokens is None:
        return estimate
    return f"{estimate} (measured {row.input_tokens:+,.0f})"


def left_out_text(pair: PairRow) -> str:
    """Return the result of leaving a skill out; empty if it was not."""
    result = pair.left_out
    if result is None:
        return ""
    counts = f"{result.fired_with} of {result.sessions_with} → {result.fired_without} of {result.sessions_without}"
    interval = f"{signed_points(result.lower)} to {signed_points(result.upper)} points"
    return f"{counts} ({interval}, {chance_text(result.adjusted)})"


def shown_pairs(pairs: Sequence[PairRow]) -> list[PairRow]:
    """Return the pairs that are worth a row: all but those whose descriptions alone are alike."""
    return [pair for pair in pairs if pair.relation is not Relation.ALIKE]


def queries_text(number: int) -> str:
    """Return a number of queries in words."""
    return "1 query" if number == 1 else f"{number} queries"


def pair_sentence(pair: PairRow, about: str | None = None) -> str:
    """Return the evidence of a pair as a sentence.

    Args:
        pair: the pair.
        about: the skill whose evidence it is; `None` names both.
    """
    owner = "it" if about == pair.query_of else pair.query_of
    subject = "this skill" if about == pair.skill else pair.skill
    sentence = f"{subject} fired instead of {owner} in {pair.instead} of {counted(pair.sessions, 'session')}"
    if not pair.instead:
        sentence = f"{subject} and {owner} are {percent(pair.likeness)} alike"
    if pair.queries:
        sentence += f" ({listed(pair.queries, _QUERIES)})"
    result = pair.left_out
    if result is None:
        return sentence
    ratio = f"{result.fired_without} of {result.sessions_without} against {result.fired_with} of {result.sessions_with}"
    chance = chance_text(result.adjusted)
    return f"{sentence}; with {subject} left out {owner} fired in {ratio} ({chance}, corrected for all pairs)"
