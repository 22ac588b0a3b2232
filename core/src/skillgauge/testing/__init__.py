"""For authors of plugins: fakes to test against, and a contract kit that checks a plugin against its kind.

No test framework is needed. `skillgauge.testing.contract` shows how a test looks.
"""

from ..registry import ADAPTERS, ENGINES, EXECUTORS, FORMATS, JUDGES, REPORTERS, SANDBOXES, SCORERS, STORES
from .contract import (
    Maker,
    check_adapter,
    check_engine,
    check_format,
    check_judge,
    check_light_import,
    check_plugin,
    check_reporter,
    check_sandbox,
    check_scorer,
    check_store,
    contract_views,
    score_context,
)
from .fakes import FakeAdapter, FakeEngine, FakeSandbox, FakeScorer, FakeWorkspace
from .model_server import ModelFault, ModelReply, ModelRequest, ModelServer
from .temporary import TemporarySandbox

__all__ = [
    "ADAPTERS",
    "ENGINES",
    "EXECUTORS",
    "FORMATS",
    "JUDGES",
    "REPORTERS",
    "SANDBOXES",
    "SCORERS",
    "STORES",
    "FakeAdapter",
    "FakeEngine",
    "FakeSandbox",
    "FakeScorer",
    "FakeWorkspace",
    "Maker",
    "ModelFault",
    "ModelReply",
    "ModelRequest",
    "ModelServer",
    "TemporarySandbox",
    "check_adapter",
    "check_engine",
    "check_format",
    "check_judge",
    "check_light_import",
    "check_plugin",
    "check_reporter",
    "check_sandbox",
    "check_scorer",
    "check_store",
    "contract_views",
    "score_context",
]
