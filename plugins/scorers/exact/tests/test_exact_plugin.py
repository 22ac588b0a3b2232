"""What the distribution announces."""

from __future__ import annotations

import subprocess
import sys

from skillgauge_scorer_exact import plugin
from skillgauge_scorer_exact.options import ExactOptions


def test_scorer_is_announced() -> None:
    """One scorer with its options and a factory that works."""
    (provider,) = plugin.skillgauge_scorers()
    assert (provider.name, provider.options) == ("exact", ExactOptions)
    options = ExactOptions.model_validate({"value": 1})
    assert provider.make(options).version == "2"


def test_announcing_is_cheap() -> None:
    """Importing the hook module does not load the scorer."""
    package = "skillgauge_scorer_exact"
    code = f"import sys, {package}.plugin; print(*(name for name in sys.modules if name.startswith('{package}.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {f"{package}.plugin", f"{package}.options"}
