# Builds the judge, installs its wheel beside skillgauge, tests it there, and lets it grade a skill.
# README.md explains it. The gateway is a stand-in on 127.0.0.1.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist 'acme-skillgauge-judge[test]'
python -m pytest

export ACME_CLIENT_SECRET=made-up-secret-of-acme
rm -f port.txt
python3 gateway.py > port.txt & echo $! > gateway.pid
trap 'kill "$(cat gateway.pid)"' EXIT
while [ ! -s port.txt ]; do sleep 0.1; done

gateway=http://127.0.0.1:$(cat port.txt)
skillgauge eval my-skill --tasks tasks.json --check 'rubric={"criteria": "It says when.", "scale": "0-10"}' --judge acme-judge --set judges.acme-judge.token_url=$gateway/oauth/token --set judges.acme-judge.base_url=$gateway/v1 --format json markdown record
trap - EXIT
kill "$(cat gateway.pid)"
