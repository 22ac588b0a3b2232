"""The executor `acme-fresh`."""
