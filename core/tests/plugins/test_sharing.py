"""Blocks of options that plugins share: which fields can be one, and when two declarations are the same."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from skillgauge.api import Frozen, Problem, Provider, Shared
from skillgauge.plugins.kinds import Resolved
from skillgauge.plugins.sharing import SharedBlocks, blocks_of


class Prices(Frozen):
    """Of one plugin."""

    currency: str = "USD"


class SamePrices(Frozen):
    """Of another, with a name and docstring of its own."""

    currency: str = "USD"


class OtherDefault(Frozen):
    """Differs in a default."""

    currency: str = "EUR"


class First(Frozen):
    """Declares the block."""

    prices: Annotated[Prices, Shared("acme-prices")] = Prices()


class Second(Frozen):
    """Declares it alike, under an alias of the field."""

    costs: Annotated[SamePrices, Shared("acme-prices")] = Field(default=SamePrices(), alias="costList")


class Third(Frozen):
    """Declares it in another way."""

    prices: Annotated[OtherDefault, Shared("acme-prices")] = OtherDefault()


def declare(*models: type[BaseModel]) -> list[Problem | None]:
    """Return what is said of plugins with these models, loaded in this order."""
    shared = SharedBlocks()
    plugins = [
        Resolved("scorers", model.__name__, Provider(model.__name__, object, "", model), f"d-{index}", "1", "x")
        for index, model in enumerate(models)
    ]
    problems = [shared.declare(plugin) for plugin in plugins]
    assert shared.conflicts == [problem for problem in problems if problem]
    assert shared.names() == ("acme-prices",)
    return problems


def test_blocks_of_a_model() -> None:
    """A block goes into the option under which the user could set it for the plugin alone."""
    (block,) = blocks_of(Second)
    assert (block.full_name, block.option, block.model) == ("shared.acme-prices", "costList", SamePrices)
    assert blocks_of(Prices) == ()


def test_equal_declarations() -> None:
    """Names and docstrings of the models may differ."""
    assert declare(First, Second, First) == [None, None, None]


def test_different_declarations() -> None:
    """Whoever comes second is refused, with both distributions in the message."""
    first, second, third = declare(First, Third, Second)
    assert (first, third) == (None, None)
    assert second is not None
    assert "by scorer 'First' of d-0 1 and scorer 'Third' of d-1 1" in second.message


class NoModel(Frozen):
    """Has a block that is no model."""

    prices: Annotated[str, Shared("acme-prices")] = ""


class NoWord(Frozen):
    """Has a block whose name is not one word."""

    prices: Annotated[Prices, Shared("acme.prices")] = Prices()


@pytest.mark.parametrize(("model", "words"), [(NoModel, "must be a pydantic model"), (NoWord, "'acme.prices'")])
def test_what_cannot_be_a_block(model: type[BaseModel], words: str) -> None:
    """The plugin is at fault, and the message names its option."""
    with pytest.raises(TypeError, match=words) as caught:
        blocks_of(model)
    assert "its option 'prices'" in str(caught.value)


@pytest.mark.parametrize(
    ("own", "expected"),
    [(None, {"currency": "EUR"}), ({"token": 2}, {"currency": "EUR", "token": 2}), ("no block", "no block")],
    ids=["none", "another key", "no mapping"],
)
def test_own_values_go_first(own: object, expected: object) -> None:
    """What is no block at all is left to the check of the options."""
    (block,) = blocks_of(First)
    assert block.merged({"currency": "EUR"}, own) == expected
