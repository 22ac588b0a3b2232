"""The engine `acme-agent`."""
