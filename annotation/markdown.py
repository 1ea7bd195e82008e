"""Guidelines are markdown written by admins; judges get clean HTML.

Pure. Raw HTML is not markdown here: it is shown as text, and what is left is sanitised again.
Pictures are those of the campaign's catalogs, by their path, uid or SHA-256.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = {
    "p", "br", "hr", "h2", "h3", "h4", "strong", "em", "s", "ul", "ol", "li", "blockquote",
    "code", "pre", "a", "table", "thead", "tbody", "tr", "th", "td", "img",
}  # fmt: skip
MAX_MATCHES = 50_000  # equal lines, each with each, that a diff looks at
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
    for group in _matcher(old, new).get_grouped_opcodes(CONTEXT):
        if lines or group[0][1] > 0:
            lines.append(DiffLine("…", ""))
        for tag, i, j, k, m in group:
            if tag == "equal":
                lines += [DiffLine(" ", line) for line in old[i:j]]
            else:
                lines += [DiffLine("-", line) for line in old[i:j]]
                lines += [DiffLine("+", line) for line in new[k:m]]
    return lines


def _matcher(old: list[str], new: list[str]) -> SequenceMatcher[str]:
    """Compare two texts by line in bounded time.

    What both begin and end with is set apart first. Lines that repeat so often that comparing
    each with each takes long are no anchors: the change is then shown as a larger one.
    """
    begin = _n_alike(zip(old, new, strict=False))
    most = min(len(old), len(new)) - begin
    end = min(most, _n_alike(zip(reversed(old), reversed(new), strict=False)))
    middle = old[begin : len(old) - end], new[begin : len(new) - end]
    count = Counter(middle[0])
    n_matches = sum(count[line] for line in middle[1])
    inner = SequenceMatcher(None, *middle, autojunk=n_matches > MAX_MATCHES)
    codes = [(tag, i + begin, j + begin, k + begin, m + begin)
             for tag, i, j, k, m in inner.get_opcodes()]  # fmt: skip
    codes.insert(0, ("equal", 0, begin, 0, begin))
    codes.append(("equal", len(old) - end, len(old), len(new) - end, len(new)))
    whole = SequenceMatcher(None, old, new)
    whole.opcodes = [  # type: ignore[attr-defined]  # its stubs leave it out
        code for code in codes if code[1] < code[2] or code[3] < code[4]
    ]
    return whole


def _n_alike(pairs: Iterable[tuple[str, str]]) -> int:
    """Return how many pairs are equal before the first that is not."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _pictures(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from (child for child in token.children or () if child.type == "image")


def _name_of(token: Token) -> str:
    return unquote(str(token.attrs["src"]))
