# Builds the scorer, installs its wheel beside skillgauge, and lets it check a suite that knows nothing of it.
# README.md explains it. The database is a stand-in on 127.0.0.1.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist acme-skillgauge-terms

export ACME_DB_PASSWORD=made-up-password-of-acme
rm -f port.txt
python3 database.py port.txt & echo $! > database.pid
trap 'kill "$(cat database.pid)"' EXIT
while [ ! -s port.txt ]; do sleep 0.1; done

skillgauge plugins info scorers acme-terms
skillgauge eval my-skill --tasks tasks.json --check "acme-terms={\"port\": $(cat port.txt), \"product\": \"harbour\"}" --format json markdown record
trap - EXIT
kill "$(cat database.pid)"
