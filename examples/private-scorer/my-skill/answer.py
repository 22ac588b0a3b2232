"""A skill: answers two questions, one of them with a word that is not to be used."""

import json
import sys

ANSWERS = {"access": "Use the login page.", "export": "Choose Export as JSON."}

request = json.load(sys.stdin)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": ANSWERS[request["params"]["about"]]}))
