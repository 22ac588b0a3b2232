# Builds the extension, installs its wheel beside skillgauge, and has it post the summary of a run.
# README.md explains it. The receiver is a stand-in on 127.0.0.1.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist acme-skillgauge-webhook

export ACME_WEBHOOK_TOKEN=made-up-token-of-acme
rm -f port.txt
python3 service.py port.txt & echo $! > service.pid
trap 'kill "$(cat service.pid)"' EXIT
while [ ! -s port.txt ]; do sleep 0.1; done

skillgauge eval my-skill --tasks tasks.json --set extensions.acme-webhook.url=http://127.0.0.1:$(cat port.txt)/ --format json record
cat posted.json
trap - EXIT
kill "$(cat service.pid)"
