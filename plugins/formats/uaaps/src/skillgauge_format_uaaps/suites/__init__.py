"""The suites of a package: deterministic tests, and evals that a judge grades."""
