# Builds the store, installs its wheel beside skillgauge, tests it there, and keeps a run in it.
# README.md explains it. The service is a stand-in on 127.0.0.1.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist 'acme-skillgauge-shelf[test]'
python -m pytest

export ACME_SHELF_TOKEN=made-up-token-of-acme
mkdir -p shelf
rm -f port.txt
python3 service.py shelf > port.txt & echo $! > service.pid
trap 'kill "$(cat service.pid)"' EXIT
while [ ! -s port.txt ]; do sleep 0.1; done

skillgauge eval my-skill --tasks tasks.json --store "acme-shelf://127.0.0.1:$(cat port.txt)/team" --format markdown
skillgauge history list --store "acme-shelf://127.0.0.1:$(cat port.txt)/team"
trap - EXIT
kill "$(cat service.pid)"
