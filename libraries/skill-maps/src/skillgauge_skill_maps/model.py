"""The findings of a map, as its JSON document has them."""

from __future__ import annotations

from enum import StrEnum

from skillgauge.api import Frozen

NONE = "none"
"""Stands for sessions in which no skill fired."""


class Relation(StrEnum):
    """The relation of a skill to another one, for whose queries it fires or which it resembles."""

    SUBSUMES = "subsumes"
    """It shadows the other, fires for most of its queries, and the other fires for few."""
    SHADOWS = "shadows"
    """With it left out, the other fires more often: proven by sessions."""
    SUPPORTS = "supports"
    """With it left out, the other fires less often: proven by sessions."""
    UNDECIDED = "undecided"
    """It was left out, and these sessions show neither that it shadows the other nor that it does not."""
    FIRES_TOO = "fires too"
    """It fires for the other's queries, and nothing shows that it keeps the other from firing."""
    ALIKE = "alike"
    """Their descriptions resemble each other, and it fired for none of the other's queries."""


PROVEN = (Relation.SUBSUMES, Relation.SHADOWS)


class Action(StrEnum):
    """The thing to do about a skill."""

    MERGE = "merge"
    RENAME = "rename"
    SHARPEN = "sharpen the description"
    KEEP = "keep"
    UNDECIDED = "cannot tell"
    """Its queries were too few, or there are none."""


class Rate(Frozen):
    """The share of sessions in which a skill fired for its own queries."""

    fired: int
    sessions: int
    queries: int
    rate: float
    """Mean over the queries, whose sessions are averaged first."""
    lower: float
    """Of the 95 % interval for queries like these."""
    upper: float
    method: str


class LeftOut(Frozen):
    """The same queries with everything installed and with one skill left out, in sessions of their own."""

    fired_with: int
    """Sessions with everything installed in which the skill that the queries belong to fired."""
    sessions_with: int
    fired_without: int
    """The same with the suspect left out."""
    sessions_without: int
    queries: int
    """Queries with sessions in both arms."""
    difference: float
    """Firing rate without the suspect minus the rate with it, mean over the queries."""
    lower: float
    """Of the 95 % interval on these queries, for this pair alone."""
    upper: float
    chance: float
    """P value of the exact two-sided test on these queries."""
    adjusted: float
    """The same, corrected by Holm for all pairs that were tested."""
    input_tokens: float | None
    """Tokens that a call of the model reads less without the suspect; `None` if the engine does not tell."""


class PairRow(Frozen):
    """A skill and another one whose queries it was seen at, or whose description is like its own."""

    skill: str
    """The one that fires, or may."""
    query_of: str
    """The one that the queries belong to."""
    relation: Relation
    likeness: float
    """Of names and descriptions, 0 to 1."""
    instead: int
    """Sessions of the first part in which it fired and the other did not."""
    together: int
    """Sessions of the first part in which both fired."""
    sessions: int
    """Sessions of the first part with the other's queries."""
    queries: tuple[str, ...]
    """Ids of the queries for which it fired and the other did not."""
    left_out: LeftOut | None = None
    """`None`: it was not left out."""


class SkillRow(Frozen):
    """A skill of the catalogue."""

    name: str
    action: Action
    partners: tuple[str, ...]
    """The skills that the action is about, beside this one."""
    evidence: tuple[str, ...]
    own: Rate | None
    """`None` without a session that tells."""
    others_fired: int
    """Sessions of its queries in which only other skills fired."""
    none_fired: int
    """Sessions of its queries in which no skill fired."""
    for_others: int
    """Sessions of other skills' queries in which it fired."""
    never_chosen: bool
    """True if it fired in no session, and its interval excludes half of its queries."""
    description_tokens: int
    """Estimated tokens of name and description, which every session of an agent reads; a quarter of the characters."""
    input_tokens: float | None
    """Measured: tokens that a call of the model reads less where it is left out, mean over the skills it was left out
    for; `None` if it never was, or the engine does not tell."""


class MatrixRow(Frozen):
    """The sessions of one skill's queries, with everything installed."""

    query_of: str
    sessions: int
    fired: dict[str, int]
    """Sessions by the skills that fired; a session counts for each of them, `none` if there is none."""
