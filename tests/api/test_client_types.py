"""The client tells every field of every answer that it models, by the type of the document.

A client's method asks the operation of its own name; so its return type is held against that
operation's answer, field by field, and every class inside likewise.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from api.root import api
from lookalike.client import Client

DOCUMENT: dict[str, Any] = api.get_openapi_schema()
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATION_OF = {"submit": "submit_run"}  # where a method has another name than its operation
NOT_ASKED = {"exclude", "count", "pause", "resume", "reply", "audit_entries",
             "import_catalog", "import_report"}  # fmt: skip
PLAIN = {"string": str, "integer": int, "number": float, "boolean": bool}


def answers() -> dict[str, Mapping[str, Any]]:
    """The JSON that each operation answers with when all is well; files have none."""
    found = {}
    for operations in DOCUMENT["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                content = answer.get("content", {}).get("application/json")
                if int(status) < 400 and content:
                    found[operation["operationId"]] = content["schema"]
    return found


def methods() -> dict[str, Any]:
    """What each method of the client returns that is read from JSON: a class."""
    found = {}
    for name, method in vars(Client).items():
        if name.startswith("_"):
            continue
        kind = get_type_hints(method)["return"]
        kind = get_args(kind)[0] if get_origin(kind) is Iterator else kind
        if dataclasses.is_dataclass(kind) and not name.startswith("wait_"):
            found[OPERATION_OF.get(name, name)] = kind
    return found


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema itself, where a reference to it is given."""
    return SCHEMAS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def type_of(schema: Mapping[str, Any]) -> Any:
    """The Python type of a value that is no class of the client's; a reference for one that is."""
    if "$ref" in schema:
        return schema["$ref"]
    if "anyOf" in schema:
        [inner] = [one for one in schema["anyOf"] if one.get("type") != "null"]
        return type_of(inner), None
    if schema.get("format") == "date-time":
        return datetime
    if schema.get("type") == "array":
        return list, type_of(schema["items"])
    if schema.get("type") == "object":
        of = schema.get("additionalProperties", True)
        return dict, Any if of is True else type_of(of)
    return PLAIN[schema["type"]] if "type" in schema else Any


def differences(kind: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    """Everything in which a type of the client is not what the document says."""
    if get_origin(kind) is types.UnionType:
        [kind] = [one for one in get_args(kind) if one is not type(None)]
        inner = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
        if len(inner) != 1 or len(schema["anyOf"]) != 2:
            yield f"{where} is never null"
            return
        [schema] = inner
    elif "anyOf" in schema:
        yield f"{where} may be null"
        return
    if dataclasses.is_dataclass(kind):
        fields = get_type_hints(kind)
        properties = resolved(schema).get("properties", {})
        yield from (f"{where} lacks {name}" for name in sorted(properties.keys() - fields.keys()))
        yield from (f"{where} invents {name}" for name in sorted(fields.keys() - properties.keys()))
        for name in sorted(fields.keys() & properties.keys()):
            yield from differences(fields[name], properties[name], f"{where}.{name}")
    elif get_origin(kind) is list and schema.get("type") == "array":
        yield from differences(get_args(kind)[0], schema["items"], f"{where}[]")
    elif get_origin(kind) is dict and isinstance(schema.get("additionalProperties"), dict):
        yield from differences(get_args(kind)[1], schema["additionalProperties"], f"{where}{{}}")
    elif (kind if get_origin(kind) is None else (get_origin(kind), get_args(kind)[-1])) != type_of(
        schema
    ):
        yield f"{where} is {kind}, the document says {schema}"


def test_the_client_asks_every_operation_that_answers_with_json():
    assert methods().keys() == answers().keys() - NOT_ASKED


@pytest.mark.parametrize("operation", methods())
def test_a_method_returns_every_field_of_its_operations_answer(operation):
    schema = resolved(answers()[operation])
    if set(schema["properties"]) == {"items", "next"}:
        schema = schema["properties"]["items"]["items"]
    assert list(differences(methods()[operation], schema, operation)) == []


def test_what_a_client_leaves_out_invents_or_takes_for_another_type_is_found():
    @dataclasses.dataclass
    class Wrong:
        slug: int
        colour: str

    found = list(differences(Wrong, resolved(answers()["catalog"]), "x"))
    assert "x invents colour" in found
    assert "x lacks name" in found
    assert any(line.startswith("x.slug is <class 'int'>") for line in found)
