"""The contract of environment variables that say where an engine or a judge asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from skillgauge.api import Engine, Judge, Provider

from .clauses import called, require, shown

ADDRESS = "http://127.0.0.1:9/v1"
"""Stands in the option of each variable; nothing is sent there."""


def check_redirects(provider: Provider[Engine] | Provider[Judge], models: Mapping[str, str] | None = None) -> None:
    """Check that each variable which a plugin declares as a redirect decides what it asks.

    Example::

        def test_redirects():
            (provider,) = plugin.skillgauge_engines()
            check_redirects(provider)

    Args:
        provider: of the engine or the judge, with one redirect at least.
        models: the model to ask for, by variable, where an address is that of some models only.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    redirects = provider.traits.redirects
    require(redirects, f"{provider.name} must declare a redirect")
    for redirect in redirects:
        fields = provider.options.model_fields
        clause = (
            f"the redirect {redirect.variable} must name an option; {redirect.option!r} is none of {sorted(fields)}"
        )
        require(redirect.option in fields, clause)
        options = provider.options.model_validate({redirect.option: ADDRESS})
        plugin_object = cast("Engine | Judge", called(f"making {provider.name}", provider.make, options))
        service = called("identity", plugin_object.identity, (models or {}).get(redirect.variable)).service
        clause = f"identity().service must be what {redirect.option} says, {ADDRESS!r}; it is {shown(service)}"
        require(service == ADDRESS, clause)
        for wrong in ("nowhere", "https://user:word@gateway.example.org"):
            require(_refuses(provider, redirect.option, wrong), f"the option {redirect.option} must refuse {wrong!r}")


def _refuses(provider: Provider[Engine] | Provider[Judge], option: str, address: str) -> bool:
    try:
        provider.options.model_validate({option: address})
    except ValueError:  # as pydantic's own error is one
        return True
    return False
