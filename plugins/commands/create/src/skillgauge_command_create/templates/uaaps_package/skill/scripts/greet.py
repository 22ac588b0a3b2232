"""Print a greeting as JSON. Exit 2: nobody is named."""

import json
import sys

if len(sys.argv) != 2:
    print("name somebody to greet", file=sys.stderr)
    sys.exit(2)
print(json.dumps({"greeting": f"Hello, {sys.argv[1]}!"}))
