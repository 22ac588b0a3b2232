"""What the distribution announces."""

from __future__ import annotations

import subprocess
import sys

from skillgauge_scorer_regex import plugin
from skillgauge_scorer_regex.options import RegexOptions


def test_scorer_is_announced() -> None:
    """One scorer with its options and a factory that works."""
    (provider,) = plugin.skillgauge_scorers()
    assert (provider.name, provider.options) == ("regex", RegexOptions)
    options = RegexOptions.model_validate({"patterns": ["a"]})
    assert provider.make(options).version == "2"


def test_announcing_is_cheap() -> None:
    """Importing the hook module loads neither the scorer nor the library behind it."""
    package = "skillgauge_scorer_regex"
    code = f"import sys, {package}.plugin; print(*(name for name in sys.modules if name.startswith('{package}.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {f"{package}.plugin", f"{package}.options"}
