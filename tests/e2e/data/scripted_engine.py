"""An agent and a judge for tests: the agent follows the skill of the example if it is there, else it guesses."""

import json
import re

from skillgauge.api import (
    Command,
    EventKind,
    Execution,
    Fact,
    FiredSkill,
    Identity,
    JudgeReply,
    Provider,
    Traits,
    Trajectory,
    TrajectoryEvent,
    Usage,
    hookimpl,
)

NOTES = {
    "HRB-17": "[QUAY] Mended: Sessions outlive a change of networks.\nTicket: HRB-17\n",
    "HRB-40": "[BUOY] New: A weekly e-mail lists all open invitations.\nTicket: HRB-40\n",
    "HRB-52": "[CRANE] Gone: Files are no longer exported as XML.\nTicket: HRB-52\nUpgrade: Export as JSON.\n",
}
SKILLS = ".agents/skills"


class Scripted:
    """Does what it does with a shell in the workspace, as an agent would."""

    async def check(self):
        """Nothing is wrong."""
        return ()

    def identity(self, model):
        """It is always the same."""
        return Identity(name="scripted", version="1", model=model)

    def routes(self, model):
        """It asks no model."""
        return ()

    async def run(self, request, workspace, emit):
        """Write the note, or something else."""
        seen = sorted(await workspace.snapshot())
        offered = tuple(path.split("/")[2] for path in seen if path.startswith(SKILLS) and path.endswith("SKILL.md"))
        ticket = re.search(r"HRB-\d+", request.prompt)
        wanted = ticket is not None and re.search(r"note|changelog", request.prompt) is not None
        fired = offered if wanted else ()
        for name in fired:
            emit(TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Skill", data={"skill": name}))
        if wanted and fired and ticket[0] in NOTES:
            await self._write(workspace, f"changes/{ticket[0]}.note", NOTES[ticket[0]])
        elif wanted:
            await self._write(workspace, "CHANGELOG.md", "- something\n")
        return Execution(
            text="14" if "fortnight" in request.prompt else f"Done. I saw: {' '.join(seen)}",
            duration_s=2.0 if fired else 1.0,
            usage=Usage(total_tokens=300 if fired else 100),
            trajectory=Trajectory(
                skills_offered=offered,
                skills_fired=tuple(FiredSkill(name=name, how="invoked") for name in fired),
                blocked=(),
            ),
        )

    async def _write(self, workspace, path, text):
        script = 'mkdir -p "$(dirname "$1")" && cat > "$1"'
        command = Command(argv=("sh", "-c", script, "sh", path), stdin=text.encode())
        await (await workspace.start(command)).wait()


@hookimpl
def skillgauge_engines():
    """Announce `scripted`."""
    yield Provider(
        name="scripted",
        factory=Scripted,
        summary="For tests.",
        traits=Traits(skill_folder=SKILLS, tells=frozenset(Fact)),
    )


class Lenient:
    """A judge that lets everything pass that was done."""

    async def check(self):
        """Nothing is wrong."""
        return ()

    def identity(self, model):
        """It is always the same."""
        return Identity(name="lenient", version="1")

    async def ask(self, request):
        """Every claim is true of an output that says that it is done; without the word nothing can be read."""
        marker = re.search(r"END <name> ([0-9a-f]{32})\.", request.system)[1]
        claims = request.user.partition("BEGIN CLAIMS")[2].partition("END CLAIMS")[0].splitlines()[1:]
        told = {"holds": True, "quote": "Done", "reason": "what it says"}
        answers = [{"number": number, **told} for number, _ in enumerate(claims, 1)]
        return JudgeReply(text=json.dumps({"marker": marker, "answers": answers}))


@hookimpl
def skillgauge_judges():
    """Announce `lenient`."""
    yield Provider(name="lenient", factory=Lenient, summary="For tests.")
