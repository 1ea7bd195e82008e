"""How to cite a release, what changed, and under which terms it is given."""

from __future__ import annotations

import json

from lookalike.release.documents.facts import Facts


def citation(facts: Facts) -> str:
    """Return CITATION.cff (Citation File Format 1.2.0)."""
    info = facts.info
    authors = [f"  - name: {_quoted(name)}" for name in info["authors"]]
    return "\n".join(
        [
            "cff-version: 1.2.0",
            "message: If you use this benchmark, please cite it as below.",
            "type: dataset",
            f"title: {_quoted(info['title'])}",
            f"version: {_quoted(info['version'])}",
            f"date-released: {_quoted(info['date'])}",
            "authors:",
            *authors,
            f"abstract: {_quoted(info['description'] or info['title'])}",
            *([f"url: {_quoted(info['url'])}"] if info["url"] else []),
            *([f"license: {_quoted(info['licence']['labels'])}"] if _is_spdx(facts) else []),
            "",
        ]
    )


def bibtex(facts: Facts) -> str:
    """Return an entry for BibTeX."""
    info = facts.info
    key = f"{info['name']}-{info['version']}".replace(".", "-")
    authors = " and ".join(f"{{{name}}}" for name in info["authors"])
    where = f"  howpublished = {{\\url{{{info['url']}}}}},\n" if info["url"] else ""
    return (
        f"@misc{{{key},\n  title = {{{info['title']}}},\n  author = {{{authors}}},\n"
        f"  year = {{{info['date'][:4]}}},\n{where}  note = {{Version {info['version']}}}\n}}"
    )


def cite_as(facts: Facts) -> str:
    """Return one line for a list of references."""
    info = facts.info
    where = f" {info['url']}" if info["url"] else ""
    return f"{', '.join(info['authors'])} ({info['date'][:4]}). {facts.title}.{where}"


def changelog(facts: Facts) -> str:
    """Return CHANGELOG.md: this version first."""
    lines = [f"# Changelog of {facts.info['title']}", ""]
    for entry in facts.info["changelog"]:
        lines += [f"## {entry['version']} ({entry['date']})", "", entry["text"], ""]
    return "\n".join(lines)


def licence(facts: Facts) -> str:
    """Return LICENSE.txt: the labels' terms, and the images'."""
    terms = facts.info["licence"]
    held = (
        "The images are part of this release, under the terms below."
        if terms["with_images"]
        else "The images are not part of this release: it names them by SHA-256 and path. Get "
        "them from their source, under the terms below."
    )
    return (
        f"Labels, judgements, scores and documents of {facts.title}\n\n"
        f"Licence: {terms['labels']}\n\n\nImages\n\n{held}\n\n{terms['images']}\n"
    )


def _is_spdx(facts: Facts) -> bool:
    name = str(facts.info["licence"]["labels"])
    return bool(name) and name.isascii() and " " not in name


def _quoted(text: str) -> str:
    """Return text as a YAML string; every JSON string is one."""
    return json.dumps(text, ensure_ascii=False)
