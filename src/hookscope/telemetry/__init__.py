"""Runs as OpenTelemetry spans and metrics; `hookscope.otel` is the public module."""
