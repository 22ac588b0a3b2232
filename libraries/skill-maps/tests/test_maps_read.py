"""Maps are read back from the folder that `map` writes them to."""

from __future__ import annotations

from pathlib import Path

from skillgauge_skill_maps import NAME, MapDocument, PlannedSessions, documents_in


def document(started_at: float) -> MapDocument:
    """A map of nothing."""
    return MapDocument(
        exit_code=0,
        verdict="0 skills",
        state="finished",
        started_at=started_at,
        engine="mock",
        model=None,
        runs=(f"run-{started_at:.0f}",),
        sessions=PlannedSessions(screening=0, leave_one_out=0, skills=0, queries=0, runs=1),
        unknown=0,
        tokens=0,
        cost_usd=0.0,
        description_tokens=0,
        level=0.05,
        tested=0,
        skills=(),
        pairs=(),
        matrix=(),
        queries=(),
    )


def test_the_newest_map_comes_first_and_none_twice(tmp_path: Path) -> None:
    """The copy without a time in its name counts once; other files, and what is no map, are passed over."""
    older, newer = document(1.0), document(2.0)
    for name, content in (
        (f"{NAME}-1.json", older.model_dump_json()),
        (f"{NAME}-2.json", newer.model_dump_json()),
        (f"{NAME}.json", newer.model_dump_json()),
        (f"{NAME}-3.json", "{}"),
        (f"{NAME}-4.json", "\x00"),
        ("eval-result.json", older.model_dump_json()),
    ):
        (tmp_path / name).write_text(content)
    assert documents_in(tmp_path) == (newer, older)
    assert documents_in(tmp_path / "absent") == ()
