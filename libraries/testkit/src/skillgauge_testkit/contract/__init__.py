"""The contract kit: checks of a plugin against what its kind promises, for the plugin's own tests.

Each check is an ordinary function for an ordinary test, without fixtures and outside any event loop. It raises
`AssertionError` with a sentence that names the clause which is broken. It needs no test framework.

Example::

    from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

    def test_contract():
        check_light_import("acme_tone.plugin")
        check_plugin("acme_tone.plugin", "scorers", options={"tone": {"value": "formal"}})
        formal, rude = (score_context(text, {"value": "formal"}) for text in ("Dear Sir", "hey"))
        check_scorer(Maker(SCORERS, "acme_tone.plugin"), passing=[formal], failing=[rude])
"""

from .adapters import AdapterInputs, check_adapter
from .agents import EnginePrompts, check_engine, check_judge
from .announcing import Maker, check_light_import, check_plugin
from .executors.check import check_executor
from .executors.workers import Workers, with_options
from .formats import check_format
from .model_judges import JUDGE_KEY, JUDGE_QUESTION, ask_judge, check_model_judge, surroundings_of
from .mutants import check_mutants
from .redirects import check_redirects
from .reporters import check_reporter
from .sandboxes.check import check_sandbox
from .scorers import check_scorer, score_context
from .stores.check import check_store
from .views import contract_views

__all__ = [
    "JUDGE_KEY",
    "JUDGE_QUESTION",
    "AdapterInputs",
    "EnginePrompts",
    "Maker",
    "Workers",
    "ask_judge",
    "check_adapter",
    "check_engine",
    "check_executor",
    "check_format",
    "check_judge",
    "check_light_import",
    "check_model_judge",
    "check_mutants",
    "check_plugin",
    "check_redirects",
    "check_reporter",
    "check_sandbox",
    "check_scorer",
    "check_store",
    "contract_views",
    "score_context",
    "surroundings_of",
    "with_options",
]
