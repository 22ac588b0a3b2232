# Builds the sandbox, installs its wheel beside skillgauge, tests it there, and evaluates a skill in it.
# README.md explains it. The cloud is a stand-in on 127.0.0.1.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist 'acme-skillgauge-cloud[test]'
python -m pytest

export ACME_CLOUD_TOKEN=made-up-token-of-acme
rm -f port.txt
python3 service.py > port.txt & echo $! > service.pid
trap 'kill "$(cat service.pid)"' EXIT
while [ ! -s port.txt ]; do sleep 0.1; done

skillgauge eval my-skill --tasks tasks.json --sandbox acme-cloud --set sandboxes.acme-cloud.url=http://127.0.0.1:$(cat port.txt) --format json record
trap - EXIT
kill "$(cat service.pid)"
