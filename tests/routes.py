"""Every named address of the site, for tests that must not forget a new page."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, URLResolver


def routes(resolver: URLResolver, namespace: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Return every named address with the converters of its parts."""
    found: list[tuple[str, dict[str, Any]]] = []
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            found += routes(entry, ":".join(filter(None, (namespace, entry.namespace or ""))))
        elif isinstance(entry, URLPattern) and entry.name:
            name = f"{namespace}:{entry.name}" if namespace else entry.name
            found.append((name, dict(entry.pattern.converters)))
    return found
