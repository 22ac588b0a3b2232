"""The map of a catalogue is a page beside those of the runs that it rests on, served and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillgauge.api.report import RunView
from skillgauge_command_view.export import export
from skillgauge_command_view.links import key_of
from skillgauge_command_view.pages.map_page import Maps
from skillgauge_command_view.rows import row_of


@pytest.mark.slow
def test_a_map_is_a_page_of_the_server(serve: Any, views: list[RunView], map_folder: Path) -> None:
    """The list and the page of its run lead to it; its texts are inert; another name is no page."""
    with serve(views, maps=Maps([map_folder])) as served:
        assert '<a href="/maps/run6">' in served.get("/runs").text
        assert "/maps/" not in served.get("/runs?q=nothing").text
        assert '<a href="/maps/run6">' in served.get("/runs/run6").text
        assert "/maps/" not in served.get("/runs/run5").text
        page = served.get("/maps/run6")
        assert page.status_code == 200
        assert "What to do about each skill" in page.text
        assert '<a href="/runs/run6">' in page.text
        assert "<script" not in page.text
        assert "<img" not in page.text
        assert served.get("/map.css").headers["content-type"].startswith("text/css")
        assert served.get("/maps/gone").status_code == 404
        with served.stranger() as stranger:
            assert stranger.get("/maps/run6").status_code == 401


def test_a_map_is_exported_with_its_run(views: list[RunView], map_folder: Path, tmp_path: Path) -> None:
    """The page of the run leads to a file with a style of its own, which leads back; other runs bring no map."""
    runs = {view.run.run_id: (row_of(view, key_of(view.run.run_id), "file"), view) for view in views}
    names = {file.name for file in export([runs["run6"]], tmp_path / "one", Maps([map_folder]))}
    assert "map-run6.html" in names
    assert 'href="map-run6.html"' in (tmp_path / "one" / "index.html").read_text("utf-8")
    page = (tmp_path / "one" / "map-run6.html").read_text("utf-8")
    assert 'href="index.html"' in page
    assert page.count("<style>") == 1
    assert "/map.css" not in page
    assert not any(
        file.name.startswith("map-") for file in export([runs["run5"]], tmp_path / "none", Maps([map_folder]))
    )
