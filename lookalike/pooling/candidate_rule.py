"""Which pictures of a catalog may answer a query, beside the rule on products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class CandidateRuleError(ValueError):
    """A rule contradicts itself; the message says how."""


@dataclass(frozen=True)
class CandidateRule:
    """Which candidates a query may get.

    Attributes:
        same: attributes in which a candidate must have the query's own value; one that lacks
            the attribute is no candidate.
        different: attributes in which a candidate must not have the query's own value; where
            either lacks the attribute, nothing is left out.
        one_of_alike: near-duplicates of the query are no candidates, and of each group of
            near-duplicates only one picture is: of those that all other rules admit, the one of
            the lowest content hash, so that all models propose the same one.
    """

    same: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    one_of_alike: bool = False

    def __post_init__(self) -> None:
        both = [name for name in self.same if name in self.different]
        if both:
            raise CandidateRuleError(
                f"no candidate can have both the same and another {both[0]} than its query"
            )

    def __bool__(self) -> bool:
        return bool(self.same or self.different or self.one_of_alike)

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes that it compares."""
        return (*self.same, *self.different)

    def as_json(self) -> dict[str, Any]:
        """Return the rule as a pool stores it; nothing where all candidates are admitted."""
        if not self:
            return {}
        return {
            "same": list(self.same),
            "different": list(self.different),
            "one_of_alike": self.one_of_alike,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> CandidateRule:
        """Return the rule that `as_json` wrote."""
        return cls(
            same=tuple(stored.get("same", ())),
            different=tuple(stored.get("different", ())),
            one_of_alike=stored.get("one_of_alike", False),
        )

    def describe(self) -> str:
        """Return the rule as words, for a page; empty where all candidates are admitted."""
        words = [f"of the query’s own {name}" for name in self.same]
        words += [f"of another {name} than the query’s" for name in self.different]
        if self.one_of_alike:
            words.append("one of each group of near-duplicates and none like the query")
        return ", ".join(words)


def attributes_in(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas between them, each once."""
    return tuple(dict.fromkeys(filter(None, (name.strip() for name in text.split(",")))))
