"""Images that cases bring and the sandbox does not run, or would not build."""

from __future__ import annotations

import pytest

from skillgauge.contract.sandboxes import ImagePlan
from skillgauge.errors import Origin, Problem, Severity
from skillgauge.plan.checks.images import image_problems
from skillgauge.types.suite import Case

REFUSED = Problem("docker.build", "it asks for the host's network")
NOTICE = Problem("docker.fetch", "it fetches a base", severity=Severity.WARNING)
FINE = ImagePlan("image-a", "a/Dockerfile", is_there=True)
BAD = ImagePlan("image-b", "b/Dockerfile", is_there=False, problems=(REFUSED, NOTICE))
A, B = Case(id="a", origin=Origin("a.yaml")), Case(id="b", origin=Origin("b.yaml"))
NONE_RUN = "case {!r} brings a Dockerfile for its image, and sandbox 'box' runs none"
UNKNOWN = "sandbox 'box' does not tell what it would build of the Dockerfile of case {!r}"


@pytest.mark.parametrize(
    ("cases", "planned", "runs_images", "untrusted", "expected"),
    [
        ([], [], False, True, []),
        ([A, B], [], False, False, [("sandbox.image", NONE_RUN)] * 2),
        ([A, B], [], False, True, [("sandbox.image", NONE_RUN)] * 2),
        ([A, B], [], True, False, []),
        ([A, B], [], True, True, [("sandbox.untrusted-image", UNKNOWN)] * 2),
        ([A], [FINE], True, True, []),
        ([], [], True, True, []),
    ],
    ids=["no case", "none run", "untrusted, none run", "not reported", "untrusted, not reported", "fine", "no image"],
)
def test_image_problems(
    cases: list[Case],
    planned: list[ImagePlan],
    runs_images: bool,
    untrusted: bool,
    expected: list[tuple[str, str]],
) -> None:
    """Each case whose image cannot be run, or is not known before it is built, is a problem at its place."""
    problems = list(image_problems(cases, planned, "box", runs_images=runs_images, untrusted=untrusted))
    assert [(problem.code, problem.message, problem.origin) for problem in problems] == [
        (code, message.format(case.id), case.origin) for case, (code, message) in zip(cases, expected, strict=False)
    ]


@pytest.mark.parametrize("untrusted", [False, True])
def test_problems_of_the_sandbox_are_passed_on(untrusted: bool) -> None:
    """A sandbox's own word on an image is reported as it is."""
    problems = image_problems([A, B], [FINE, BAD], "box", runs_images=True, untrusted=untrusted)
    assert list(problems) == [REFUSED, NOTICE]
