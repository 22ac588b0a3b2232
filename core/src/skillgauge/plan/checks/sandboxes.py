"""Sandboxes that do not suit what is to run in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...contract.providers import Traits
from ...contract.sandboxes import Tier
from ...errors import Problem


def too_weak(name: str, tier: Tier, *, is_named: bool, untrusted: bool) -> Iterator[Problem]:
    """Yield a problem if a sandbox does not confine strictly what is not trusted.

    Args:
        name: of the sandbox.
        tier: how strongly it confines on this machine.
        is_named: whether the user named it; otherwise it is the best that works here.
        untrusted: whether what runs is not trusted.
    """
    if untrusted and tier is not Tier.STRICT:
        message = f"the {'' if is_named else 'best '}sandbox here, {name!r}, is of tier {tier}, not {Tier.STRICT}"
        hint = "Install bubblewrap and skillgauge-sandbox-bubblewrap, or do without --untrusted."
        yield Problem("sandbox.too-weak", message, hint=hint)


def engines_out_of_reach(engines: Mapping[str, Traits], sandbox: str, *, is_remote: bool) -> Iterator[Problem]:
    """Yield a problem for each engine that needs folders of this machine, if the sandbox is on another.

    Args:
        engines: what each engine announces, by its name.
        sandbox: name of the sandbox.
        is_remote: whether its processes run on another machine.
    """
    for engine, traits in engines.items():
        if is_remote and not traits.remote:
            message = (
                f"engine {engine!r} prepares its agent on this machine, and sandbox {sandbox!r} runs it on another"
            )
            hint = "Choose a sandbox on this machine with --sandbox, or use the engine `api`."
            yield Problem("sandbox.remote", message, hint=hint)
