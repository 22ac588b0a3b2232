"""Announces the sandbox and the name of its secret; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Sandbox, Traits, hookimpl

from .options import TOKEN, CloudOptions


@hookimpl
def skillgauge_sandboxes() -> Iterable[Provider[Sandbox]]:
    """Announce `acme-cloud`. It costs money, so nobody gets it because it is installed: `--sandbox acme-cloud`."""
    yield Provider(
        name="acme-cloud",
        options=CloudOptions,
        factory="acme_cloud.sandbox:CloudSandbox",
        summary="Workspaces on machines of a cloud.",
        traits=Traits(secrets=(TOKEN,), only_by_name=True),
    )
