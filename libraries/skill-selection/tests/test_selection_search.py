"""Which skills fit a query, and in which order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_skill_selection.catalogue import Candidate
from skillgauge_skill_selection.search import has_tags, ranked, relevance

WORDS = st.sampled_from(["web", "search", "web-search", "calc", "calculator", "math", "a", "Math", "é", "c++"])
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)


def skill(name: str, *, tags: tuple[str, ...] = (), description: str = "", shown: str = "") -> Candidate:
    """A candidate."""
    return Candidate(id=name, name=shown, tags=tags, description=description, document={"id": name})


@st.composite
def catalogues(draw: st.DrawFn) -> list[Candidate]:
    """Candidates with different ids."""
    count = draw(st.integers(0, 8))
    tags = st.lists(WORDS, max_size=3).map(tuple)
    return [
        skill(f"{draw(WORDS)}_{number}", shown=draw(TEXTS), tags=draw(tags), description=draw(TEXTS))
        for number in range(count)
    ]


def ids(candidates: tuple[Candidate, ...]) -> list[str]:
    """Their ids in order."""
    return [one.id for one in candidates]


def unknown(_candidate: Candidate) -> float | None:
    """No rate is known."""
    return None


def test_places_in_order() -> None:
    """The documented order: id or name, tags, description; in each a whole word before a part of one."""
    catalogue = [
        skill("f", description="for mathematics"),
        skill("e", description="does math"),
        skill("d", tags=("mathematics",)),
        skill("c", tags=("math",)),
        skill("b", shown="Mathematics"),
        skill("a", shown="Some math"),
        skill("other", description="nothing of that"),
        skill("math"),
    ]
    assert ids(ranked(catalogue, "math", unknown)) == ["math", "a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize(
    ("query", "text", "fits"),
    [
        ("web search", "Searches the web", True),
        ("web search", "Web pages", False),
        ("WEB", "web", True),
        ("straße", "STRASSE", True),
        ("é", "e\N{COMBINING ACUTE ACCENT}", True),
        ("c++", "compiles C++ programs", True),
        ("a.c", "abc", False),
        ("", "anything", True),
        ("  ", "anything", True),
    ],
)
def test_what_fits(query: str, text: str, fits: bool) -> None:
    """All words must occur, in any order and case; the query is text and no pattern."""
    assert (relevance(skill("x", description=text), query) is not None) is fits


@pytest.mark.parametrize("name", ["web_search", "web-search", "web.search", "search web"])
def test_words_end_at_anything_but_letters_and_digits(name: str) -> None:
    """An underscore or hyphen separates words, so a part of an id is a word of its own."""
    whole = relevance(skill("x", shown=name), "web")
    assert whole is not None
    assert whole == relevance(skill("x", shown="the web"), "web")
    assert whole < (relevance(skill("x", shown="cobweb"), "web") or (9, 9))


def test_the_whole_query_as_a_name_goes_first() -> None:
    """Somebody who types a name wants that skill, however well others fit."""
    catalogue = [skill("a", shown="Web search"), skill("b", shown="Web search for everyone")]
    assert ids(ranked(reversed(catalogue), "web  SEARCH", unknown)) == ["a", "b"]


def test_rates_decide_between_equals() -> None:
    """Without a query, and among skills that fit alike: best rate first, unknown last, then by id."""
    rates = {"b": 0.5, "c": 0.9, "d": None, "a": None, "e": 0.0}
    catalogue = [skill(name) for name in rates]
    assert ids(ranked(catalogue, "", lambda one: rates[one.id])) == ["c", "b", "e", "a", "d"]


@given(catalogues(), TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_catalogue_does_not_matter(
    catalogue: list[Candidate], query: str, chance: random.Random
) -> None:
    """A ranking is a function of the skills, not of the file system's order."""
    shuffled = list(catalogue)
    chance.shuffle(shuffled)
    assert ranked(catalogue, query, unknown) == ranked(shuffled, query, unknown)


@given(catalogues(), TEXTS)
def test_found_are_exactly_those_that_have_every_word(catalogue: list[Candidate], query: str) -> None:
    """The ranking drops nothing that fits and keeps nothing that does not."""

    def fits(one: Candidate) -> bool:
        texts = [one.id, one.name, one.description, *one.tags]
        return all(any(word.lower() in text.lower() for text in texts) for word in query.split())

    assert set(ids(ranked(catalogue, query, unknown))) == {one.id for one in catalogue if fits(one)}


@given(catalogues(), TEXTS, WORDS)
def test_another_word_finds_no_more(catalogue: list[Candidate], query: str, word: str) -> None:
    """To add a word narrows a search."""
    narrowed = set(ids(ranked(catalogue, f"{query} {word}", unknown)))
    assert narrowed <= set(ids(ranked(catalogue, query, unknown)))


@given(catalogues(), TEXTS)
def test_nobody_stands_before_a_better_fit(catalogue: list[Candidate], query: str) -> None:
    """The list is sorted by relevance."""
    fits = [relevance(one, query) for one in ranked(catalogue, query, unknown)]
    assert None not in fits
    assert fits == sorted(fit for fit in fits if fit)


@given(TEXTS, TEXTS, TEXTS)
def test_a_description_is_never_better_than_the_same_text_as_a_name(query: str, text: str, other: str) -> None:
    """To move words from the description into the name never makes a skill fit worse."""
    described = relevance(skill("x", shown=other, description=text), query)
    named = relevance(skill("x", shown=f"{other} {text}".strip(), description=text), query)
    if described is not None and described[0]:
        assert named is not None
        assert named <= described


def test_tags_must_all_be_there() -> None:
    """Tags are compared as they are written, and all must be there."""
    one = skill("x", tags=("web", "API"))
    assert has_tags(one, [])
    assert has_tags(one, ["API", "web"])
    assert not has_tags(one, ["api"])
    assert not has_tags(one, ["web", "other"])
