"""croissant.json: Croissant 1.1 with RAI properties, as mlcroissant validates and loads it."""

from __future__ import annotations

import json
from typing import Any

from lookalike.release.documents.citation import cite_as
from lookalike.release.documents.facts import Facts
from lookalike.release.documents.people import Author, authors_of
from lookalike.release.documents.responsible import responsible
from lookalike.release.format.columns import Table
from lookalike.release.format.layout import described_files

_TYPES = {"text": "sc:Text", "float64": "sc:Float", "bool": "sc:Boolean"}  # others: sc:Integer
_TERMS = """citeAs column conformsTo data dataType equivalentProperty examples extract field
fileProperty fileObject fileSet format includes isLiveDataset jsonPath key md5 parentField path
recordSet references regex repeated replace samplingRate separator source subField transform"""
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}
_FIRST_OF_1_1 = 4  # schema version
_CONTEXT_1_1 = {
    **_CONTEXT,
    **{term: f"cr:{term}" for term in ("arrayShape", "containedIn", "isArray")},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
}
_CONFORMS_1_1 = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]


def croissant(facts: Facts) -> str:
    """Return the metadata; one record set for each table."""
    info = facts.info
    is_1_1 = info.get("schema_version", 1) >= _FIRST_OF_1_1
    described = {
        "@context": _CONTEXT_1_1 if is_1_1 else _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS_1_1 if is_1_1 else "http://mlcommons.org/croissant/1.0",
        "name": info["name"],
        "description": facts.abstract,
        "license": info["licence"]["labels"],
        "url": info["url"] or f"urn:lookalike:{info['name']}:{info['version']}",
        "version": info["version"],
        "datePublished": info["date"],
        "citeAs": cite_as(facts),
        "creator": [_creator(author) for author in authors_of(info)],
        **(responsible(facts) if is_1_1 else {}),
        "distribution": [_file(facts, path) for path in described_files(facts.info)],
        "recordSet": [_records(table) for table in facts.tables],
    }
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def _creator(author: Author) -> dict[str, str]:
    if not author.family:
        return {"@type": "sc:Organization", "name": author.name}
    found = {"@type": "sc:Person", "name": author.name}
    return found | ({"url": author.address} if author.orcid else {})


def _file(facts: Facts, path: str) -> dict[str, Any]:
    is_table = path.endswith(".parquet")
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": "application/x-parquet" if is_table else "application/json",
        "sha256": facts.hashes[path],
    }


def _records(table: Table) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.about,
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table.name}/{column.name}",
                "name": column.name,
                "description": column.about,
                "dataType": _TYPES.get(column.kind, "sc:Integer"),
                "source": {
                    "fileObject": {"@id": table.path},
                    "extract": {"column": column.name},
                },
            }
            for column in table.columns
        ],
    }
