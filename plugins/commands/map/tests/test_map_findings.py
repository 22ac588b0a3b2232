"""From sessions to pairs and advice: what is called, what is not, and that p values are corrected."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from skillgauge.api import SkillRef, Target
from skillgauge.stats import holm
from skillgauge_command_map.advice import skill_rows
from skillgauge_command_map.catalogue import Member
from skillgauge_command_map.findings import Screened, left_out, pair_rows
from skillgauge_command_map.overlap import Likeness
from skillgauge_command_map.queries import ALL, arm_without
from skillgauge_command_map.sessions import Fired
from skillgauge_skill_maps.model import Action, PairRow, Relation, SkillRow

NAMES = ("csv", "tables", "mail", "csv-tools")
TEXTS = {"csv": "rows values", "tables": "sheets", "mail": "letters", "csv-tools": "columns"}


def sessions(owner: str, fired: str, arm: str = ALL, *, queries: int = 4, runs: int = 3) -> list[Fired]:
    """Return sessions in which some skills fired, named in one text, for each query of a skill."""
    skills = frozenset(fired.split())
    return [
        Fired(owner=owner, query=f"q{query}", arm=arm, skills=skills, hit=owner in skills)
        for query in range(queries)
        for _ in range(runs)
    ]


def rows(first: list[Fired], again: list[Fired], *tested: tuple[str, str]) -> dict[tuple[str, str], PairRow]:
    """Return the pairs by their names."""
    pairs = pair_rows(Screened.of(Likeness(TEXTS), first), again, tested)
    return {(row.skill, row.query_of): row for row in pairs}


def advice(first: list[Fired], again: list[Fired], *tested: tuple[str, str]) -> dict[str, SkillRow]:
    """Return what to do about each skill."""
    members = [
        Member(name=name, description=text, ref=SkillRef(name=name, root="/", digest=""), target=Target(id=name))
        for name, text in TEXTS.items()
    ]
    screened = Screened.of(Likeness(TEXTS), first)
    return {row.name: row for row in skill_rows(members, screened, pair_rows(screened, again, tested))}


def test_only_leaving_out_proves_shadowing() -> None:
    """A skill that fires in another's place fires too; it shadows that one if that fires again without it."""
    first = sessions("csv", "tables")
    pair = ("tables", "csv")
    assert rows(first, [])[pair].relation is Relation.FIRES_TOO
    without = arm_without("tables")
    proven = rows(first, sessions("csv", "tables") + sessions("csv", "csv", without), pair)[pair]
    assert proven.relation is Relation.SUBSUMES
    still = rows(first, sessions("csv", "tables") + sessions("csv", "mail", without), pair)[pair]
    assert still.relation is Relation.FIRES_TOO
    assert still.left_out is not None
    assert still.left_out.adjusted == 1
    fewer = rows(first, sessions("csv", "csv") + sessions("csv", "", without), pair)[pair]
    assert fewer.relation is Relation.SUPPORTS


def test_few_sessions_leave_a_pair_undecided() -> None:
    """One query asked once with and once without cannot prove anything, and does not rule anything out."""
    again = sessions("csv", "tables", queries=1, runs=1) + sessions(
        "csv", "csv", arm_without("tables"), queries=1, runs=1
    )
    pair = ("tables", "csv")
    assert rows(sessions("csv", "tables", queries=1, runs=1), again, pair)[pair].relation is Relation.UNDECIDED


def test_a_skill_that_fires_half_the_time_shadows_and_does_not_subsume() -> None:
    """Subsuming needs more than half of the queries, by the intervals."""
    first = sessions("csv", "tables", queries=2) + sessions("csv", "csv", queries=2)
    again = sessions("csv", "tables") + sessions("csv", "csv", arm_without("tables"))
    assert rows(first, again, ("tables", "csv"))["tables", "csv"].relation is Relation.SHADOWS


@example(flips=[(False, True)] * 3)
@given(flips=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_p_values_are_corrected_for_all_tested_pairs(flips: list[tuple[bool, bool]]) -> None:
    """They are Holm's of the exact ones, however many pairs there are, and none is smaller than its own."""
    again: list[Fired] = []
    tested = []
    for number, (before, after) in enumerate(flips):
        owner, suspect = f"owner-{number}", f"suspect-{number}"
        again += sessions(owner, owner if before else "")
        again += sessions(owner, owner if after else "", arm_without(suspect))
        tested.append((suspect, owner))
    results = list(left_out(again, tested).values())
    assert [result.adjusted for result in results] == holm([result.chance for result in results])
    assert all(result.adjusted >= result.chance for result in results)


def test_pairs_without_sessions_in_both_arms_are_not_tested() -> None:
    """What a stopped run has not asked is no evidence, and counts in no correction."""
    again = sessions("csv", "tables") + sessions("csv", "csv", arm_without("tables"))
    results = left_out(again, [("tables", "csv"), ("mail", "csv"), ("csv", "mail")])
    assert list(results) == [("tables", "csv")]
    assert results["tables", "csv"].adjusted == results["tables", "csv"].chance


def test_suspects_fire_more_where_the_other_does_not() -> None:
    """One session is no suspicion, a skill that fires everywhere is none either, and the most frequent comes first."""
    first = sessions("csv", "csv mail", queries=6) + sessions("csv", "mail tables", queries=2)
    screened = Screened.of(Likeness(TEXTS), first)
    assert screened.suspects("csv", 5) == ("tables",)
    both = sessions("csv", "tables", queries=2) + sessions("csv", "mail", queries=3) + sessions("csv", "csv", queries=3)
    assert Screened.of(Likeness(TEXTS), both).suspects("csv", 5) == ("mail", "tables")
    assert Screened.of(Likeness(TEXTS), both).suspects("csv", 1) == ("mail",)
    once = sessions("csv", "csv") + sessions("csv", "tables", queries=1, runs=1)
    assert Screened.of(Likeness(TEXTS), once).suspects("csv", 5) == ()
    alike = Likeness(TEXTS | {"tables": "rows values of sheets"})
    assert Screened.of(alike, sessions("csv", "", queries=1)).suspects("csv", 5) == ("tables",)


def test_advice_follows_from_proof() -> None:
    """Merge what is subsumed, rename what has the name of its shadow, sharpen the rest, and keep what works."""
    without = arm_without("tables")
    merged = advice(
        sessions("csv", "tables"), sessions("csv", "tables") + sessions("csv", "csv", without), ("tables", "csv")
    )
    assert (merged["csv"].action, merged["csv"].partners) == (Action.MERGE, ("tables",))
    assert merged["csv"].never_chosen
    half = sessions("csv", "csv-tools", queries=2) + sessions("csv", "csv", queries=2)
    again = sessions("csv", "csv-tools") + sessions("csv", "csv", arm_without("csv-tools"))
    renamed = advice(half, again, ("csv-tools", "csv"))
    assert (renamed["csv"].action, renamed["csv"].partners) == (Action.RENAME, ("csv-tools",))
    silent = advice(sessions("csv", ""), [])
    assert (silent["csv"].action, silent["csv"].none_fired) == (Action.SHARPEN, 12)
    works = advice(sessions("csv", "csv"), [])
    assert (works["csv"].action, works["mail"].action) == (Action.KEEP, Action.UNDECIDED)
    assert works["mail"].evidence == ("no session of its own queries tells which skills fired",)


def test_a_skill_that_shadows_two_others_is_too_broad() -> None:
    """Its own description is to be sharpened, since it takes the queries of several."""
    first = sessions("csv", "tables") + sessions("mail", "tables") + sessions("tables", "tables")
    again = first + sessions("csv", "csv", arm_without("tables")) + sessions("mail", "mail", arm_without("tables"))
    found = advice(first, again, ("tables", "csv"), ("tables", "mail"))
    assert (found["tables"].action, found["tables"].partners) == (Action.SHARPEN, ("csv", "mail"))


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 3)), max_size=30))
def test_the_matrix_counts_every_session(asked: list[tuple[str, str, int]]) -> None:
    """The rows add up to the sessions, and each row to its own, since one skill fired in each or none."""
    first = [
        Fired(owner=owner, query=f"q{query}", arm=ALL, skills=frozenset({name}), hit=name == owner)
        for owner, name, query in asked
    ]
    matrix = Screened.of(Likeness(TEXTS), first).matrix(NAMES)
    assert sum(row.sessions for row in matrix) == len(asked)
    assert all(sum(row.fired.values()) == row.sessions for row in matrix)
    for row in matrix:
        rate = Screened.of(Likeness(TEXTS), first).own_rate(row.query_of)
        assert rate is not None
        assert rate.fired == row.fired.get(row.query_of, 0)
        assert rate.lower - 1e-12 <= rate.rate <= rate.upper + 1e-12
