"""Suite formats made of functions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest

from skillgauge.api import (
    Claim,
    Dumped,
    FormatWithHeadlines,
    Frozen,
    Loaded,
    LoadRequest,
    NoOptions,
    Problem,
    Provider,
    Suite,
    SuiteFormat,
    SuiteHead,
    format_of,
)
from skillgauge.api.report import Figure, GroupKey, SuiteSummary

SUITE = Suite(id="s", format="acme", root="/s")
HEAD = SuiteHead(id="s", format="acme", root="/s", content_digest="", case_count=0, targets=(), arms=())
SUMMARY = SuiteSummary(suite=HEAD, groups=())
CLAIMING = """
from skillgauge.api import Claim
def claim(path):
    return Claim("acme") if path.suffix == ".acme" else None
limit = 3
"""
LOADING = """
from skillgauge.api import Loaded, Problem
def load(request, *options):
    return Loaded((), tuple(Problem("acme.options", repr(one)) for one in options))
"""
DUMPING = """
from skillgauge.api import Dumped
def dump(suite):
    return Dumped(((f"{suite.id}.acme", b""),))
"""
FIGURES = """
def figures(summary):
    return {group.key: () for group in summary.groups}
"""

_numbers = count()


class AcmeOptions(Frozen):
    """Options of the format."""

    keep: tuple[str, ...] = ()
    strict: bool = False


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package with the functions of a format, which nothing has imported."""
    name = f"acme_format_{next(_numbers)}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    for module, text in (("claiming", CLAIMING), ("loading", LOADING), ("dumping", DUMPING), ("figures", FIGURES)):
        (folder / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def factory(package: str, **others: str) -> Callable[..., SuiteFormat]:
    """The factory of the package's format, with other names for some of its parts."""
    parts = {"claim": f"{package}.claiming:claim", "load": f"{package}.loading:load", "dump": f"{package}.dumping:dump"}
    return format_of(**{**parts, **others})


def imported_parts(package: str) -> set[str]:
    """Modules of the package that were imported."""
    return {name.rpartition(".")[2] for name in sys.modules if name.startswith(f"{package}.")}


def request(**options: object) -> LoadRequest:
    """A request to load nothing, with options."""
    return LoadRequest.model_validate({"paths": (), "cwd": "/", "options": options})


def test_each_part_is_imported_when_it_is_needed(package: str) -> None:
    """Announcing imports nothing, making the format what claims; loading, writing and figures wait for their call."""
    make = factory(package, figures=f"{package}.figures:figures")
    assert imported_parts(package) == set()
    acme = make()
    assert imported_parts(package) == {"claiming"}
    assert acme.claim(Path("a.acme")) == Claim("acme")
    assert acme.claim(Path("a.json")) is None
    assert imported_parts(package) == {"claiming"}
    assert acme.load(request()) == Loaded(())
    assert imported_parts(package) == {"claiming", "loading"}
    assert acme.dump(SUITE) == Dumped((("s.acme", b""),))
    assert imported_parts(package) == {"claiming", "loading", "dumping"}
    assert acme.figures(SUMMARY) == {}
    assert imported_parts(package) == {"claiming", "loading", "dumping", "figures"}


def test_announcing_loads_no_more_than_the_contract() -> None:
    """A module that announces a format made of functions pays for what it pays with a class that is named."""
    code = """
import sys
from skillgauge.api import Provider, SuiteFormat, hookimpl
Provider(name="acme", factory="acme.suites:AcmeFormat", summary="Acme.")
before = set(sys.modules)
from skillgauge.api import format_of
Provider(name="acme", factory=format_of(claim="acme.c:c", load="acme.l:l", dump="acme.d:d"), summary="Acme.")
print(*set(sys.modules) - before)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["skillgauge.contract.format_parts"]


def test_a_format_without_figures_has_none(package: str) -> None:
    """A format need not have numbers of its own."""
    assert factory(package)().figures(SUMMARY) == {}


def test_a_format_without_options_loads_with_the_request_alone(package: str) -> None:
    """A provider without a model of options has its `load` called with one argument."""
    provider = Provider(name="acme", factory=factory(package), summary="Acme.")
    assert provider.make(NoOptions()).load(request(keep=("a",))).problems == ()


def test_options_of_the_request_override_those_of_the_configuration(package: str) -> None:
    """Options that only one of the two sets hold as well, and those of other formats are left out."""
    provider = Provider(name="acme", factory=factory(package), summary="Acme.", options=AcmeOptions)
    acme = provider.make(AcmeOptions(keep=("a",), strict=True))
    assert _options(acme.load(request())) == repr(AcmeOptions(keep=("a",), strict=True))
    assert _options(acme.load(request(keep=("b",), arms="other"))) == repr(AcmeOptions(keep=("b",), strict=True))


def _options(loaded: Loaded) -> str:
    (problem,) = loaded.problems
    return problem.message


def test_functions_may_be_given_as_such() -> None:
    """A plugin of one file has no module that could be named."""

    def claim(path: Path) -> Claim | None:
        return Claim(path.name)

    def load(_request: LoadRequest) -> Loaded:
        return Loaded((SUITE,))

    def dump(suite: Suite) -> Dumped:
        return Dumped((), (Problem("acme.lost", suite.id),))

    key = GroupKey("s", None, "with", "acme", None)

    def figures(_summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        return {key: (Figure(name="n", label="N", value=1.0),)}

    acme = format_of(
        claim=claim, load=load, dump=dump, figures=figures, has_headline=lambda suite: suite.dialect == "rated"
    )()
    assert acme.claim(Path("x")) == Claim("x")
    assert acme.load(request()).suites == (SUITE,)
    assert acme.dump(SUITE).losses[0].message == "s"
    assert acme.figures(SUMMARY)[key][0].value == 1.0
    assert isinstance(acme, FormatWithHeadlines)
    heads = [SUMMARY.suite.model_copy(update={"dialect": dialect}) for dialect in ("rated", "other")]
    assert [acme.has_headline(head) for head in heads] == [True, False]
    plain = format_of(claim=claim, load=load, dump=dump)()
    assert isinstance(plain, FormatWithHeadlines)
    assert not plain.has_headline(heads[0])


def test_all_texts_that_name_no_function_are_refused_at_once() -> None:
    """The author sees every malformed text as soon as the plugin announces itself."""
    with pytest.raises(ValueError, match="format_of") as caught:
        format_of(claim="acme.claiming", load="acme.loading:load", dump=":dump", figures="acme/figures.py:figures")
    assert str(caught.value) == (
        "format_of(claim='acme.claiming', dump=':dump', figures='acme/figures.py:figures'): "
        "name each function as 'module:name'"
    )


def test_a_claim_that_is_not_there_stops_the_format_from_being_made(package: str) -> None:
    """Such a format is reported once, and not for each path that it is shown."""
    with pytest.raises(ImportError) as caught:
        factory(package, claim=f"{package}.claiming:clam")()
    message = str(caught.value)
    assert message.startswith(f"'{package}.claiming:clam' names nothing that can be imported: ")
    assert message.endswith("has no attribute 'clam'; correct `claim` where the plugin calls format_of")


@pytest.mark.parametrize(
    ("part", "call"),
    [
        ("load", lambda acme: acme.load(request())),
        ("dump", lambda acme: acme.dump(SUITE)),
        ("figures", lambda acme: acme.figures(SUMMARY)),
    ],
)
def test_another_part_that_is_not_there_is_named_when_it_is_called(
    package: str, part: str, call: Callable[[SuiteFormat], object]
) -> None:
    """The error quotes the text and says which part to correct; the other parts work."""
    acme = factory(package, **{part: f"{package}.absent:{part}"})()
    assert acme.claim(Path("a.acme")) == Claim("acme")
    with pytest.raises(ImportError) as caught:
        call(acme)
    assert str(caught.value) == (
        f"'{package}.absent:{part}' names nothing that can be imported: No module named '{package}.absent'; "
        f"correct `{part}` where the plugin calls format_of"
    )


def test_a_part_that_is_no_function_is_refused(package: str) -> None:
    """A name of something else is told as what it is."""
    with pytest.raises(ImportError, match=r"claiming:limit' is int, not a function; correct `claim`"):
        factory(package, claim=f"{package}.claiming:limit")()
