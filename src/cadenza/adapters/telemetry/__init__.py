"""Metrics as Prometheus reads them, and traces as OpenTelemetry sends them."""
