"""Template tags that every page may load."""

from __future__ import annotations

import math
import re

from django import template
from django.template.context import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from accounts.terms import TERMS

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86_400


@register.filter
def duration(seconds: float | None) -> str:
    """Say a time span the way people do: 8 s, 3 min 20 s, 2 h 5 min, 4 days."""
    if seconds is None:
        return "unknown"
    whole = max(0, round(seconds))
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return _two(whole, MINUTE, "min", 1, "s")
    if whole < DAY:
        return _two(whole, HOUR, "h", MINUTE, "min")
    days = round(whole / DAY)
    return "1 day" if days == 1 else f"{days} days"


def _two(whole: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    n_large, rest = divmod(whole, large)
    n_small = rest // small
    return f"{n_large} {large_unit}" + (f" {n_small} {small_unit}" if n_small else "")


@register.filter
def breakable(name: str) -> SafeString:
    """Let a long name of a model break where its parts meet, and nowhere else if it can.

    >>> breakable("timm:vit_base")
    'timm:<wbr>vit_<wbr>base'
    """
    parts = [part for part in re.split(r"(?<=[:/_.@+-])", name) if part]
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in parts))


@register.filter
def with_code(text: str) -> SafeString:
    """Set what stands between backticks as code.

    >>> with_code("give `next` & go on")
    'give <code>next</code> &amp; go on'
    """
    parts = re.split(r"`([^`]+)`", text)  # words and code by turns
    pairs = (
        (format_html("<code>{}</code>", part) if at % 2 else part,) for at, part in enumerate(parts)
    )
    return format_html_join("", "{}", pairs)


@register.filter
def percent(share: float | None, digits: int = 0) -> str:
    """Show a share of 1 as a percentage; nothing known is a dash."""
    return "–" if share is None or math.isnan(share) else f"{100 * share:.{digits}f} %"


@register.simple_tag(takes_context=True)
def term(context: Context, name: str, shown: str = "") -> SafeString | str:
    """Show a term that says what it means when it is pressed; further on in a page, plain words.

    Args:
        name: one of `TERMS`.
        shown: the words on the page, if they are others.
    """
    words, meaning = shown or name, TERMS[name]
    request = context.get("request")
    explained = vars(request).setdefault("explained_terms", set()) if request else {name}
    if name in explained:
        return words
    explained.add(name)
    return format_html(
        '<button class="term" type="button" popovertarget="{id}">{words}</button>'
        '<span class="term-meaning" id="{id}" popover><strong>{name}</strong> {meaning}</span>',
        id=f"term-{slugify(name)}",
        words=words,
        name=name,
        meaning=meaning,
    )
