"""The parts of the text report about the pool itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lookalike.bias.attributes import AttributeBias
from lookalike.bias.depth import DepthRow
from lookalike.bias.discovery import Discovery
from lookalike.bias.measurements import MACRO_AUC
from lookalike.bias.overlap import GeneratorRow, Overlap
from lookalike.bias.panels import PanelAblation
from lookalike.stats.text_tables import interval, number, share, table

_MOST_VALUES = 15


def generator_lines(rows: Sequence[GeneratorRow]) -> list[str]:
    """Return what each generator brought."""
    cells = [["model", "family", "proposed", "judged", "positive", "unique", "positive", "yield"]]
    cells += [
        [
            r.name,
            r.family,
            f"{r.n_proposed:,}",
            f"{r.n_judged:,}",
            share(r.precision),
            f"{r.n_unique:,}",
            f"{r.n_unique_positive:,}",
            share(r.unique_yield),
        ]
        for r in rows
    ]
    return table(cells)


def overlap_lines(found: Overlap) -> list[str]:
    """Return the overlap of every two generators, Jaccard in brackets."""
    cells = [["", *found.generators]]
    for i, name in enumerate(found.generators):
        both = zip(found.share[i], found.jaccard[i], strict=True)
        cells.append(
            [name, *("-" if i == j else f"{s:.1%} ({v:.3f})" for j, (s, v) in enumerate(both))]
        )
    return [*table(cells), f"Mean: {share(found.mean_share)}; the Jaccard index in brackets."]


def depth_lines(rows: Sequence[DepthRow]) -> list[str]:
    """Return size, agreement and self-deltas at each depth."""
    pooled = list(rows[0].self_deltas) if rows else []
    header = ["depth", "pairs", "positive", "Spearman", "tau_b", "tau_AP", "drop"]
    cells = [[*header, *(f"{name} alone" for name in pooled)]]
    for r in rows:
        a = next(a for a in r.agreement if a.measure == MACRO_AUC)
        cells.append(
            [
                str(r.depth),
                f"{r.n_pairs:,}",
                f"{r.n_positive:,}",
                number(a.spearman.value),
                number(a.tau_b.value),
                number(a.tau_ap.value),
                number(a.max_drop.value, digits=0),
                *(number(r.self_deltas[name], signed=True) for name in pooled),
            ]
        )
    return [
        *table(cells),
        "Order by macro AUC against full depth; the last columns are each generator's own change "
        "of macro AUC when a pool of that depth is built without it.",
    ]


def panel_lines(found: PanelAblation) -> list[str]:
    """Return how labels and order depend on who judged."""
    cells = [["annotators", "labelled", "ties", "positive", "flipped", "alpha", "tau_b", "drop"]]
    cells += [
        [
            " ".join(r.annotators),
            f"{r.n_labelled:,}",
            f"{r.n_ties:,}",
            f"{r.n_positive:,}",
            share(r.flip_rate),
            number(r.alpha),
            number(r.tau_b),
            number(r.max_drop, 0),
        ]
        for r in found.rows
    ]
    which = "all panels" if found.is_complete else "a seeded part of the panels of each size"
    return [
        *table(cells),
        f"Shown: {which}. Ties of even panels count as negative, so their labels lean to no.",
    ]


def discovery_lines(found: Discovery) -> Iterator[str]:
    """Return what the next model and the next depth may find."""
    unseen = found.next_model
    yield (
        f"{unseen.n_seen:,} positives found, {unseen.n_once:,} by one model, "
        f"{unseen.n_twice:,} by two; coverage {share(unseen.coverage)}"
    )
    yield (
        f"Still unseen by models like these (Chao): {number(unseen.unseen, 1)}, corrected "
        f"{number(unseen.unseen_corrected, 1)}, for few models "
        f"{number(unseen.unseen_few_models, 1)}; models miss the same images, so expect more"
    )
    cells = [["rank", "new pairs", "new positives", "labels per positive"]]
    cells += [
        [str(y.depth), f"{y.n_new:,}", f"{y.n_new_positive:,}", number(y.labels_per_positive, 2)]
        for y in found.by_depth
    ]
    if found.next_depth is not None:
        n = found.next_depth
        expected = (n.n_new, n.n_new_positive, n.labels_per_positive)
        cells.append(
            [
                f"{n.depth} (expected)",
                *(number(x, d) for x, d in zip(expected, (0, 0, 2), strict=True)),
            ]
        )
    yield from table(cells)


def attribute_lines(found: AttributeBias) -> list[str]:
    """Return the values most frequent among pooled positives, and the query's own value."""
    cells = [["value", "positives", "pooled", "interval", "catalogue", "deep sample", "ratio"]]
    cells += [
        [
            v.value,
            f"{v.n_positive:,}",
            share(v.pooled),
            interval(v.interval),
            share(v.catalogue),
            share(v.deep),
            number(v.ratio, 2),
        ]
        for v in found.values[:_MOST_VALUES]
    ]
    return [
        *table(cells),
        f"The query's own value: {share(found.same_as_query_positive)} of pooled positives, "
        f"{share(found.same_as_query_negative)} of pooled negatives, "
        f"{share(found.same_as_query_catalogue)} of the catalogue.",
    ]
