"""Blocks of options that several plugins share, so that a user sets each value once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgauge_documents.immutables import immutable

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler

SHARED = "shared"
"""What stands for a kind of plugins in the name of a shared option: `shared.<block>.<key>`."""


@immutable
class Shared:
    """Marks a field of an options model as a block of options that other plugins declare, too.

    The field's type is a model of its own, and its values are set once for all of these plugins: with
    `--set shared.acme-prices.currency=EUR`, or below `plugins.shared.acme-prices` in the configuration. Each of the
    plugins brings its own copy of the model; the JSON Schemas of the copies must be equal.

    Example::

        class AcmeOptions(Frozen):
            prices: Annotated[Prices, Shared("acme-prices")] = Prices()
    """

    block: str
    """Its name, one word for all plugins that share it; begin it with your own name."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Say in the schema of the options how the block is set, for `plugins info`."""
        return {**handler(core_schema), "setWith": f"--set {SHARED}.{self.block}.KEY=VALUE"}
