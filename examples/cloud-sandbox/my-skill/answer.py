"""A skill: answers questions about a shop."""

import json
import sys

ANSWERS = {"open": "We open at nine.", "where": "Harbour Street 4", "cost": "It costs 12,50."}

request = json.load(sys.stdin)
question = request["params"]["question"].lower()
answer = next((ANSWERS[word] for word in ANSWERS if word in question), "I do not know.")
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer}))
