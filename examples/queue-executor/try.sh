# Builds the executor, installs its wheel beside skillgauge, tests it there, and evaluates a skill at two workers that
# dial in. README.md explains it.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist 'acme-skillgauge-queue[test]'
python -m pytest

ACME_QUEUE_TOKEN=$(python -c 'import secrets; print(secrets.token_hex(16))')
export ACME_QUEUE_TOKEN
port=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
for name in first second; do
    (
        tries=0
        until python -m acme_queue.worker "127.0.0.1:$port" 2>"$name.log" || [ "$tries" -ge 100 ]; do
            tries=$((tries + 1))
            sleep 0.2
        done
    ) &
done
skillgauge eval my-skill --tasks tasks.json --executor acme-queue --set "executors.acme-queue.listen=127.0.0.1:$port" --set executors.acme-queue.workers=0 --concurrency 2 --exit-on-fail --min-completion 1
wait
