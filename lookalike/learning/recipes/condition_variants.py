"""The methods of the tables of conditions, and the settings that each may be trained with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lookalike.core.errors import Refused
from lookalike.learning.conditions.networks import Architecture
from lookalike.learning.recipes.runners import Run

SINGLE = "single embedding"
_SET, _REGULARISED = Architecture("DiscoverNet"), Architecture("DiscoverNet", branch="regularised")
NETWORKS: dict[str, Architecture] = {
    SINGLE: Architecture("single"),
    "CSN": Architecture("CSN"),
    "mixture": Architecture("mixture"),
    "mixture by order": Architecture("mixture", is_by_order=True),
    "LSN": Architecture("LSN"),
    "SCE-Net": Architecture("SCE-Net"),
    "DiscoverNet-Set, frozen branch": _SET,
    "DiscoverNet-Set, trained branch": Architecture("DiscoverNet", is_branch_trained=True),
    "DiscoverNet-Set, residual": Architecture("DiscoverNet", is_residual=True),
    "DiscoverNet-Set, masks": Architecture("DiscoverNet", is_masked=True),
    "DiscoverNet-Reg, frozen branch": _REGULARISED,
    "DiscoverNet-Reg, trained branch": Architecture(
        "DiscoverNet", branch="regularised", is_branch_trained=True
    ),
    "DiscoverNet, concatenation": Architecture("DiscoverNet", branch="concatenation"),
    "DiscoverNet, LSTM": Architecture("DiscoverNet", branch="lstm"),
    "DiscoverNet, attention": Architecture("DiscoverNet", branch="attention"),
}
ALIASES = {  # the branch is frozen unless the name says otherwise
    "DiscoverNet-Set": "DiscoverNet-Set, frozen branch",
    "DiscoverNet-Reg": "DiscoverNet-Reg, frozen branch",
}
SPACE, PROMPTS, FROM_PROMPTS = "text space", "heads of prompts", "DiscoverNet-Set from prompts"
NEED_A_SPACE = (SPACE, PROMPTS, FROM_PROMPTS)
OF_TRAINING = ("n_learnt", "epochs", "rate", "n_conditions", "begins_with")
OF_NETWORK = (
    "is_branch_trained", "is_squared", "is_cosine", "is_residual", "temperature", "scale",
)  # fmt: skip
CHANGES = (*OF_TRAINING, *OF_NETWORK)  # that a variant or a choice may make


@dataclass(frozen=True)
class Variant:
    """A row of the table.

    Attributes:
        method: one of NETWORKS or NEED_A_SPACE.
        settings: the table's settings, with the row's changes.
        choices: changes to these settings, of which a validation part chooses one; empty where
            the settings stay as they are.
    """

    method: str
    settings: Mapping[str, Any]
    choices: tuple[Mapping[str, Any], ...] = ()

    @property
    def network_changes(self) -> dict[str, Any]:
        """The settings that change the network's architecture."""
        return {name: self.settings[name] for name in OF_NETWORK if name in self.settings}

    def chosen(self, changes: Mapping[str, Any]) -> Variant:
        """Return the row with one of its choices made."""
        return Variant(self.method, {**self.settings, **changes})


def list_variants(settings: Mapping[str, Any], run: Run) -> dict[str, Variant]:
    """Return the rows of a table by name; the single embedding is always one of them.

    Raises:
        Refused: a method is not known, or needs a space.
    """
    usual = _known_rows(settings)
    rows = {**{name: Variant(name, settings) for name in [*NETWORKS, *NEED_A_SPACE]}, **usual}
    known = [name for name, row in rows.items() if run.space or row.method not in NEED_A_SPACE]
    wanted = _whole_names(run.methods, [*known, *ALIASES, *NEED_A_SPACE])
    names = wanted or [name for name in [*usual, *NEED_A_SPACE] if name in known]
    names = [name if name in rows else ALIASES.get(name, name) for name in names]
    if unknown := [name for name in names if name not in known]:
        hint = "needs --space" if unknown[0] in NEED_A_SPACE else f"is none of {', '.join(known)}"
        raise Refused("methods", f"{unknown[0]!r} {hint}")
    if SINGLE not in names:
        names.insert(0, SINGLE)  # the row that all others have to beat
    found = _for_each_number({name: rows[name] for name in names}, run.conditions)
    return {name: _with_choices(row) for name, row in found.items()}


def _known_rows(settings: Mapping[str, Any]) -> dict[str, Variant]:
    rows = {ALIASES.get(name, name): Variant(ALIASES.get(name, name), settings)
            for name in settings["methods"]}  # fmt: skip
    for own in settings.get("variants", ()):
        changes = {name: own[name] for name in CHANGES if name in own}
        method = ALIASES.get(own["method"], own["method"])
        rows[own["name"]] = Variant(method, {**settings, **changes})
    return rows


def _whole_names(parts: Sequence[str], known: Sequence[str]) -> list[str]:
    """Join names that a comma within them has parted.

    >>> _whole_names(["LSN", "DiscoverNet-Reg", "frozen branch"], [*NETWORKS, *ALIASES])
    ['LSN', 'DiscoverNet-Reg, frozen branch']
    """
    names: list[str] = []
    first = 0
    while first < len(parts):
        ends = range(len(parts), first, -1)
        joined = {end: ", ".join(parts[first:end]) for end in ends}
        end = next((end for end in ends if joined[end] in known), first + 1)
        names.append(joined[end])
        first = end
    return names


def _for_each_number(rows: dict[str, Variant], numbers: Sequence[int]) -> dict[str, Variant]:
    """Replace each row that infers conditions by one row for each number of conditions."""
    if not numbers:
        return rows
    if min(numbers) < 1:
        raise Refused("conditions", "each number is at least 1")
    found = {}
    for name, row in rows.items():
        if row.method in (*NEED_A_SPACE, SINGLE, "CSN"):
            found[name] = row
            continue
        for K in numbers:
            settings = {**row.settings, "n_conditions": K}
            found[f"{name}, K = {K}"] = Variant(row.method, settings)
    return found


def _with_choices(row: Variant) -> Variant:
    if row.method not in NETWORKS:
        return row
    choices = tuple(
        {name: value for name, value in one.items() if name in CHANGES}
        for one in row.settings.get("choices", ())
        if row.method in one.get("methods", (row.method,))
    )
    return Variant(row.method, row.settings, choices)
