"""The OpenAPI document as a page: no scripts, so that the site's content policy need not give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import reader_required
from api.root import api

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of an answer; `link` is the name of the schema that it holds."""

    name: str
    kind: str
    link: str
    is_required: bool
    text: str


@dataclass(frozen=True)
class Route:
    """One thing that can be asked."""

    method: str
    path: str
    title: str
    text: str
    fields: list[Field]
    answers: str
    errors: list[str]


@require_safe
@reader_required
def reference(request: HttpRequest) -> HttpResponse:
    """Show every route and every schema."""
    document = api.get_openapi_schema()
    context = {"groups": group_routes(document), "schemas": list_schemas(document)}
    return render(request, "api/reference.html", context)


def group_routes(document: Document) -> dict[str, list[Route]]:
    """Return the routes by tag, in the order of the document."""
    groups: dict[str, list[Route]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            [tag] = operation["tags"]
            groups.setdefault(tag, []).append(_route(method.upper(), path, operation))
    return groups


def list_schemas(document: Document) -> list[tuple[str, str, list[Field]]]:
    """Return (name, text, fields) of every schema that an answer is made of."""
    schemas = document["components"]["schemas"]
    return [
        (name, schema.get("description", ""), _fields(schema))
        for name, schema in sorted(schemas.items())
        if not name.endswith("Query") and schema.get("type") == "object"
    ]


def _route(method: str, path: str, operation: Document) -> Route:
    fields = [
        Field(
            parameter["name"],
            _kind(parameter["schema"]),
            "",
            bool(parameter.get("required")),
            parameter.get("description") or parameter["schema"].get("description", ""),
        )
        for parameter in operation.get("parameters", [])
    ]
    for body in operation.get("requestBody", {}).get("content", {}).values():
        fields += _fields(body["schema"])
    answers = {int(status): answer for status, answer in operation["responses"].items()}
    good: Document = next(
        (answer for status, answer in sorted(answers.items()) if status < 400), {}
    )
    kinds = [_link(answer.get("schema", {})) for answer in good.get("content", {}).values()]
    return Route(
        method=method,
        path=path,
        title=operation["summary"],
        text=operation.get("description", ""),
        fields=fields,
        answers=next(iter(kinds), ""),
        errors=[str(status) for status in sorted(answers) if status >= 400],
    )


def _fields(schema: Document) -> list[Field]:
    required = schema.get("required", [])
    return [
        Field(name, _kind(field), _link(field), name in required, field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]


def _kind(schema: Document) -> str:
    """Return the type of a value in a few words."""
    if "$ref" in schema:
        return _link(schema)
    if "anyOf" in schema:
        return " or ".join(_kind(kind) for kind in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    return str(schema.get("format") or schema.get("type", "anything"))


def _link(schema: Document) -> str:
    """Return the name of the schema that a value is, or is a list of; "" if of none."""
    for place in (schema, schema.get("items", {}), *schema.get("anyOf", [])):
        if "$ref" in place:
            return str(place["$ref"]).rpartition("/")[2]
    return ""
