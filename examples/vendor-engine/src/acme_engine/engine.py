"""How the program is started, and what its lines mean."""

from __future__ import annotations

from skillgauge.api import JsonObject, RunRequest, Usage, Workspace
from skillgauge_agent_programs.engine import Access, Launch, ProgramEngine, Service
from skillgauge_agent_programs.programs import AgentProgram
from skillgauge_agent_programs.transcripts import SessionTranscript

from .options import KEY_VARIABLE


class AcmeEngine(ProgramEngine):
    """Runs `acme-agent run` once per session."""

    name = "acme-agent"
    distribution = "acme-skillgauge-engine"
    program = AgentProgram("acme-agent", install="pip install acme-agent", tested=("1.4.0",))
    api = Service("acme", "https://api.acme.example/v1", (KEY_VARIABLE,))

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """The prompt comes on stdin; the address is the API's, or a relay's where a sandbox has no network."""
        model = self.model(request.model) or "acme-small"
        return Launch(("run", "--api", access.address, "--model", model), stdin=request.prompt.encode())

    def transcript(self, request: RunRequest) -> SessionTranscript:
        """What reads the program's lines."""
        return AcmeTranscript()


class AcmeTranscript(SessionTranscript):
    """Facts and no judgement: what a line does not tell stays unknown."""

    def take(self, record: JsonObject) -> None:
        """One line."""
        match record:
            case {"event": "session", "model": str(model), "skills": [*names]}:
                self.model = model
                self.offers(names)
            case {"event": "skill_loaded", "skill": str(name)}:
                self.fires(name)
            case {"event": "message", "text": str(text)}:
                self.says(text)
            case {"event": "tokens", "input": int(read), "output": int(written)}:
                self.usage = Usage(input_tokens=read, output_tokens=written)
            case {"event": "error", "status": int() | None as status, "message": str(text)}:
                self.fails(text, status=status)
            case {"event": "finished", "answer": str(answer)}:
                self.ends(answer)
