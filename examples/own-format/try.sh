# Builds the format, installs its wheel beside skillgauge, tests it there, and evaluates a skill by a spreadsheet.
# README.md explains it.

python3 -m venv .venv
. .venv/bin/activate
pip install skillgauge
pip wheel --no-deps --wheel-dir dist .
pip install --find-links dist 'acme-skillgauge-cases[test]'
python -m pytest

skillgauge validate my-skill/shop.csv
skillgauge eval my-skill/shop.csv --format json markdown record
skillgauge convert my-skill/shop.csv --to acme-cases -o sheets
! skillgauge validate broken.csv
