"""Announces the adapter; what it does is in `adapter`."""

from collections.abc import Iterable

from skillgauge.api import Adapter, Provider, hookimpl


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `langchain`."""
    yield Provider(
        name="langchain",
        factory="skillgauge_adapter_langchain.adapter:langchain_adapter",
        summary="Invoke a runnable of LangChain: module:runnable or file.py:runnable, in a process of its own.",
    )
