# From a skill with evals to a build that turns red when it gets worse. docs/first-ci-gate.md explains each step.
# It goes on in the folder of first_agent_eval.sh.

. .venv/bin/activate
skillgauge eval commit-message --engine mock --set engines.mock.script=mock.yaml --runs 3 --record recordings

# What the build runs: recorded sessions, graded again. `!`: it is to fail.
! skillgauge eval commit-message --replay recordings --runs 3 --exit-on-fail --min-completion 0.9

# The same agent with a better skill: the example is what was missing.
cat > commit-message/SKILL.md <<'SKILL'
---
name: commit-message
description: Writes commit messages by the rules of this house. Use it whenever a commit message is wanted.
---

One line: the area in lower case, a colon, what changes in the imperative, and the ticket in round brackets at the end.
At most 60 characters. Areas are `api`, `web` and `docs`. The word after the colon is in lower case, too:

    docs: correct a typo in the installation guide (77)
SKILL
cat > mock.yaml <<'SCRIPT'
replies:
  - { match: "Ticket 212", skill: commit-message, fires: [commit-message], text: "api: let users without a name log in (212)" }
  - { match: "Ticket 340", skill: commit-message, fires: [commit-message], text: "web: add a dark mode (340)" }
  - { match: "Ticket 77", skill: commit-message, fires: [commit-message], text: "docs: correct a typo (77)" }
  - { match: "stash", text: "git stash puts changes aside." }
  - { match: "Ticket", text: "Fix the problem described in the ticket" }
SCRIPT

# Another skill: what was recorded with the old one proves nothing about it.
! skillgauge eval commit-message --replay recordings --runs 3 --exit-on-fail --min-completion 0.9
rm -r recordings
skillgauge eval commit-message --engine mock --set engines.mock.script=mock.yaml --runs 3 --record recordings
skillgauge eval commit-message --replay recordings --runs 3 --exit-on-fail --min-completion 0.9

# The job that does it on every push.
mkdir -p .github/workflows
cat > .github/workflows/evals.yml <<'WORKFLOW'
name: evals
on: [push, pull_request]
jobs:
  evals:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: { python-version: "3.12" }
      - run: pip install skillgauge
      - run: skillgauge eval commit-message --replay recordings --runs 3 --exit-on-fail --min-completion 0.9
WORKFLOW
