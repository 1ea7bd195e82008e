"""How a judge likes the judging page."""

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
