# From an empty folder to the answer whether a skill helps. docs/first-agent-eval.md explains each step.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
mkdir -p commit-message/evals

# What the skill tells an agent.
cat > commit-message/SKILL.md <<'SKILL'
---
name: commit-message
description: Writes commit messages by the rules of this house. Use it whenever a commit message is wanted.
---

One line: the area in lower case, a colon, what changes in the imperative, and the ticket in round brackets at the end.
At most 60 characters. Areas are `api`, `web` and `docs`.
SKILL

# What an agent is asked, and what has to be true of its answer.
cat > commit-message/evals/evals.json <<'EVALS'
{
  "skill_name": "commit-message",
  "evals": [
    {
      "id": "null-user",
      "prompt": "Ticket 212: the login endpoint crashed for users without a name. I fixed it. Write the commit message.",
      "assertions": [{ "text": "It has the form of the house", "type": "regex", "value": "(?m)^api: [a-z].{1,50} \\(212\\)$" }]
    },
    {
      "id": "dark-mode",
      "prompt": "Ticket 340: the web page has a dark mode now. Write the commit message.",
      "assertions": [{ "text": "It has the form of the house", "type": "regex", "value": "(?m)^web: [a-z].{1,50} \\(340\\)$" }]
    },
    {
      "id": "typo",
      "prompt": "Ticket 77: I corrected a typo in the installation guide. Write the commit message.",
      "assertions": [{ "text": "It has the form of the house", "type": "regex", "value": "(?m)^docs: [a-z].{1,50} \\(77\\)$" }]
    },
    {
      "id": "no-ticket",
      "prompt": "What does the command git stash do? Answer in one sentence.",
      "assertions": [{ "text": "It answers the question", "type": "icontains", "value": "changes" }]
    }
  ]
}
EVALS
skillgauge validate commit-message

# An agent that follows a script, to try the suite before anything is paid.
cat > mock.yaml <<'SCRIPT'
replies:
  - { match: "Ticket 212", skill: commit-message, fires: [commit-message], text: "api: let users without a name log in (212)" }
  - { match: "Ticket 340", skill: commit-message, fires: [commit-message], text: "web: add a dark mode (340)" }
  - { match: "Ticket 77", skill: commit-message, fires: [commit-message], text: "docs: Fixed typo (77)" }
  - { match: "stash", text: "git stash puts changes aside." }
  - { match: "Ticket", text: "Fix the problem described in the ticket" }
SCRIPT
skillgauge eval commit-message --engine mock --set engines.mock.script=mock.yaml --runs 3
skillgauge report show latest --case typo --arm with_skill
