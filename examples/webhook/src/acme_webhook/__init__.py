"""The extension `acme-webhook`."""
