"""An agent for the goldens of skillevaluation: it plays what `script.json` in the working directory says."""

import json
from collections import Counter
from pathlib import Path

from skillgauge.api import (
    Execution,
    Fact,
    Failure,
    FailureClass,
    Identity,
    Provider,
    Traits,
    Trajectory,
    TrajectoryEvent,
    Usage,
    hookimpl,
)


class Golden:
    """Plays sessions, for each case and arm those of its list in their order."""

    def __init__(self):
        """Read the script."""
        path = Path("script.json")
        self._script = json.loads(path.read_text()) if path.exists() else {}
        self._played = Counter()

    async def check(self):
        """Nothing is wrong."""
        return ()

    def identity(self, model):
        """It is always the same."""
        return Identity(name="golden", version="1", model=model)

    def routes(self, model):
        """It asks no model."""
        return ()

    async def run(self, request, workspace, emit):
        """Play the next session of the case in this arm."""
        arm = "with_skill" if request.skills else "without_skill"
        sessions = self._script[request.case_id][arm]
        session = sessions[self._played[request.case_id, arm]]
        self._played[request.case_id, arm] += 1
        events = tuple(TrajectoryEvent(**event) for event in session.get("events", ()))
        skills = tuple(skill.ref.name for skill in request.skills)
        failed = session.get("failed", False)
        return Execution(
            text=session.get("text"),
            duration_s=session.get("duration_ms", 0) / 1000,
            usage=Usage(total_tokens=session.get("total_tokens", 0)),
            trajectory=Trajectory(events=events, turns=session.get("turns", 0), skills_offered=skills),
            failure=Failure.of_agent(FailureClass.INTERNAL, "the script says so") if failed else None,
        )


@hookimpl
def skillgauge_engines():
    """Announce the agent."""
    yield Provider(
        name="golden",
        factory=Golden,
        summary="Plays the goldens.",
        traits=Traits(skill_folder=".agents/skills", tells=frozenset(Fact)),
    )
