"""The executor `acme-queue` of skillgauge."""
