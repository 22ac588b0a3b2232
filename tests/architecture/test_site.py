"""The site: every page has its place, every link leads somewhere, and reference leaves nothing of the program out."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

import pages
import reference
from members import ROOT, plugins
from skillgauge.errors import ExitCode


@pytest.mark.slow
def test_every_page_has_its_place() -> None:
    """A new page in `docs/` gets into the site by itself; its place in `.ci/mkdocs.yml` is for us to choose."""
    found = [place for source, place in pages.pages().items() if source.suffix == ".md"]
    made = [PurePosixPath(place) for place, _ in pages.generated() if place.endswith(".md")]
    assert pages.unplaced(pages.configuration()["nav"], sorted({*found, *made})) == []


@pytest.mark.slow
def test_no_place_is_empty() -> None:
    """What the navigation names is there."""
    places = {str(place) for place in pages.pages().values()} | {place for place, _ in pages.generated()}
    assert set(pages.placed(pages.configuration()["nav"])) - places == set()


def test_who_begins_reads_few_pages() -> None:
    """The first two groups hold what everybody needs; what else there is has groups of its own."""
    groups = pages.configuration()["nav"][:2]
    assert [list(group) for group in groups] == [["Start"], ["Use"]]
    assert len(list(pages.placed(groups))) <= 9


@pytest.mark.slow
def test_the_site_is_made_without_a_warning(tmp_path: Path) -> None:
    """Every dead link, dead anchor and unknown page is an error; nothing in the result is from outside."""
    assert pages.build(tmp_path / "site", tmp_path / "pages") == 0
    home = (tmp_path / "site/index.html").read_text("utf-8")
    assert "fonts.googleapis" not in home
    assert (tmp_path / "site/packages/skillgauge-scorer-files.html").is_file()
    assert (tmp_path / "site/reference/schemas/record.schema.json").is_file()


def test_a_dead_link_becomes_words_and_a_living_one_is_followed() -> None:
    """Links lead from file to file in the repository, and from page to page in the site; code is left alone."""
    places = pages.pages()
    source = ROOT / "docs/judging.md"
    text = "[a](../plugins/judges/agent/README.md#x) [b](../Makefile) [c](https://e.example/) ![d](images/no.png)\n"
    text += "```\n[e](../Makefile)\n```\n"
    assert pages.linked(text, source, places) == (
        "[a](packages/skillgauge-judge-agent.md#x) b [c](https://e.example/) \n```\n[e](../Makefile)\n```\n"
    )


@pytest.mark.slow
def test_reference_has_every_command_and_option() -> None:
    """Each command has its section, each of its options a row in it or in the table that all share."""
    page = reference.commands_page()
    shared = page.partition("## On every command")[2].partition("\n## ")[0]
    found = reference.commands()
    assert {"skillgauge eval", "skillgauge plugins new", "skillgauge report diff"} <= {one.name for one in found}
    for command in found:
        section = page.partition(f"## {command.name}\n")[2].partition("\n## ")[0]
        assert section, command.name
        for option in command.options():
            if not option.hidden:
                assert option.opts[0] in section + shared, (command.name, option.name)


def test_the_page_of_a_plugin_has_every_option() -> None:
    """Whatever `plugins info` tells of a plugin of this repository, its page tells, too."""
    ours = {member.name for member in plugins()}
    found = [entry for entry in reference.plugins() if entry.distribution in ours]
    assert {entry.kind for entry in found} > {"scorers", "engines", "formats", "stores"}
    for entry in found:
        page = reference.options_section([one for one in found if one.distribution == entry.distribution])
        for name in reference.described(entry.kind, f"{entry.distribution}:{entry.name}").get("properties", {}):
            assert f"| `{name}` |" in page, (entry.name, name)


def test_every_option_of_a_plugin_says_what_it_means() -> None:
    """The sentence that `plugins info` and the page show is beside the option in the code."""
    ours = {member.name for member in plugins()}
    silent = [
        f"{entry.kind}.{entry.name}.{name}"
        for entry in reference.plugins()
        if entry.distribution in ours
        for name, one in reference.described(entry.kind, f"{entry.distribution}:{entry.name}")
        .get("properties", {})
        .items()
        if not one.get("description")
    ]
    assert silent == []


def test_every_plugin_and_schema_is_listed() -> None:
    """The page of plugins leads to each distribution, that of schemas has each document."""
    page = reference.plugins_page()
    for member in plugins():
        assert f"packages/{member.name}.md" in page
    found = reference.schemas()
    assert {"eval", "record", "plugins", "run", "agent-skills-evals"} <= set(found)
    assert [name for name in found if f"## {name}\n" not in reference.schemas_page(found)] == []


def test_every_exit_code_is_explained() -> None:
    """The meaning is the text below each code in the source, and it is a whole sentence."""
    found = reference.exit_codes()
    assert set(found) == set(ExitCode)
    for code, (name, meaning) in found.items():
        assert name == ExitCode(code).name
        assert meaning.endswith((".", "it names the file with the traceback.")), name
