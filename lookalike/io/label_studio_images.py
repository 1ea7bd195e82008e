"""Which images of a task of Label Studio have which role."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

from lookalike.io.errors import FormatError, InputError
from lookalike.io.label_studio_tasks import Answer, names_picture
from lookalike.io.vote_options import VoteOptions

_DATA_KEY = re.compile(r"\$(?:data\.)?([\w.-]+)")


class ImageKeys:
    """Finds the images of a task by the roles that they have.

    A role is the key of that name in the task's data. The labelling configuration says it, too:
    of `<Image name="query" value="$image1"/>` the key is image1. Where one role alone is open and
    one picture alone is left, they belong together. The order of keys means nothing.

    Args:
        path: of the export, for messages.
        roles: such as query and candidate.
        options: the labelling configuration, and keys by role.
    """

    def __init__(self, path: Path, roles: Sequence[str], options: VoteOptions) -> None:
        self._path, self._roles = path, tuple(roles)
        objects = {} if options.config is None else _objects(options.config)
        self._key_of = objects | dict(options.keys)

    def images(self, answer: Answer, objects: Mapping[str, str] | None = None) -> list[str]:
        """Return the image of each role.

        Args:
            answer: of the task.
            objects: {role: name of the object that has it}, where the control says so.

        Raises:
            FormatError: a role has no image.
        """
        keys = {role: self._key(answer, role, (objects or {}).get(role)) for role in self._roles}
        missing = [role for role, key in keys.items() if key is None]
        if len(missing) == 1:
            others = [
                name
                for name, value in answer.data.items()
                if name not in keys.values() and names_picture(value)
            ]
            if len(others) == 1:
                keys[missing[0]], missing = others[0], []
        if missing:
            held = ", ".join(name for name, value in answer.data.items() if names_picture(value))
            roles = " and the ".join(missing)
            reason = f"which image is the {roles}? Its pictures are: {held or 'none'}"
            raise FormatError(
                self._path,
                answer.line,
                f"{reason}. Name the keys of its data {', '.join(self._roles)}, say which they are "
                f"(--keys {missing[0]}=KEY), or give the labelling configuration (--config), whose "
                "objects have these names",
            )
        return [str(answer.data[key]) for key in keys.values() if key is not None]

    def _key(self, answer: Answer, role: str, named: str | None) -> str | None:
        for name in (named, role) if named else (role,):
            key = self._key_of.get(name, name)
            if isinstance(answer.data.get(key), str) and answer.data[key]:
                return key
        return None


def _objects(config: Path) -> dict[str, str]:
    """Return {name of an object: key of the data that it shows} of a labelling configuration.

    Raises:
        InputError: it is no such configuration.
        OSError: it cannot be read.
    """
    tags = _ObjectTags()
    try:
        tags.feed(config.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise InputError(f"{config} is no labelling configuration: not UTF-8") from problem
    if not tags.keys:
        reason = 'it has no object such as <Image name="query" value="$image1"/>'
        raise InputError(f"{config} is no labelling configuration: {reason}")
    return tags.keys


class _ObjectTags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        matched = _DATA_KEY.fullmatch(held.get("value") or "")
        if matched and held.get("name"):
            self.keys[held["name"] or ""] = matched[1]
