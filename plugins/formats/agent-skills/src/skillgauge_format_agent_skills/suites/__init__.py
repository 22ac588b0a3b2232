"""From files of evals and queries to suites, and back."""
