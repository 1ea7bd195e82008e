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
            # without local variables: they hold passwords and tokens
            structlog.processors.ExceptionRenderer(
                structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
            ),
            structlog.processors.JSONRenderer(default=str),
        ],
        "foreign_pre_chain": [
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
    }


NEEDED = {
    "SENTRY_DSN": ("sentry-sdk", ("sentry_sdk",)),
    "OTEL_EXPORTER_OTLP_ENDPOINT": (
        "opentelemetry-sdk opentelemetry-exporter-otlp-proto-http "
        "opentelemetry-instrumentation-django",
        (
            "opentelemetry.sdk.resources",
            "opentelemetry.sdk.trace.export",
            "opentelemetry.exporter.otlp.proto.http.trace_exporter",
            "opentelemetry.instrumentation.django",
        ),
    ),
}


def require_packages() -> None:
    """Check that what SENTRY_DSN and OTEL_EXPORTER_OTLP_ENDPOINT need is there, if they are set.

    Raises:
        EnvError: a variable is set and a package that it needs is not installed.
    """
    for variable, (packages, modules) in NEEDED.items():
        if env.optional(variable) is None:
            continue
        try:
            for module in modules:
                import_module(module)
        except ImportError:
            raise env.EnvError(f"{variable} needs packages: pip install {packages}") from None


def start_reporting() -> None:
    """Begin to report from this process, as far as the variables are set."""
    if dsn := env.optional("SENTRY_DSN"):
        sentry = import_module("sentry_sdk")
        sentry.init(
            dsn=dsn,
            release=__version__,
            send_default_pii=False,
            include_local_variables=False,
            max_request_body_size="never",
        )
    if env.optional("OTEL_EXPORTER_OTLP_ENDPOINT"):
        resources, export, otlp, django = map(
            import_module, NEEDED["OTEL_EXPORTER_OTLP_ENDPOINT"][1]
        )
        resource = resources.Resource.create({"service.name": "lookalike"})
        provider = import_module("opentelemetry.sdk.trace").TracerProvider(resource=resource)
        provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
        import_module("opentelemetry.trace").set_tracer_provider(provider)
        django.DjangoInstrumentor().instrument()
