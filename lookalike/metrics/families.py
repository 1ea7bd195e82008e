"""Families of tests: which paired tests of a board count together in Holm's correction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace

from lookalike.stats.significance import PairedTest, holm


def family_tests(
    tests: Sequence[PairedTest],
    group_of: Mapping[str, str | None],
    private: Collection[str] = (),
) -> list[PairedTest]:
    """Return the tests with Holm's correction within families that no private model changes.

    The public models of one group are a family. Each private model is one with the public models
    of its group: its tests are corrected over themselves alone.

    Args:
        tests: of one measure.
        group_of: by model, whom it may be compared with; None: nobody.
        private: models that only some people see.

    Returns:
        The same tests; the corrected p-value of two models that may not be compared, or that are
        both private, is NaN.
    """
    families: dict[Hashable, list[int]] = defaultdict(list)
    for at, test in enumerate(tests):
        groups = {group_of.get(test.first), group_of.get(test.second)}
        hidden = {test.first, test.second} & set(private)
        if len(groups) == 1 and None not in groups and len(hidden) < 2:
            families[groups.pop(), *hidden].append(at)
    corrected = [replace(test, p_holm=float("nan")) for test in tests]
    for members in families.values():
        for at, p in zip(members, holm([tests[at].p for at in members]).tolist(), strict=True):
            corrected[at] = replace(tests[at], p_holm=p)
    return corrected
