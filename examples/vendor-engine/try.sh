# Builds the engine, installs its wheel beside skillgauge, and asks whether a skill helps its agent.
# README.md explains it. The agent is a stand-in that asks no model.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist acme-skillgauge-engine

export ACME_API_KEY=made-up-key-of-acme
export PATH="$PWD/agent:$PATH"

skillgauge init --engine acme-agent --model acme-large
skillgauge eval greeting --runs 5 --sandbox local --format json markdown html record
