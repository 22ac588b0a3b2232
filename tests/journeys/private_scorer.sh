# A private scorer: from nothing to a check of any suite. docs/writing-a-plugin.md explains each step.
# Before it begins there is a skill in the folder `my-skill`.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge skillgauge-testkit
skillgauge plugins new scorers acme-brief --summary 'The answer has few words.'

# What a check can say.
cat > skillgauge-scorer-acme-brief/src/skillgauge_scorer_acme_brief/options.py <<'OPTIONS'
from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class AcmeBriefOptions(Frozen):
    """Options of `acme-brief`."""

    words: int = Field(default=100, description="Most words that an answer may have.", json_schema_extra=HARMLESS)
OPTIONS

# What it decides.
cat > skillgauge-scorer-acme-brief/src/skillgauge_scorer_acme_brief/scorer.py <<'SCORER'
from skillgauge.api import Score, ScoreContext

from .options import AcmeBriefOptions


class AcmeBriefScorer:
    """Passes an answer of few words."""

    version = "1"

    def __init__(self, options: AcmeBriefOptions) -> None:
        self._most = options.words

    async def score(self, context: ScoreContext) -> Score:
        answer = context.execution.text or context.execution.output
        count = len(str(answer).split())
        if count <= self._most:
            return Score.passed()
        return Score.failed(f"{count} words, but at most {self._most} are allowed")
SCORER

# Answers for the tests, and what they are worth.
cat > skillgauge-scorer-acme-brief/tests/examples.py <<'EXAMPLES'
OPTIONS = {"words": 2}
PASSING = "two words"
FAILING = "three words now"
CREDIT = 0.0
EXAMPLES

pip install -e './skillgauge-scorer-acme-brief[test]'
python -m pytest skillgauge-scorer-acme-brief
skillgauge eval my-skill --check 'acme-brief={"words": 5}'

# For everybody: a wheel to install, and a configuration that says where the check belongs.
pip wheel --no-deps --wheel-dir dist ./skillgauge-scorer-acme-brief
cat > skillgauge.config.yaml <<'CONFIGURATION'
checks:
  - scorer: acme-brief
    options: { words: 5 }
    tag: string
CONFIGURATION
skillgauge eval my-skill
