"""Guidelines are markdown written by admins; judges get clean HTML.

Pure. Raw HTML is not markdown here: it is shown as text, and what is left is sanitised again.
"""

from __future__ import annotations

import nh3
from markdown_it import MarkdownIt

TAGS = {
    "p", "br", "hr", "h2", "h3", "h4", "strong", "em", "s", "ul", "ol", "li", "blockquote",
    "code", "pre", "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def to_html(text: str) -> str:
    """Return safe HTML; headings start at the second level, images and raw HTML are left out."""
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(4, int(token.tag[1]) + 1)}"
    rendered = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return nh3.clean(
        rendered,
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
