"""Environment variables that say where a plugin asks, as the registry takes them for options."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from skillgauge.contract.providers import Provider, Traits, hookimpl
from skillgauge.contract.redirects import Redirect, redirected, variable_of
from skillgauge.errors import PluginError
from skillgauge.plugins.index import PluginIndex
from skillgauge.plugins.registry import Registry
from skillgauge_documents.frozen import EMPTY, Frozen

REDIRECTS = (Redirect(variable="ACME_URL"), Redirect(variable="ACME_OLD_URL"), Redirect(variable="OTHER", option="o"))


class Options(Frozen):
    """Options with an address."""

    base_url: str | None = None
    count: int = 0
    o: int = 0


def registry(environment: dict[str, str], **set_: Any) -> Registry:
    """A registry with one judge, `acme`, and what the configuration sets of it."""
    module = ModuleType("acme")

    @hookimpl
    def skillgauge_judges() -> list[Provider[Any]]:
        return [Provider("acme", lambda options: options, "s", options=Options, traits=Traits(redirects=REDIRECTS))]

    module.skillgauge_judges = skillgauge_judges  # type: ignore[attr-defined]  # a plugin is a module
    made = Registry(
        PluginIndex(), options=lambda name, _model: set_ if name == "judges.acme" else EMPTY, look_up=environment.get
    )
    made.adopt(module)
    return made


@pytest.mark.parametrize(
    ("environment", "set_", "address"),
    [
        ({}, {}, None),
        ({"ACME_URL": " http://a \n"}, {}, "http://a"),
        ({"ACME_URL": "", "ACME_OLD_URL": "http://old"}, {}, "http://old"),
        ({"ACME_URL": "http://a", "ACME_OLD_URL": "http://old"}, {}, "http://a"),
        ({"ACME_URL": "http://a"}, {"base_url": "http://b"}, "http://b"),
        ({"ACME_URL": "http://a"}, {"base_url": None}, None),
    ],
)
def test_what_is_set_goes_before_the_variable(
    environment: dict[str, str], set_: dict[str, Any], address: str | None
) -> None:
    """The first variable that is set counts where the option is not set, not even to nothing."""
    made = registry(environment, **set_)
    options = made.validated_options(made.resolve("judges", "acme"))
    assert isinstance(options, Options)
    assert options.base_url == address


def test_all_problems_at_once_each_with_its_cause() -> None:
    """A fault of a variable names it, beside the faults of options."""
    made = registry({"OTHER": "none"}, count="none")
    with pytest.raises(PluginError) as raised:
        made.validated_options(made.resolve("judges", "acme"))
    problems = raised.value.problems
    assert [one.code for one in problems] == ["plugin.options", "plugin.redirect"]
    assert "environment variable OTHER, which says where judges.acme asks" in problems[1].message
    assert "--set judges.acme.o=URL" in (problems[1].hint or "")


def test_which_variable_says_an_address() -> None:
    """The variable is found by what it says; one that says something else, or nothing, is not named."""
    look_up = {"ACME_URL": "http://a/", "ACME_OLD_URL": ""}.get
    assert redirected(REDIRECTS, {}, look_up) == {"base_url": ("ACME_URL", "http://a/")}
    assert variable_of(REDIRECTS, "http://a", look_up) == "ACME_URL"
    assert variable_of(REDIRECTS, "http://b", look_up) is None
