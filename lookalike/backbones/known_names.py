"""Which model names timm and open_clip know, read from their source text.

No torch here: a form refuses a misspelt model while somebody types, not an hour later in a worker.
The libraries themselves say so only once they are imported, which loads torch.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from lookalike.backbones.errors import require_known
from lookalike.backbones.spec import Source, Spec

_REGISTERED = re.compile(r"^@register_model\b[^\n]*\n(?:@[^\n]*\n)*def (\w+)", re.MULTILINE)
_RENAMED = re.compile(r"^register_model_deprecations\((.*?)^\}\)", re.MULTILINE | re.DOTALL)
_RENAMING = re.compile(r"['\"]([\w.-]+)['\"]\s*:\s*['\"]")


def check_name(spec: Spec) -> None:
    """Check that the installed library has a spec's architecture.

    Whether it has the weights that the spec names is only known when they are loaded. What does
    not come from timm or open_clip, or from one that is not installed, is left alone.

    Raises:
        UnknownModelError: it has none of that name; the message says which are near.

    >>> from lookalike.backbones.spec import parse_spec
    >>> check_name(parse_spec("timm:resnet50.tv_in1k"))
    >>> check_name(parse_spec("timm:resnet5O"))
    Traceback (most recent call last):
    lookalike.backbones.errors.UnknownModelError: timm:resnet5O: timm has no model 'resnet5O'...
    """
    if spec.source in {Source.TIMM, Source.FILE}:
        library, known = "timm", timm_models()
    elif spec.source == Source.OPEN_CLIP:
        library, known = "open_clip", open_clip_architectures()
    else:
        return
    if known:
        require_known(spec.model, sorted(known), f"{spec}: {library} has no model")


@cache
def timm_models() -> frozenset[str]:
    """Return the architectures that the installed timm registers, old names too."""
    names: set[str] = set()
    for path in _files("timm", "models/*.py"):
        text = path.read_text(encoding="utf-8")
        names.update(_REGISTERED.findall(text))
        for renamed in _RENAMED.findall(text):
            names.update(_RENAMING.findall(renamed))
    return frozenset(names)


@cache
def open_clip_architectures() -> frozenset[str]:
    """Return the architectures that the installed open_clip has configurations of."""
    return frozenset(path.stem for path in _files("open_clip", "model_configs/*.json"))


def _files(package: str, pattern: str) -> list[Path]:
    found = find_spec(package)
    folders = found.submodule_search_locations if found else None
    return [path for folder in folders or () for path in sorted(Path(folder).glob(pattern))]
