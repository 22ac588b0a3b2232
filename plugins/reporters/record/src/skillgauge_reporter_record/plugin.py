"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable, Mapping

from skillgauge.api import JsonObject, NoOptions, Provider, Reporter, hookimpl


def _make(_options: NoOptions) -> Reporter:
    from .reporter import RecordReporter  # noqa: PLC0415 - announcing stays cheap

    return RecordReporter()


def _schemas() -> Mapping[str, JsonObject]:
    from .reporter import RunRecord  # noqa: PLC0415 - announcing stays cheap

    return {"record": RunRecord.model_json_schema()}


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `record`."""
    yield Provider(
        name="record",
        factory=_make,
        summary="Everything about a run, as one JSON document.",
        schemas=_schemas,
    )
