"""The pictures of a map: what is drawn of large catalogues, and of none."""

from __future__ import annotations

import re

from skillgauge_skill_maps.documents import MapDocument, PlannedSessions
from skillgauge_skill_maps.model import MatrixRow, PairRow, Relation
from skillgauge_skill_maps.page import render
from skillgauge_skill_maps.picture import graph, matrix


def document(number: int, *pairs: tuple[str, str, Relation]) -> MapDocument:
    """Return a map of skills that fire for their own queries, with some pairs."""
    rows = [
        PairRow(
            skill=skill, query_of=owner, relation=relation, likeness=0.5, instead=1, together=0, sessions=4, queries=()
        )
        for skill, owner, relation in pairs
    ]
    return MapDocument(
        exit_code=0,
        verdict="done",
        state="finished",
        started_at=0,
        engine="mock",
        model=None,
        runs=("run",),
        sessions=PlannedSessions(screening=4 * number, leave_one_out=0, skills=number, queries=number, runs=4),
        unknown=0,
        tokens=0,
        cost_usd=0,
        description_tokens=1,
        level=0.05,
        tested=0,
        skills=(),
        pairs=tuple(rows),
        matrix=tuple(
            MatrixRow(query_of=f"skill {place}", sessions=4, fired={f"skill {place}": 3, "none": 1})
            for place in range(number)
        ),
        queries=(),
    )


def test_sixty_rows_are_drawn_those_with_pairs_among_them() -> None:
    """Of more skills the matrix shows those that have a pair, and its size stays that of sixty."""
    drawn = "".join(matrix(document(90, ("skill 88", "skill 89", Relation.SHADOWS))))
    assert drawn.count('class="row"') == 60
    assert ">skill 88</text>" in drawn
    assert ">skill 89</text>" in drawn
    assert ">skill 70</text>" not in drawn
    assert drawn.count("<title>") == 2 * 60


def test_the_two_directions_of_a_pair_are_two_arrows() -> None:
    """They bend differently, and each has the head of its kind."""
    mutual = document(2, ("skill 0", "skill 1", Relation.SHADOWS), ("skill 1", "skill 0", Relation.UNDECIDED))
    drawn = "".join(graph(mutual))
    paths = re.findall(r'class="edge (\w+)" d="([^"]+)"[^>]*url\(#head-(\w+)\)', drawn)
    assert {(kind, head) for kind, _, head in paths} == {("proven", "proven"), ("open", "open")}
    assert len({path for _, path, _ in paths}) == 2


def test_without_pairs_there_is_no_graph() -> None:
    """Descriptions that are alike are no arrow, and a page without pairs has no picture of them."""
    quiet = document(2, ("skill 0", "skill 1", Relation.ALIKE))
    assert list(graph(quiet)) == []
    assert "<h2>Pairs</h2>" not in render(quiet)
    assert "<h2>Who fires for whose queries</h2>" in render(quiet)


def test_a_long_list_of_pairs_is_cut_on_the_page() -> None:
    """Two hundred rows are shown, and the page says how many more the document has."""
    many = document(30, *((f"skill {a}", f"skill {b}", Relation.FIRES_TOO) for a in range(30) for b in range(8)))
    page = render(many)
    assert "40 more; the JSON document has all of them" in page
