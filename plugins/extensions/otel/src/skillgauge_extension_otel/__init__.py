"""The `otel` extension of skillgauge: runs as OpenTelemetry traces, metrics and events."""
