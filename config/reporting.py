"""Logs as JSON; errors to Sentry and traces to OpenTelemetry, for sites that ask for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import structlog

from config import env
from lookalike import __version__


def json_formatter() -> dict[str, Any]:
    """Return the entry of LOGGING that writes a JSON object a line, with request and job ids."""
    return {
        "()": structlog.stdlib.ProcessorFormatter,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.dict_tracebacks,
            structlog.processors.JSONRenderer(default=str),
        ],
        "foreign_pre_chain": [
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
    }


def start_reporting() -> None:
    """Begin to report, as far as SENTRY_DSN and OTEL_EXPORTER_OTLP_ENDPOINT are set.

    Raises:
        EnvError: a variable is set and the package it needs is not installed.
    """
    if dsn := env.optional("SENTRY_DSN"):
        sentry = _package("sentry_sdk", "SENTRY_DSN", "sentry-sdk")
        sentry.init(dsn=dsn, release=__version__, send_default_pii=False)
    if env.optional("OTEL_EXPORTER_OTLP_ENDPOINT"):
        needed = (
            "opentelemetry-sdk opentelemetry-exporter-otlp-proto-http "
            "opentelemetry-instrumentation-django"
        )

        def part(module: str) -> Any:
            return _package(f"opentelemetry.{module}", "OTEL_EXPORTER_OTLP_ENDPOINT", needed)

        resource = part("sdk.resources").Resource.create({"service.name": "lookalike"})
        provider = part("sdk.trace").TracerProvider(resource=resource)
        exporter = part("exporter.otlp.proto.http.trace_exporter").OTLPSpanExporter()
        provider.add_span_processor(part("sdk.trace.export").BatchSpanProcessor(exporter))
        part("trace").set_tracer_provider(provider)
        part("instrumentation.django").DjangoInstrumentor().instrument()


def _package(module: str, variable: str, needed: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise env.EnvError(f"{variable} needs packages: pip install {needed}") from None
