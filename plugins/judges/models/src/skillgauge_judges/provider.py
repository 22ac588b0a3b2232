"""The announcement of a vendor's judge, which differs between vendors in a few values."""

from __future__ import annotations

from skillgauge.api import Fact, Judge, Provider, Redirect, Traits
from skillgauge_model_client.options import ModelOptions, told_by

from .vendors import Vendor


def judge_provider(vendor: Vendor, options: type[ModelOptions], *, factory: str, summary: str) -> Provider[Judge]:
    """Announce the judge of a vendor; it is imported when it is made."""
    traits = Traits(
        secrets=vendor.key_variables,
        model_hosts=(vendor.host,),
        redirects=(Redirect(variable=vendor.address_variable),),
        model_patterns=vendor.model_patterns,
        paid=True,
        tells=frozenset({Fact.USAGE}),
    )
    return Provider(
        name=vendor.name,
        options=options,
        factory=factory,
        summary=summary,
        traits=traits,
        traits_with=lambda chosen: told_by(chosen, traits),
    )
