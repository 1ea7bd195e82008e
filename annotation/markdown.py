"""Guidelines are markdown written by admins; judges get clean HTML.

Pure. Raw HTML is not markdown here: it is shown as text, and what is left is sanitised again.
Pictures are those of the campaign's catalogs, by their path, uid or SHA-256.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = {
    "p", "br", "hr", "h2", "h3", "h4", "strong", "em", "s", "ul", "ol", "li", "blockquote",
    "code", "pre", "a", "table", "thead", "tbody", "tr", "th", "td", "img",
}  # fmt: skip
CONTEXT = 2  # lines shown around a change
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
AddressOf = Callable[[str], str]


class DiffLine(NamedTuple):
    """One line of a change: added "+", removed "-", kept " ", or "…" for lines left out."""

    sign: str
    text: str


def no_picture(name: str) -> str:
    """Return no address: the picture's words stand for it."""
    return ""


def to_html(text: str, address_of: AddressOf = no_picture) -> str:
    """Return safe HTML; headings start at the second level, raw HTML is shown as text.

    Args:
        text: markdown.
        address_of: where a picture is, by what the text calls it; "" leaves its words alone.
    """
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(4, int(token.tag[1]) + 1)}"
    for token in _pictures(tokens):
        address = address_of(_name_of(token))
        if address:
            token.attrs["src"] = address
        else:
            token.type, token.tag, token.attrs = "text", "", {}
    rendered = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return nh3.clean(
        rendered,
        tags=TAGS,
        attributes={"a": {"href"}, "img": {"src", "alt"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def picture_names(text: str) -> list[tuple[int, str]]:
    """Return the pictures that a text shows: line, from 1, and what it calls them."""
    found = []
    for token in _PARSER.parse(text):
        line = token.map[0] + 1 if token.map else 1
        found += [(line, _name_of(child)) for child in _pictures([token])]
    return found


def diff(before: str, after: str) -> list[DiffLine]:
    """Return what changed between two texts, line by line, with a few lines around it.

    >>> [line.sign + line.text for line in diff("one\\ntwo", "one\\n2")]
    [' one', '-two', '+2']
    """
    old, new = before.splitlines(), after.splitlines()
    lines: list[DiffLine] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        if lines or group[0][1] > 0:
            lines.append(DiffLine("…", ""))
        for tag, i, j, k, m in group:
            if tag == "equal":
                lines += [DiffLine(" ", line) for line in old[i:j]]
            else:
                lines += [DiffLine("-", line) for line in old[i:j]]
                lines += [DiffLine("+", line) for line in new[k:m]]
    return lines


def _pictures(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from (child for child in token.children or () if child.type == "image")


def _name_of(token: Token) -> str:
    return unquote(str(token.attrs["src"]))
