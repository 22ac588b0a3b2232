"""A skill that says what it was told."""

import json
import sys

request = json.load(sys.stdin)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["say"]}))
