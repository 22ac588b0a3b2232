#!/usr/bin/env bash
# Evaluate the example skill on a built-in benchmark, in a folder of its own, and show the report.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/skillgauge-demo.XXXXXX")
cd "$work"
"$root/.venv/bin/skillgauge" eval --skills "$root/examples/skills/calculator/skill.json" \
    --benchmark coding-easy --runs 3 --format json markdown
echo
cat reports/eval-result.md
echo
echo "Reports: $work/reports"
