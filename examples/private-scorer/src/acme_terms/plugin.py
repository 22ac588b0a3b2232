"""Announces the scorer; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, Traits, hookimpl

from .options import PASSWORD, TermsOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `acme-terms`, with the name of its secret: a plan says when it is missing, and no report holds it."""
    yield Provider(
        name="acme-terms",
        options=TermsOptions,
        factory="acme_terms.scorer:TermsScorer",
        summary="Answers use the words that our database of terms approves.",
        traits=Traits(secrets=(PASSWORD,)),
    )
