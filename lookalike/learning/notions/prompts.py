"""The prompts that say a notion: sentences that differ in nothing but what shall count."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from lookalike.core.errors import Refused

# Kobs, Steininger and Hotho (WACV 2023), table 1: by what differs
TEMPLATES = {
    "photo": "a photo of a {}",
    "car colour": "a {} car",
    "car background": "a car in front of a {} background",
    "car manufacturer": "a photo of a car produced by {}",
    "clothing": "a photo of a person wearing a {}",
    "clothing texture": "a photo of a person wearing clothes with a {} texture",
    "clothing fabric": "a photo of a person wearing clothes made out of {}",
    "clothing fit": "a photo of a person wearing clothes with a {} fit",
    "movie genre": "a poster of a {} movie",
    "movie country": "a poster of a movie produced in {}",
}
FEWEST, MOST = 2, 5_000
LONGEST = 500


@dataclass(frozen=True)
class Prompts:
    """Two or more different sentences.

    Attributes:
        texts: in the order in which they were given.
    """

    texts: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Of the sentences in their order."""
        return hashlib.sha256("\n".join(self.texts).encode()).hexdigest()


def prompts_from_list(texts: Iterable[str]) -> Prompts:
    """Return prompts as they were written; white space around them and empty lines do not count.

    Raises:
        Refused: fewer than two, too many, too long, or two that are equal.
    """
    return Prompts(tuple(_distinct("prompts", texts)))


def prompts_from_words(words: Iterable[str], template: str) -> Prompts:
    """Return a template filled with one word after the other.

    Args:
        words: what differs, e.g. colours.
        template: with {} once, where a word goes.

    Raises:
        Refused: a template without its gap, or words as `prompts_from_list` refuses prompts.
    """
    check_template("template", template)
    return Prompts(tuple(template.replace("{}", word) for word in _distinct("words", words)))


def prompts_from_values(values: Iterable[str], template: str) -> Prompts:
    """Return a template filled with the values that an attribute has, each once, by alphabet.

    Raises:
        Refused: fewer than two values, or as `prompts_from_words`.
    """
    words = sorted({value.strip() for value in values if value.strip()})
    if len(words) < FEWEST:
        what = f"its one value is {words[0]!r}" if words else "it has no value"
        raise Refused("attribute", f"{what}; a notion needs at least two that differ")
    return prompts_from_words(words, template)


def check_template(field: str, template: str) -> None:
    """Pass if a template has one gap for a word.

    Raises:
        Refused: it has none, or several.
    """
    if template.count("{}") != 1:
        raise Refused(field, f"{template!r} must have {{}} once, where a word goes")


def _distinct(field: str, texts: Iterable[str]) -> list[str]:
    found = [text.strip() for text in texts]
    found = [text for text in found if text]
    seen: set[str] = set()
    for text in found:
        if text in seen:
            raise Refused(field, f"{text!r} is there twice; each may be there once")
        if len(text) > LONGEST:
            raise Refused(field, f"{text[:40]!r}… is longer than {LONGEST} characters")
        seen.add(text)
    if not FEWEST <= len(found) <= MOST:
        n = f"{len(found):,} {'is' if len(found) == 1 else 'are'} given"
        raise Refused(field, f"{n}; from {FEWEST} to {MOST:,} are needed")
    return found
