"""The pairs below a pool by stratum: none lost, none twice, none barred."""

from __future__ import annotations

import numpy as np

from lookalike.prevalence.frame import Frame
from lookalike.prevalence.sampling import Stratum, rank_strata

N_IMAGES = 8


def keys(*pairs: tuple[int, int]) -> np.ndarray:
    return np.array([q * N_IMAGES + c for q, c in pairs], np.int64)


def small_frame() -> Frame:
    """Two queries over eight images: a pool of depth 1, then ranks 2-3, then the rest.

    Query 0 is image 0; its lists are 1 2 3 and 2 4 1. Query 1 is image 7; its lists are 6 5 4
    and 6 4 5. Image 3 is barred from query 0 (a list still holds it, as a stale one might).
    """
    lists = {0: ([1, 2, 3], [2, 4, 1]), 1: ([6, 5, 4], [6, 4, 5])}
    listed = [(q, c, r) for q, both in lists.items() for one in both for r, c in enumerate(one, 1)]
    return Frame.of(
        (2, N_IMAGES),
        (Stratum("ranks 2-3", 2, 3), Stratum("below rank 3", 4, None)),
        barred=keys((0, 0), (0, 3), (1, 7)),
        pooled=keys((0, 1), (0, 2), (1, 6)),
        listed=keys(*((q, c) for q, c, _ in listed)),
        ranks=np.array([r for _, _, r in listed]),
    )


def all_of(frame: Frame, stratum: int) -> set[tuple[int, int]]:
    sizes = frame.sizes(stratum)
    queries = np.repeat(np.arange(frame.n_queries), sizes)
    positions = np.concatenate([np.arange(n) for n in sizes])
    images = frame.images(stratum, queries, positions)
    return set(zip(queries.tolist(), images.tolist(), strict=True))


def test_the_strata_are_those_counted_by_hand() -> None:
    frame = small_frame()
    assert all_of(frame, 0) == {(0, 4), (1, 4), (1, 5)}
    assert all_of(frame, 1) == {(0, 5), (0, 6), (0, 7), (1, 0), (1, 1), (1, 2), (1, 3)}
    assert frame.sizes(0).tolist() == [1, 2]
    assert frame.sizes(1).tolist() == [3, 4]


def test_a_pair_belongs_where_its_best_rank_is_and_every_pair_is_somewhere_once() -> None:
    rng = np.random.default_rng(3)
    n_queries, n_images, k, depth = 9, 60, 2, 40
    ranked = [np.array([rng.permutation(n_images)[:depth] for _ in range(n_queries)])
              for _ in range(3)]  # fmt: skip
    best = np.full((n_queries, n_images), 10**6)
    for lists in ranked:
        for q in range(n_queries):
            best[q, lists[q]] = np.minimum(best[q, lists[q]], np.arange(1, depth + 1))
    pooled = np.flatnonzero(best <= k)
    own = np.arange(n_queries) * n_images + np.arange(n_queries)
    frame = Frame.of(
        (n_queries, n_images), rank_strata(k, (5, 20)), barred=own, pooled=pooled,
        listed=np.concatenate([(np.arange(n_queries)[:, None] * n_images + one).ravel()
                               for one in ranked]),
        ranks=np.tile(np.arange(1, depth + 1), 3 * n_queries),
    )  # fmt: skip
    for h, stratum in enumerate(frame.strata):
        last = stratum.last or 10**6
        wanted = (best >= stratum.first) & (best <= last)
        wanted[np.arange(n_queries), np.arange(n_queries)] = False
        assert all_of(frame, h) == {(int(q), int(c)) for q, c in np.argwhere(wanted)}
    n_below = sum(int(frame.sizes(h).sum()) for h in range(len(frame.strata)))
    assert n_below + np.union1d(pooled, own).size == n_queries * n_images


def test_a_pool_below_the_last_bound_leaves_one_stratum() -> None:
    frame = Frame.of(
        (1, 4), rank_strata(600), barred=keys((0, 0)), pooled=np.array([1]),
        listed=np.array([1]), ranks=np.array([1]),
    )  # fmt: skip
    assert [stratum.name for stratum in frame.strata] == ["below rank 600"]
    assert frame.sizes(0).tolist() == [2]
    assert frame.images(0, np.array([0, 0]), np.array([0, 1])).tolist() == [2, 3]
