"""Images that suites bring: what would be built of which file, asked before anything is, and what was built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from skillgauge_documents.immutables import immutable

from ..contract.sandboxes import ImagePlan, ImageSandbox, Sandbox, SandboxSpec
from ..errors import SkillgaugeError
from ..types.suite import Case


@immutable
class BroughtImage:
    """The image of a case, as a sandbox would make it."""

    plan: ImagePlan
    spec: SandboxSpec
    sandbox: ImageSandbox

    @property
    def line(self) -> str:
        """For people who want to know what would happen."""
        image = self.plan
        if image.is_there:
            return f"image {image.name} is here, built from {image.file}"
        bases = (f"{name} (fetched)" if name in image.fetched else name for name in image.bases)
        return f"image {image.name} is built from {image.file}, of {', '.join(bases) or 'nothing'}"

    @property
    def removal(self) -> str:
        """For people, once it was built."""
        image = self.plan
        return f"built image {image.name} from {image.file}, kept for the next run; remove it with: {image.removal}"


async def plan_images(cases: Iterable[Case], sandbox: Sandbox, *, untrusted: bool) -> tuple[BroughtImage, ...]:
    """Ask a sandbox that runs images what it would make of those of some cases; empty if it does not tell.

    Args:
        cases: that bring an image each.
        sandbox: runs them.
        untrusted: whether they are a stranger's.
    """
    if not isinstance(sandbox, ImageSandbox):
        return ()
    images = []
    for case in cases:
        spec = SandboxSpec(label=case.id, image_files=case.image_files, network=False, untrusted=untrusted)
        images.append(BroughtImage(await sandbox.image(spec), spec, sandbox))
    return tuple(images)


async def built_since(images: Iterable[BroughtImage]) -> tuple[BroughtImage, ...]:
    """Return the images that were not there when they were planned, and are now."""
    built = []
    for image in images:
        if not image.plan.is_there:
            try:
                now = await image.sandbox.image(image.spec)
            except SkillgaugeError:
                continue  # the run is over, and its results are worth more than this line
            if now.is_there:
                built.append(replace(image, plan=now))
    return tuple(built)
