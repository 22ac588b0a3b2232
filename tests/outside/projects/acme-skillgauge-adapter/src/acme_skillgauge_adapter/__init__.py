"""A target that answers with its input: an adapter that only ACME needs."""
