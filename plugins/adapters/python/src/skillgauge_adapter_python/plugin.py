"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, NoOptions, Provider, hookimpl


def _make(_options: NoOptions) -> Adapter:
    from .adapter import python_adapter  # noqa: PLC0415 - announcing stays cheap

    return python_adapter()


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `python`; `custom` is a second entry point."""
    yield Provider(
        name="python",
        factory=_make,
        summary="Call a function of Python: module:function or file.py:function, in a process of its own.",
    )
