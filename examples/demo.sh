#!/usr/bin/env bash
# What skillgauge is for, in a few seconds: does a skill help an agent, what does a failing case look like, where is the
# page. Sessions of an agent are played back and graded anew, so this needs no agent, no key and no network.
set -euo pipefail
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${BIN:-$examples/../.venv/bin}
export PATH="$bin:$PATH"

work=$(mktemp -d "${TMPDIR:-/tmp}/skillgauge-demo.XXXXXX")
cd "$work"
say() { printf '\n=== %s\n' "$@"; }

say "1. Does the skill 'release-notes' help an agent? 4 cases, 3 times with the skill and 3 times without it."
skillgauge eval "$examples/agent/release-notes/evals/evals.json" --replay "$examples/agent/recordings" --runs 3 --format html

say "2. Why does a case fail without the skill? Below 'Checks' stands what was wanted and what was found."
skillgauge report show latest --case removed-export --arm without_skill >case.txt
awk '/^==/ && ++runs == 2 { exit } { print }' case.txt # the first of three runs

say "3. Does a skill work that a program calls directly? 20 tasks of a built-in benchmark, no agent."
skillgauge eval --skills "$examples/skills/calculator" --benchmark coding-easy --format json

say "4. What to do next"
page=$work/reports/eval-result.html
cat <<NEXT
The page with every case, both arms side by side:   $page
  open it with:                                      ${BROWSER:-xdg-open} $page      (macOS: open)
What all of it was about:                            examples/agent/README.md
Try a skill of yours:                                docs/first-agent-eval.md
Remove what this made:                               rm -r $work
NEXT
