"""The `attestation` reporter of skillgauge."""
