"""Let nobody stop who has work left."""

import json

from events import EVENT

if left := EVENT.get("openTasks"):
    print(json.dumps({"decision": "block", "reason": f"{left} left"}))
