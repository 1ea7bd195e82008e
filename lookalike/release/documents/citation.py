"""How to cite a release, what changed, and under which terms it is given."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

from lookalike.io.documents import latex_text
from lookalike.release.documents.facts import Facts
from lookalike.release.documents.people import Author, authors_of


def citation(facts: Facts, doi: str = "") -> str:
    """Return CITATION.cff (Citation File Format 1.2.0).

    Args:
        facts: of the release.
        doi: under which it was deposited, which can only be known afterwards.
    """
    info = facts.info
    authors = [line for author in authors_of(info) for line in _cff_author(author)]
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
            f"abstract: {_quoted(facts.abstract)}",
            *([f"doi: {_quoted(doi)}"] if doi else []),
            *([f"url: {_quoted(info['url'])}"] if info["url"] else []),
            *([f"license: {_quoted(info['licence']['labels'])}"] if _is_spdx(facts) else []),
            "",
        ]
    )


def _cff_author(author: Author) -> list[str]:
    if author.family:
        names = {"family-names": author.family, "given-names": author.given}
    else:
        names = {"name": author.name}
    keys = names | ({"orcid": author.address} if author.orcid else {})
    lines = [f"{key}: {_quoted(value)}" for key, value in keys.items()]
    return [f"  {'-' if at == 0 else ' '} {line}" for at, line in enumerate(lines)]


def bibtex(facts: Facts, doi: str = "") -> str:
    """Return an entry for BibTeX."""
    info = facts.info
    key = f"{info['name']}-{info['version']}".replace(".", "-")
    authors = " and ".join(
        _bibtex_name(author.sorted_name)
        if author.family
        else f"{{{latex_text(_one_line(author.name))}}}"
        for author in authors_of(info)
    )
    deposited = f"  doi = {{{_bibtex_address(doi)}}},\n" if doi else ""
    address = _bibtex_address(info["url"])
    where = f"  howpublished = {{\\url{{{address}}}}},\n" if address else ""
    title = latex_text(_one_line(info["title"]))
    return (
        f"@misc{{{key},\n  title = {{{title}}},\n  author = {{{authors}}},\n"
        f"  year = {{{info['date'][:4]}}},\n{deposited}{where}"
        f"  note = {{Version {info['version']}}}\n}}"
    )


def _bibtex_name(name: str) -> str:
    """Return a name in which no word separates authors."""
    words = latex_text(_one_line(name)).split(" ")
    return " ".join(f"{{{word}}}" if word.lower() == "and" else word for word in words)


def _bibtex_address(address: str) -> str:
    """Return an address without signs that would end its field or begin a command."""
    return re.sub(r"[\s{}\\\"<>^`|]", lambda sign: quote(sign[0]), address)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def cite_as(facts: Facts, doi: str = "") -> str:
    """Return one line for a list of references."""
    info = facts.info
    address = f"https://doi.org/{doi}" if doi else info["url"]
    where = f" {address}" if address else ""
    names = ", ".join(author.name for author in authors_of(info))
    return f"{names} ({info['date'][:4]}). {facts.title}.{where}"


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
