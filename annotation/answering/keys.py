"""Which key does what on the judging page; both come from fixed lists.

Pure. A stored preference is never trusted as text: a key or an action that is not on the lists
is refused (hotkeys were a way in for scripts elsewhere, CVE-2026-22033).
"""

from __future__ import annotations

DEFAULT_KEYS = {
    "similar": "j",
    "different": "f",
    "cant_tell": "c",
    "skip": "s",
    "later": "l",
    "comment": "q",
    "undo": "u",
    "zoom": "z",
    "blink": "b",
    "rest_different": "r",
    "mode": "m",
    "guidelines": "g",
    "help": "?",
}
ALLOWED_KEYS = (*"abcdefghijklmnopqrstuvwxyz", *"0123456789", "?", ",", ".", ";", "/")


class KeyMapError(ValueError):
    """The key map is not usable; the message says why."""


def key_map(stored: object) -> dict[str, str]:
    """Return the whole map: the defaults with the judge's changes.

    Raises:
        KeyMapError: an unknown action or key, or one key for two actions.
    """
    if not isinstance(stored, dict):
        raise KeyMapError("A key map is an object of action and key.")
    for action, key in stored.items():
        if action not in DEFAULT_KEYS:
            raise KeyMapError("There is no such action.")
        if not isinstance(key, str) or key not in ALLOWED_KEYS:
            raise KeyMapError(f"The key of “{action}” is not one of the keys on offer.")
    chosen = {**DEFAULT_KEYS, **stored}
    if "comment" not in stored:  # came later: it takes no key that somebody had chosen
        others = {key for action, key in chosen.items() if action != "comment"}
        free = (key for key in (chosen["comment"], *ALLOWED_KEYS) if key not in others)
        chosen["comment"] = next(free)
    taken: dict[str, str] = {}
    for action, key in chosen.items():
        if key in taken:
            raise KeyMapError(f"“{key}” would mean both “{taken[key]}” and “{action}”.")
        taken[key] = action
    return chosen
