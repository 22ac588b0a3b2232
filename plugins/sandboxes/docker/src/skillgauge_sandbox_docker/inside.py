"""The scripts that run inside of a container: images need `sh`, `setsid`, `grep`, `sleep` and `cat`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from skillgauge.api import Command, LaunchError

MARK = "SKILLGAUGE_CONTAINER_PROCESS"
"""Variable that marks a command and whatever descends from it."""
ENVIRONMENT = "SKILLGAUGE_ENV"
"""Variable with the environment of a command, as assignments for a shell: lists of variables have no line breaks."""
ABSENT = 127
"""Exit code of a shell that does not find a program."""

STAY = 'echo "$1"; exec cat >/dev/null'
"""Lives as long as somebody holds the other end of its input, and so ends with whoever started it."""

END = f"""
signal=TERM looks=40
while test $looks -gt 0; do
    found=
    for place in $(grep -ls -- "{MARK}=.\\{{0,1\\}}$1" /proc/[0-9]*/environ); do
        pid=${{place#/proc/}}
        pid=${{pid%/environ}}
        test "$pid" = "$2" && continue
        found=yes
        kill -$signal "$pid" 2>/dev/null
    done
    test -n "$found" || exit 0
    signal=KILL looks=$((looks - 1))
    sleep "$3"
done
exit 1
"""
"""Ends every process with a mark but one: the mark, the process to spare, seconds between two looks."""

RUN = f"""
eval "${ENVIRONMENT}"
unset {ENVIRONMENT}
end=$1 token=$2 mark=$3 limits=$4
shift 4
if ! command -v "$1" >/dev/null; then
    echo "$token" >&2
    exit {ABSENT}
fi
exec 3<&0
(eval "$limits"; exec setsid "$@" <&3 3<&-) &
child=$!
exec 3<&- </dev/null
unset {MARK}
wait $child
code=$?
sh -c "$end" end "$mark" $$ 0 >/dev/null 2>&1
exit $code
"""
"""Runs a command and ends what it leaves behind: the text of `END`, what to say if there is no such program, the mark,
limits, and the command."""

PROBE = """
test "$(grep -c : /proc/net/dev)" = 1 || echo 'there is a network'
grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || echo 'processes have privileges'
grep -q '^NoNewPrivs:[[:space:]]*1' /proc/self/status || echo 'processes may gain privileges'
for place in / /usr /etc; do
    if (: >"$place/.skillgauge") 2>/dev/null; then rm -f "$place/.skillgauge"; echo "$place can be written to"; fi
done
test ! -e "$1" || echo 'files outside can be seen'
echo x >"$HOME/.skillgauge" && echo x >"$TMPDIR/.skillgauge" && rm "$HOME/.skillgauge" "$TMPDIR/.skillgauge"
"""
"""Says what does not hold; fails if the workspace cannot be written to. Gets a file that must not be there."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[ -~]*")
_BLOCK = 512


def assignments(env: Mapping[str, str]) -> str:
    """An environment as a line of assignments.

    Raises:
        LaunchError: a name is none that a shell can assign to.
    """
    return ";".join(_assignment(name, value) for name, value in env.items())


def limits_of(command: Command) -> str:
    """The limits of a command, as a line for a shell; one that the image's shell does not know is none."""
    lines = ["ulimit -c 0"]
    if command.cpu_s is not None:
        lines.append(f"ulimit -t {command.cpu_s}")
    if command.file_bytes is not None:
        lines.append(f"ulimit -f {max(1, command.file_bytes // _BLOCK)}")
    return "; ".join(f"{line} 2>/dev/null" for line in lines)


def _assignment(name: str, value: str) -> str:
    if not _NAME.fullmatch(name):
        raise LaunchError(f"environment variable {name!r} has a name that the shell of a container cannot pass on")
    if _PLAIN.fullmatch(value):
        quoted = value.replace("'", "'\\''")
        return f"export {name}='{quoted}'"
    # A sign at the end keeps the line breaks before it from being dropped.
    octal = "".join(f"\\{byte:03o}" for byte in value.encode("utf-8", "surrogateescape"))
    return f"{name}=$(printf '{octal}.');export {name}=\"${{{name}%.}}\""
