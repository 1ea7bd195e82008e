"""Show the examples of docstrings as code on the documents' site."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class DoctestBlocks(griffe.Extension):
    """Put a fence around each example that stands outside of a section."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change an object's docstring before it is read."""
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
