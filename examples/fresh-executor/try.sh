# Builds the executor, installs its wheel beside skillgauge, tests it there, and evaluates a skill with it.
# README.md explains it.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist 'acme-skillgauge-fresh[test]'
python -m pytest

skillgauge eval my-skill --tasks tasks.json --executor acme-fresh --set executors.acme-fresh.trials=2 --concurrency 1 --exit-on-fail --min-completion 1
