"""The options of the executor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from skillgauge.api import HARMLESS, Frozen


class DaskOptions(Frozen):
    """Options of `dask`."""

    address: str | None = Field(
        default=None,
        pattern=r"^[a-z]+://\S+$",
        description="Address of a scheduler, such as tls://10.0.0.5:8786; default: a cluster in this process.",
    )
    scheduler_file: Path | None = Field(
        default=None,
        description="The file that `dask scheduler --scheduler-file` writes, in place of an address.",
    )
    tls_ca: Path | None = Field(
        default=None, description="PEM file of the authority that signed the cluster's certificates."
    )
    tls_cert: Path | None = Field(default=None, description="PEM file of the certificate of this client.")
    tls_key: Path | None = Field(default=None, description="PEM file of the key of that certificate.")
    workers: int | None = Field(
        default=None,
        ge=1,
        description="Workers of the cluster in this process, never more than --concurrency; default: processors.",
        json_schema_extra=HARMLESS,
    )
    places: int | None = Field(
        default=None,
        ge=1,
        description="Attempts at once on each worker; default: as many as the worker has threads.",
        json_schema_extra=HARMLESS,
    )
    resources: Mapping[str, float] = Field(
        default_factory=dict,
        description="What each attempt takes of what workers announce (`--resource` of `skillgauge worker`).",
        json_schema_extra=HARMLESS,
    )
    engine_resources: Mapping[str, Mapping[str, float]] = Field(
        default_factory=dict,
        description="The same for attempts of an engine, by its name; it is added to `resources`.",
        json_schema_extra=HARMLESS,
    )
    folder: str | None = Field(
        default=None,
        description="Folder on workers where the files of the run are; without it they travel to each worker.",
    )
    wait_s: float = Field(
        default=300.0,
        gt=0,
        description="Seconds to wait for a worker while none can make an attempt; then the run ends.",
        json_schema_extra=HARMLESS,
    )

    @property
    def outlives(self) -> bool:
        """True if the cluster outlives this process."""
        return bool(self.address or self.scheduler_file)

    @property
    def travels(self) -> bool:
        """True if the files of the run travel: not where they are, and not in a cluster in this process."""
        return self.folder is None and self.outlives

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.address and self.scheduler_file:
            raise ValueError("give either address or scheduler_file")
        if self.workers and (self.address or self.scheduler_file):
            raise ValueError("workers is for a cluster in this process; that of a scheduler has its own workers")
        if len({self.tls_ca is None, self.tls_cert is None, self.tls_key is None}) > 1:
            raise ValueError("tls_ca, tls_cert and tls_key belong together")
        return self
