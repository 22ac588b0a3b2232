"""The contract of formats."""

from pathlib import Path

from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_plugin

MODULE = "acme_cases.plugin"
SHEET = """acme cases,python3 answer.py
case,question,match,answer,tags
opening,When do you open?,is,At nine.,times daily
prices,"What does ""all"" cost,
with tax?",has,"12,50",
"""


def test_format(tmp_path: Path) -> None:
    """A sheet is recognised, read, refused with places, and written again."""
    sample, other = tmp_path / "questions.csv", tmp_path / "people.csv"
    sample.write_text(SHEET)
    other.write_text("name,born\nAnn,1990\n")
    check_format(Maker(FORMATS, MODULE), samples=[sample], foreign=[other])


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)
