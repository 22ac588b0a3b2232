"""Images that cases bring and the sandbox does not run, or would not build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...contract.sandboxes import ImagePlan
from ...errors import Problem
from ...types.suite import Case


def image_problems(
    cases: Sequence[Case], planned: Sequence[ImagePlan], sandbox: str, *, runs_images: bool, untrusted: bool
) -> Iterator[Problem]:
    """Yield what speaks against the images of some cases.

    Args:
        cases: that bring an image each.
        planned: what the sandbox would build; empty if it does not report that.
        sandbox: its name.
        runs_images: whether it runs images at all.
        untrusted: whether the cases are not trusted, so that nothing unknown is built for them.
    """
    if not runs_images:
        for case in cases:
            message = f"case {case.id!r} brings a Dockerfile for its image, and sandbox {sandbox!r} runs none"
            hint = "Choose one that runs images with --sandbox; `skillgauge validate` says how to do without."
            yield Problem("sandbox.image", message, origin=case.origin, hint=hint)
    elif untrusted and len(planned) < len(cases):
        for case in cases:
            message = f"sandbox {sandbox!r} does not tell what it would build of the Dockerfile of case {case.id!r}"
            hint = "Choose another sandbox with --sandbox, or do without --untrusted."
            yield Problem("sandbox.untrusted-image", message, origin=case.origin, hint=hint)
    else:
        for image in planned:
            yield from image.problems
