"""How a judge likes the judging page: keys, and pairs or sheets."""

from __future__ import annotations

from annotation.answering.keys import DEFAULT_KEYS, KeyMapError, key_map
from annotation.models import Mode, Preference


def preferred(annotator_id: int) -> tuple[dict[str, str], str]:
    """Return the judge's whole key map and mode; what is not usable any more is the default."""
    stored = Preference.objects.filter(annotator_id=annotator_id).first()
    if stored is None:
        return dict(DEFAULT_KEYS), Mode.PAIR.value
    try:
        return key_map(stored.keys), stored.mode
    except KeyMapError:
        return dict(DEFAULT_KEYS), stored.mode


def save_preference(*, annotator_id: int, keys: object, mode: object) -> tuple[dict[str, str], str]:
    """Store the judge's own keys and mode, and return them whole.

    Raises:
        KeyMapError: a key, an action or the mode is not on its list.
    """
    if not isinstance(mode, str) or mode not in {Mode.PAIR, Mode.SHEET}:
        raise KeyMapError("The mode is “pair” or “sheet”.")
    chosen = key_map(keys)
    changed = {action: key for action, key in chosen.items() if key != DEFAULT_KEYS[action]}
    Preference.objects.update_or_create(
        annotator_id=annotator_id, defaults={"keys": changed, "mode": mode}
    )
    return chosen, mode
