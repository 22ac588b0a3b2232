"""What must be known of the agent before it starts."""

from __future__ import annotations

from skillgauge_agent_programs.options import ProgramOptions

KEY_VARIABLE = "ACME_API_KEY"
SKILL_FOLDER = ".acme/skills"


class AcmeOptions(ProgramOptions):
    """Options of `acme-agent`: those of every program."""
