"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, NoOptions, Provider, hookimpl


def _make(_options: NoOptions) -> Adapter:
    from .adapter import langchain_adapter  # noqa: PLC0415 - announcing stays cheap

    return langchain_adapter()


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `langchain`."""
    yield Provider(
        name="langchain",
        factory=_make,
        summary="Invoke a runnable of LangChain: module:runnable or file.py:runnable, in a process of its own.",
    )
