# An engine of a vendor: from an agent program to figures about a skill. docs/writing-an-engine.md explains each step.
# Before it begins there are the program `acme-agent`, its key in ACME_API_KEY, and a skill with evals in `release-notes`.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge skillgauge-testkit
skillgauge plugins new engines acme-agent --summary 'The Acme agent.'

# What must be known of the agent before it starts.
cat > skillgauge-engine-acme-agent/src/skillgauge_engine_acme_agent/options.py <<'OPTIONS'
from skillgauge_agent_programs.options import ProgramOptions

KEY_VARIABLE = "ACME_API_KEY"
SKILL_FOLDER = ".acme/skills"


class AcmeAgentOptions(ProgramOptions):
    """Options of `acme-agent`."""
OPTIONS

# How it is started, and what its lines mean.
cat > skillgauge-engine-acme-agent/src/skillgauge_engine_acme_agent/engine.py <<'ENGINE'
from skillgauge.api import JsonObject, RunRequest, Usage, Workspace
from skillgauge_agent_programs.engine import Access, Launch, ProgramEngine, Service
from skillgauge_agent_programs.programs import AgentProgram
from skillgauge_agent_programs.transcripts import SessionTranscript

from .options import KEY_VARIABLE


class AcmeAgentEngine(ProgramEngine):
    """Runs `acme-agent run` once per session."""

    name = "acme-agent"
    distribution = "skillgauge-engine-acme-agent"
    program = AgentProgram("acme-agent", install="pip install acme-agent", tested=("1.4.0",))
    api = Service("acme", "https://api.acme.example/v1", (KEY_VARIABLE,))

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        model = self.model(request.model) or "acme-small"
        arguments = ("run", "--api", access.address, "--model", model)
        return Launch(arguments, stdin=request.prompt.encode())

    def transcript(self, request: RunRequest) -> SessionTranscript:
        return AcmeTranscript()


class AcmeTranscript(SessionTranscript):
    """Reads the lines that `acme-agent run` writes."""

    def take(self, record: JsonObject) -> None:
        match record:
            case {"event": "session", "model": str(model), "skills": [*names]}:
                self.model = model
                self.offers(names)
            case {"event": "skill_loaded", "skill": str(name)}:
                self.fires(name)
            case {"event": "message", "text": str(text)}:
                self.says(text)
            case {"event": "tool", "id": str(call), "tool": str(tool), "arguments": arguments}:
                self.calls(tool, call, arguments)
            case {"event": "tool_output", "id": str(call), "output": str(text), "ok": bool(ok)}:
                self.returns(call, text, is_error=not ok)
            case {"event": "tokens", "input": int(read), "output": int(written)}:
                self.usage = Usage(input_tokens=read, output_tokens=written)
            case {"event": "error", "status": int() | None as status, "message": str(text)}:
                self.fails(text, status=status)
            case {"event": "finished", "answer": str(answer)}:
                self.ends(answer)
ENGINE

# The program that the tests start.
cat > skillgauge-engine-acme-agent/tests/examples.py <<'EXAMPLES'
PROGRAM = "acme-agent"
API_PATH = "/v1"
EXAMPLES

pip install -e './skillgauge-engine-acme-agent[test]'
python -m pytest skillgauge-engine-acme-agent
pip wheel --no-deps --wheel-dir dist ./skillgauge-engine-acme-agent

# What a user of the agent does: the wheel, in an environment of its own.
python3 -m venv elsewhere
elsewhere/bin/pip install --find-links dist skillgauge skillgauge-engine-acme-agent
elsewhere/bin/skillgauge eval release-notes --engine acme-agent --model acme-large
