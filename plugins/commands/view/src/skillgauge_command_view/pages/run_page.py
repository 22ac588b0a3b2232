"""The page of a run: its answer, its groups, and its cases, arm beside arm."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

from skillgauge.api import DIRECT, CaseHead, SuiteHead, Verdict, plain
from skillgauge.api.report import (
    CaseOutcome,
    CaseReport,
    CaseSummary,
    GroupKey,
    GroupSummary,
    Opening,
    Outcome,
    Ranking,
