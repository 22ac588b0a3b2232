"""Which paths are eval-skills', by their content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_format_eval_skills.claiming import claim

Write = Callable[[str, object], Path]


@pytest.mark.parametrize(
    ("name", "content", "dialect"),
    [
        ("skill.json", {"id": "a", "entrypoint": "x"}, "skill"),
        ("skill.json", {"id": "a", "adapterType": "http"}, "skill"),
        ("skill.json", {"entrypoint": "x", "adapterType": "http"}, "skill"),
        ("skill.json", {"id": "a", "name": "of another tool"}, None),
        ("skill.json", [1], None),
        ("skill.json", '{"id": ', "skill"),
        ("skill.json", "[" * 100_000, "skill"),
        ("other.json", {"id": "a", "entrypoint": "x", "adapterType": "http"}, "skill"),
        ("other.json", {"id": "a", "adapterType": "x"}, None),
        ("other.json", '{"adapterType": ', None),
        ("other.json", '["tasks"]', None),
        ("bench.json", {"tasks": [{"id": "t"}]}, "benchmark"),
        ("bench.json", {"tasks": [], "scoringMethod": "mean"}, "benchmark"),
        ("bench.json", {"tasks": []}, None),
        ("tasks.json", {"tasks": [{"label": "build"}]}, None),
        ("tasks.json", {"tasks": {"a": 1}}, None),
        ("package.json", {"name": "a"}, None),
        ("skill.yaml", '{"id": "a", "entrypoint": "x"}', None),
    ],
)
def test_files_are_claimed_by_content(write: Write, name: str, content: object, dialect: str | None) -> None:
    """Skills and benchmarks are recognised, broken files named skill.json too, and nobody else's files."""
    found = claim(write(name, content))
    assert (found.dialect if found else None) == dialect


def test_folder_is_claimed_for_the_skill_it_holds(write: Write, tmp_path: Path) -> None:
    """A folder counts if the skill file lies directly in it and it is no agent package."""
    write("a/b/skill.json", {"id": "a", "entrypoint": "x"})
    assert claim(tmp_path / "a") is None
    assert claim(tmp_path / "a/b") is not None
    write("a/b/package.agent.json", {})
    assert claim(tmp_path / "a/b") is None


def test_claim_never_raises(write: Write, tmp_path: Path) -> None:
    """Absent, oversized and unreadable paths are nobody's."""
    large = write("skill.json", "{}")
    with large.open("r+b") as stream:
        stream.truncate(9 * 1024 * 1024)
    assert claim(large) is None
    assert claim(tmp_path / "absent.json") is None
    assert claim(tmp_path / ("x" * 300)) is None
