"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, Provider, hookimpl


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `python`; `custom` is a second entry point."""
    yield Provider(
        name="python",
        factory="skillgauge_adapter_python.adapter:python_adapter",
        summary="Call a function of Python: module:function or file.py:function, in a process of its own.",
    )
