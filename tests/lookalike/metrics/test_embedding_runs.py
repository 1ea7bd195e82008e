import numpy as np

from lookalike.core.unit_vectors import unit_rows
from lookalike.metrics.embedding_runs import Gallery, embedding_run


def gallery(rng: np.random.Generator, n_queries: int, n_images: int, n_judged: int) -> Gallery:
    own = rng.choice(n_images, n_queries, replace=False)
    products = rng.integers(-1, n_images // 3, n_images)
    flat = rng.choice(n_queries * n_images, n_judged, replace=False)
    return Gallery(
        query_ids=[f"q{row}" for row in range(n_queries)],
        image_ids=[f"c{row}" for row in range(n_images)],
        own=own,
        query_products=products[own],
        image_products=products,
        judged_queries=flat // n_images,
        judged_images=flat % n_images,
    )


def test_a_run_has_the_nearest_images_and_every_judged_pair_with_its_cosine() -> None:
    rng = np.random.default_rng(3)
    asked = gallery(rng, 7, 60, 80)
    images = rng.normal(size=(60, 5))
    run = embedding_run("m", images[asked.own], images, asked, n_products=3, depth=8)
    cosines = unit_rows(images[asked.own]) @ unit_rows(images).T
    table = run.by_query()
    for query in range(7):
        mine = table[f"q{query}"]
        is_other = (asked.image_products != asked.query_products[query]) | (
            asked.image_products < 0
        )
        is_other[asked.own[query]] = False
        best = [c for c in np.argsort(-cosines[query]) if is_other[c]][:8]
        assert {f"c{c}" for c in best} <= set(mine)
        for c in best:
            assert abs(mine[f"c{c}"] - cosines[query, c]) < 1e-5
    judged = zip(asked.judged_queries, asked.judged_images, asked.is_own, strict=True)
    for query, image, is_own in judged:
        if is_own:
            assert f"c{image}" not in table[f"q{query}"]
            continue
        assert abs(table[f"q{query}"][f"c{image}"] - cosines[query, image]) < 1e-5


def test_lists_grow_until_they_show_enough_products() -> None:
    images = np.array([[1.0, 0.01 * row] for row in range(40)])
    products = np.array([0] + [1] * 20 + list(range(2, 21)))
    asked = Gallery(
        query_ids=["q"],
        image_ids=[f"c{row}" for row in range(40)],
        own=np.array([0]),
        query_products=products[:1],
        image_products=products,
        judged_queries=np.zeros(0, np.int64),
        judged_images=np.zeros(0, np.int64),
    )
    run = embedding_run("m", images[:1], images, asked, n_products=5, depth=6)
    shown = {products[int(name[1:])] for name in run.candidate_ids}
    assert len(shown) >= 5


def test_a_vector_of_zeros_is_alike_to_nothing() -> None:
    assert unit_rows(np.array([[0, 0], [3, 4]], np.float32)).tolist() == [
        [0.0, 0.0],
        np.array([0.6, 0.8], np.float32).tolist(),
    ]


def test_a_score_is_one_number_whichever_search_found_it_and_in_either_direction() -> None:
    """Or two numbers that are a rounding apart change places, and a board says two things."""
    vectors = np.random.default_rng(3).normal(size=(120, 96)).astype(np.float32)
    at = np.arange(120)
    images, none = [f"i{n}" for n in at], np.full(120, -1)
    asked = Gallery(images, images, at, none, none, at[:60], at[60:])
    fast = embedding_run("m", vectors, vectors, asked)
    lean = embedding_run("m", vectors, vectors, asked, is_lean=True, depth=119)
    score_of = {
        (lean.query_ids[q], lean.candidate_ids[c]): score
        for q, c, score in zip(lean.queries, lean.candidates, lean.scores, strict=True)
    }
    for q, c, score in zip(fast.queries, fast.candidates, fast.scores, strict=True):
        query, candidate = fast.query_ids[q], fast.candidate_ids[c]
        assert score == score_of[query, candidate] == score_of[candidate, query]
