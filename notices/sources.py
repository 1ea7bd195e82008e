"""Where notices come from: each app yields its own lines of what needs attention."""

from __future__ import annotations

import annotation.attention
import evaluation.attention
import jobs.attention
import pooling.attention
from accounts.attention import Attention

# One more app, or one more function of an app, is one more entry.
SOURCES = (
    jobs.attention.attention,
    annotation.attention.attention,
    pooling.attention.attention,
    evaluation.attention.attention,
)


def attention_lines() -> list[Attention]:
    """Return what needs attention as the overview shows it, the most urgent first."""
    return jobs.attention.shorten(every_line())


def every_line() -> list[Attention]:
    """Return all that needs attention, the most urgent first."""
    found = [line for lines in SOURCES for line in lines()]
    better = {line.instead_of for line in found}
    kept = (one for one in found if one.instead_of or (one.kind, one.url) not in better)
    return sorted(kept, key=lambda line: line.urgency)
