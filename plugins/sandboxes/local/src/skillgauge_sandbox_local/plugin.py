"""Announces the sandbox; what it does is in `sandbox`."""

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, Sandbox, hookimpl


def _make(_options: NoOptions) -> Sandbox:
    from .sandbox import LocalSandbox  # noqa: PLC0415 - announcing stays cheap

    return LocalSandbox()


@hookimpl
def skillgauge_sandboxes() -> Iterable[Provider[Sandbox]]:
    """Announce `local`."""
    yield Provider(name="local", factory=_make, summary="Folders of their own for every workspace; confines nothing.")
