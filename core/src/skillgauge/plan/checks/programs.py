"""Programs of engines that do not start in the image of a case; this question is asked by starting them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...contract.providers import Traits
from ...contract.sandboxes import Command, NoRoomError, Sandbox, SandboxSpec
from ...errors import LaunchError, Problem
from ...types.suite import Case

_PATIENCE_S = 60.0


async def unfit_programs(
    cases: Iterable[Case], engines: Mapping[str, Traits], sandbox: Sandbox, *, untrusted: bool
) -> list[Problem]:
    """Return a problem for each case and each engine whose program does not start in the image of the case.

    Args:
        cases: that bring an image each.
        engines: what each engine announces, by its name.
        sandbox: runs the images.
        untrusted: whether the cases are not trusted.
    """
    problems = []
    for case in cases:
        for engine, traits in engines.items():
            if not traits.program:
                continue
            if reason := await _failure(case, traits, sandbox, untrusted=untrusted):
                message = f"the program of engine {engine!r} does not start in the image of case {case.id!r}: {reason}"
                hint = "Add what it needs to the Dockerfile, or use another engine."
                problems.append(Problem("engine.not-in-image", message, origin=case.origin, hint=hint))
    return problems


async def _failure(case: Case, traits: Traits, sandbox: Sandbox, *, untrusted: bool) -> str:
    """Return why a program does not start; empty if it does."""
    spec = SandboxSpec(
        label=case.id,
        program_files=traits.program_files,
        network=False,
        image_files=case.image_files,
        untrusted=untrusted,
    )
    try:
        async with sandbox.open(spec) as workspace:
            process = await workspace.start(Command(argv=traits.program, timeout_s=_PATIENCE_S))
            finished = await process.wait()
    except (LaunchError, NoRoomError) as error:
        return str(error)
    if finished.exit_code == 0:
        return ""
    return finished.stderr.decode("utf-8", "replace").strip() or "it fails"
