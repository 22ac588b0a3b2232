# The kernel with one format, one adapter and one scorer: the least that evaluates a skill. docs/minimal.md explains it.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge-format-eval-skills skillgauge-adapter-subprocess skillgauge-scorer-exact skillgauge-sandbox-local

mkdir my-skill
cat > my-skill/skill.json <<'SKILL'
{
  "id": "greeter",
  "name": "Greeter",
  "description": "Greets people by their names.",
  "version": "1.0.0",
  "adapterType": "subprocess",
  "entrypoint": "python3 greet.py"
}
SKILL
cat > my-skill/greet.py <<'PROGRAM'
import json, sys

request = json.load(sys.stdin)
answer = f"Hello, {request['params']['name']}."
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer}))
PROGRAM
cat > tasks.json <<'TASKS'
[
  {"id": "ann", "description": "Greet Ann.", "inputData": {"name": "Ann"}, "expectedOutput": {"value": "Hello, Ann."}},
  {"id": "bob", "description": "Greet Bob.", "inputData": {"name": "Bob"}, "expectedOutput": {"value": "Hello, Bob."}}
]
TASKS

skillgauge eval my-skill --tasks tasks.json
