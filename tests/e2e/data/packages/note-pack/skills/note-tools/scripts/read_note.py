"""Print the text of a note; its first line says that it is one."""

import sys
from pathlib import Path

head, *text = Path(sys.argv[1]).read_text().splitlines()
if head != "%NOTE":
    sys.exit(f"{sys.argv[1]} is no note")
print("\n".join(text))
