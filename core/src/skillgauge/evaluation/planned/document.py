"""The document of a dry run."""

from __future__ import annotations

from skillgauge_documents.frozen import Frozen

from ...decide.at_best import AtBest, at_best
from ...decide.foresight import Foreseen, foresee
from ...plan.preparing import Prepared
from ...types.trial import PlanHead
from ..problem_documents import ProblemDocument, problem_documents
from .arms import PlannedArm, planned_arms
from .needs import AskedService, KeyNeed, asked_services, key_needs


class PlannedImage(Frozen):
    """An image that cases bring a Dockerfile for."""

    name: str
    file: str
    """The Dockerfile."""
    is_there: bool
    """Whether it has been built already; if not, a run builds it."""
    bases: tuple[str, ...]
    """Names of the images that it is built from."""
    fetched: tuple[str, ...]
    """Those of them that the build would fetch."""


class PlanDocument(Frozen):
    """The document of `eval --dry-run --json`."""

    schema_version: str = "1.4"
    dry_run: bool = True
    sandbox: str
    plan: PlanHead
    arms: tuple[PlannedArm, ...] = ()
    comparisons: tuple[Foreseen, ...] = ()
    """What each comparison of two arms can show at all."""
    at_best: tuple[AtBest, ...] = ()
    """What suites without a pass rate, as trigger sets are, can show if every session is right."""
    images: tuple[PlannedImage, ...] = ()
    """What a run builds, or has built, for cases that bring a Dockerfile."""
    keys: tuple[KeyNeed, ...] = ()
    services: tuple[AskedService, ...] = ()
    """What engines and judges would ask, and so where their keys go."""
    problems: tuple[ProblemDocument, ...] = ()


def plan_document(prepared: Prepared) -> dict[str, object]:
    """Return the plan as one JSON document."""
    document = PlanDocument(
        sandbox=prepared.sandbox,
        plan=prepared.plan.head,
        arms=planned_arms(prepared),
        comparisons=foresee(prepared),
        at_best=at_best(prepared),
        images=planned_images(prepared),
        keys=key_needs(prepared),
        services=asked_services(prepared),
        problems=problem_documents((*prepared.warnings, *prepared.suites.passed_over)),
    )
    return document.model_dump(mode="json")


def planned_images(prepared: Prepared) -> tuple[PlannedImage, ...]:
    """Every image that cases of the plan bring."""
    plans = (image.plan for image in prepared.cast.images)
    return tuple(
        PlannedImage(name=plan.name, file=plan.file, is_there=plan.is_there, bases=plan.bases, fetched=plan.fetched)
        for plan in plans
    )
