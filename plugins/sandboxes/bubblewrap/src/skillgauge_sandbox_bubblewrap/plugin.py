"""Announces the sandbox; what it does is in `sandbox`."""

from collections.abc import Iterable

from skillgauge.api import Provider, Sandbox, hookimpl

from .options import BubblewrapOptions


def _make(options: BubblewrapOptions) -> Sandbox:
    from .sandbox import BubblewrapSandbox  # noqa: PLC0415 - announcing stays cheap

    return BubblewrapSandbox(options)


@hookimpl
def skillgauge_sandboxes() -> Iterable[Provider[Sandbox]]:
    """Announce `bubblewrap`."""
    yield Provider(
        name="bubblewrap",
        factory=_make,
        summary="Namespaces of their own for every process: files, processes and network are confined (Linux).",
        options=BubblewrapOptions,
    )
