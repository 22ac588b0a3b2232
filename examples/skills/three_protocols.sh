#!/usr/bin/env bash
# Evaluate one calculator, called as a process, over HTTP and over MCP, on a built-in benchmark, in a folder of its own.
set -euo pipefail
skills=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${BIN:-$skills/../../.venv/bin}
export PATH="$bin:$PATH" # the MCP server needs the package mcp, which is installed there

work=$(mktemp -d "${TMPDIR:-/tmp}/skillgauge-protocols.XXXXXX")
cd "$work"

# The service takes any free port and tells its address when it is ready; its skill gets that address.
cp -R "$skills/calculator-http" .
mkfifo ready
python -B calculator-http/server.py 0 >ready 2>server.log &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
if ! read -r _ _ address <ready; then
    echo "the HTTP server did not start:" >&2
    cat server.log >&2
    exit 3
fi
rm ready
printf '{"type": "http", "baseUrl": "%s"}\n' "$address" >calculator-http/adapter.config.json

code=0
skillgauge eval --skills "$skills/calculator" calculator-http "$skills/calculator-mcp" \
    --benchmark coding-easy --format json markdown html || code=$?
if [ -f reports/eval-result.md ]; then
    echo
    sed '/^### /,$d' reports/eval-result.md
    echo "Reports: $work/reports"
fi
exit "$code"
