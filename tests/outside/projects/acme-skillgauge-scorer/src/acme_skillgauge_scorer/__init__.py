"""Numbers within a tolerance: a scorer that only ACME needs."""
