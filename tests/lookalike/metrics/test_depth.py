"""Exact depth: what a run may be asked, and what vectors answer below it."""

import math
from dataclasses import replace

import ir_measures
import numpy as np
import pytest

import lookalike as lk
from lookalike.bias.evidence.assemble import assemble_evidence
from lookalike.bias.evidence.files import make_proposals
from lookalike.bias.measurements import coverage_at, precision_at
from lookalike.core.arrays import Floats
from lookalike.core.near_ties import are_tied
from lookalike.io.vectors import VectorTable
from lookalike.metrics import embedding_runs
from lookalike.metrics.embedding_runs import embedding_run, named_gallery
from lookalike.metrics.negatives import draw_negatives
from lookalike.metrics.scoring import Scored
from lookalike.planning.pool_files import named_pool, with_newcomers
from lookalike.search.nearest import nearest_images

DEEP = ("R@100", "R@200", "AP", "nDCG", "R-Prec", "MRR", "infAP", "RBP@0.95", "MAP@R", "AP@150")
SHALLOW = ("P@5", "Success@10", "nDCG@10", "AP'", "bpref", "judged@20", "vsd_hr@5")


def benchmark(seed: int, n_images: int = 400, n_queries: int = 12):
    """Return labels, vectors by name, and products of a random benchmark with deep positives."""
    rng = np.random.default_rng(seed)
    ids = [f"i{number:03}" for number in range(n_images)]
    vectors = rng.normal(size=(n_images, 6)).astype(np.float32)
    queries = ids[:n_queries]
    rows = [
        (query, ids[c], int(rng.random() < 0.4))
        for query in queries
        for c in rng.choice(n_images, 40, replace=False)
        if ids[c] != query
    ]
    products = {image: str(number // 2) for number, image in enumerate(ids)}
    return lk.Qrels.of(rows), ids, vectors, products


def vector_run(qrels, ids, vectors, products=None, **options):
    row_of = {name: row for row, name in enumerate(ids)}
    pairs = [(q, c) for q, c, _ in qrels]
    asked = vectors[[row_of[q] for q in qrels.query_ids]]
    gallery = named_gallery(qrels.query_ids, ids, pairs, products)
    return embedding_run("model", asked, vectors, gallery, is_lean=True, **options)


def full_list(qrels, ids, vectors):
    queries = VectorTable(list(qrels.query_ids), vectors[[ids.index(q) for q in qrels.query_ids]])
    return nearest_images(queries, VectorTable(ids, vectors), len(ids)).as_run("model")


def rows(scored: Scored, name: str) -> Floats:
    """Return the values of each query."""
    by_query = scored.outcomes[name].by_query
    assert by_query is not None
    return by_query


def values(scored: Scored) -> dict[str, float]:
    return {name: outcome.value for name, outcome in scored.outcomes.items()}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mode", ["image", "product"])
def test_vectors_and_the_full_list_give_every_measure_alike(seed, mode, monkeypatch):
    monkeypatch.setattr(embedding_runs, "PAIRS_IN_A_BLOCK", 1500)  # a few queries at a time
    qrels, ids, vectors, products = benchmark(seed)
    rules = {"products": products, "mode": mode}
    names = [*DEEP, *SHALLOW]
    [by_vectors] = lk.score(qrels, vector_run(qrels, ids, vectors, products), names, **rules)
    [by_list] = lk.score(qrels, full_list(qrels, ids, vectors), names, **rules)
    assert values(by_vectors) == pytest.approx(values(by_list), abs=1e-12)
    for name in names:
        np.testing.assert_allclose(rows(by_vectors, name), rows(by_list, name), atol=1e-12)


def test_vectors_score_deep_measures_as_ir_measures_scores_the_whole_list():
    qrels, ids, vectors, _ = benchmark(5)
    [ours] = lk.score(qrels, vector_run(qrels, ids, vectors), ["R@100", "R@200", "AP", "nDCG"])
    theirs = ir_measures.calc_aggregate(
        [ir_measures.R @ 100, ir_measures.R @ 200, ir_measures.AP, ir_measures.nDCG],
        [ir_measures.Qrel(q, c, label) for q, c, label in qrels],
        [
            ir_measures.ScoredDoc(q, c, score)
            for q, row in full_list(qrels, ids, vectors).by_query().items()
            for c, score in row.items()
            if c != q
        ],
    )
    assert values(ours) == pytest.approx({str(m): v for m, v in theirs.items()}, abs=1e-9)


def test_a_run_without_deeper_ranks_leaves_measures_below_its_depth_undefined_with_the_reason():
    qrels, ids, vectors, products = benchmark(1)
    whole = vector_run(qrels, ids, vectors, products)
    shipped = lk.Run.of(
        "shipped",
        [(q, c, s) for q, row in whole.by_query().items() for c, s in row.items()],
        depth=whole.depth,
    )
    assert shipped.depth == embedding_runs.LIST_DEPTH
    names = ["R@50", "R@51", *DEEP, *SHALLOW, "tie_rate@49", "tie_rate@50"]
    [deep] = lk.score(qrels, whole, names, products=products)
    [shallow] = lk.score(qrels, shipped, names, products=products)
    undefined = {name for name, outcome in shallow.outcomes.items() if math.isnan(outcome.value)}
    assert undefined == {*DEEP, "R@51", "tie_rate@50"} - {"R-Prec", "MAP@R"}
    for name in names:
        outcome = shallow.outcomes[name]
        assert bool(outcome.reason) == (name in undefined)
        if name in undefined:
            assert outcome.n_defined == 0
            assert np.isnan(rows(shallow, name)).all()
            assert "50" in outcome.reason
        else:
            assert outcome.value == pytest.approx(deep.outcomes[name].value, abs=1e-12)


def test_a_measure_that_is_undefined_for_one_run_takes_no_query_from_the_others():
    qrels, ids, vectors, _ = benchmark(2)
    whole = full_list(qrels, ids, vectors)
    heads = {q: sorted(row.items(), key=lambda at: -at[1]) for q, row in whole.by_query().items()}
    rows = [(q, c, s) for q, head in heads.items() for c, s in head[:30]]
    cut = lk.Run.of("cut", rows, depth=30)
    [alone] = lk.score(qrels, whole, ["R@40", "P@5"])
    [first, second] = lk.score(qrels, [whole, cut], ["R@40", "P@5"])
    assert first.outcomes["R@40"].value == alone.outcomes["R@40"].value
    assert math.isnan(second.outcomes["R@40"].value)
    assert second.outcomes["P@5"].value == alone.outcomes["P@5"].value


def test_own_images_in_the_head_of_a_list_make_it_complete_to_fewer_ranks():
    qrels = lk.Qrels.of([("q", "a", 1), ("q", "b", 0), ("q", "z", 1)])
    rows = [("q", "q", 5.0), ("q", "own", 4.0), ("q", "a", 3.5), ("q", "x", 3.0), ("q", "b", 1.25),
            ("q", "z", 1.0)]  # fmt: skip
    run = lk.Run.of("m", rows, depth=4)
    products = {"q": "1", "own": "1", "a": "2", "b": "3", "x": "4", "z": "5"}
    [scored] = lk.score(qrels, run, ["P@2", "P@3"], products=products)
    assert scored.outcomes["P@2"].value == 0.5
    assert math.isnan(scored.outcomes["P@3"].value)


def test_a_list_shorter_than_the_depth_is_complete():
    qrels = lk.Qrels.of([("q", "a", 1), ("q", "b", 0)])
    run = lk.Run.of("m", [("q", "a", 3.5), ("q", "x", 3.0), ("q", "b", 1.25)], depth=50)
    [scored] = lk.score(qrels, run, ["AP", "R@100"])
    assert values(scored) == {"AP": 1.0, "R@100": 1.0}


def test_a_depth_below_one_is_refused():
    with pytest.raises(lk.InputError, match="depth"):
        lk.Run.of("m", [("q", "a", 1.0)], depth=0)


def test_vsd_measures_are_undefined_below_the_products_of_the_exact_head():
    qrels = lk.Qrels.of([("q", "a1", 1), ("q", "b", 0), ("q", "c", 1)])
    rows = [("q", "a1", 5.5), ("q", "a2", 5.0), ("q", "b", 4.0), ("q", "c", 1.0)]
    products = {"q": "q", "a1": "a", "a2": "a", "b": "b", "c": "c"}
    [scored] = lk.score(qrels, lk.Run.of("m", rows, depth=3), ["vsd_hr@2", "vsd_hr@3"],
                        products=products, complete=True)  # fmt: skip
    assert scored.outcomes["vsd_hr@2"].value == 0.5
    assert math.isnan(scored.outcomes["vsd_hr@3"].value)


def test_candidates_that_tie_with_the_last_exact_rank_are_in_the_run():
    vectors = np.repeat(np.eye(4, dtype=np.float32), 10, axis=0)
    ids = [f"i{number:02}" for number in range(40)]
    qrels = lk.Qrels.of([("i00", "i39", 1), ("i00", "i01", 0)])
    run = vector_run(qrels, ids, vectors, depth=5, n_products=5)
    assert set(run.by_query()["i00"]) == {*ids[1:10], "i39"}
    assert run.depth == 5


def test_nearest_images_know_down_to_which_rank_they_are_complete():
    _, ids, vectors, _ = benchmark(0)
    table = VectorTable(ids, vectors)
    assert nearest_images(table, table, 50).as_run("cut").depth == 50
    for k in (len(ids) - 1, len(ids)):
        assert nearest_images(table, table, k).as_run("whole").depth is None


def test_no_cosine_is_above_one_and_collinear_vectors_tie():
    rng = np.random.default_rng(4)
    directions = rng.normal(size=(20, 64)).astype(np.float32)
    lengths = rng.uniform(0.1, 9, size=(30, 1)).astype(np.float32)
    vectors = np.concatenate([directions, directions[:1] * lengths])
    ids = [f"i{number:02}" for number in range(len(vectors))]
    rows = [("i01", ids[20 + c], c % 2) for c in range(30)]
    rows += [("i00", ids[20 + c], c % 2) for c in range(30)]
    qrels = lk.Qrels.of(rows)
    run = vector_run(qrels, ids, vectors)
    assert run.scores.max() <= 1.0
    [scored] = lk.score(qrels, run, ["macro_roc_auc", "AP"])
    assert scored.outcomes["macro_roc_auc"].value == 0.5
    assert max(nearest_images(VectorTable(ids, vectors), VectorTable(ids, vectors), 5).scores) <= 1


@pytest.mark.parametrize("d", [2, 3, 64, 512, 2048])
@pytest.mark.parametrize("seed", range(3))
def test_collinear_vectors_of_any_length_tie_and_rank_by_name(d, seed):
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.normal(size=(200, 1)) * 2)
    near = np.exp(2 * rng.normal(size=d))
    query = near / np.linalg.norm(near) + 0.3 * rng.normal(size=d) / d**0.5
    others = rng.normal(size=(20, d))
    vectors = np.concatenate([query[None], near * lengths, others]).astype(np.float32)
    ids = ["q", *(f"i{number:03}" for number in rng.permutation(len(vectors) - 1))]
    qrels = lk.Qrels.of([("q", ids[1 + c], c % 2) for c in range(200)])
    [scored] = lk.score(qrels, vector_run(qrels, ids, vectors), ["macro_roc_auc"])
    assert scored.outcomes["macro_roc_auc"].value == 0.5
    asked, catalog = VectorTable(["q"], vectors[:1]), VectorTable(ids, vectors)
    everything = list(nearest_images(asked, catalog, len(ids)).candidates)
    tied = {ids[1 + c] for c in range(200)}
    assert [name for name in everything if name in tied] == sorted(tied)
    for k in (1, 7, 190):
        assert nearest_images(asked, catalog, k).candidates == everything[:k]


def test_scores_that_differ_by_more_than_rounding_do_not_tie():
    scores = np.array([1.0, 0.9, 0.5], np.float32)
    assert are_tied(scores, np.nextafter(scores, np.float32(2))).all()
    assert not are_tied(scores, scores - np.float32(4e-7)).any()


POOL = [("q", c, "net", rank) for rank, c in enumerate("abcd", 1)]
LISTED = dict(zip("abcxyzd", (9.5, 8.5, 7.5, 6.5, 5.5, 4.5, 1.0), strict=True))


def cut_run(depth: int | None) -> lk.Run:
    """A run of one query whose last pair was appended because it was judged."""
    return lk.Run.of("net", [("q", c, s) for c, s in LISTED.items()], depth=depth)


def test_a_pool_is_as_deep_as_the_shortest_exact_list():
    pairs = [(q, c, m, r) for q, c, m, r in POOL if r < 4] + [("q", "a", "other", 1)]
    proposals = make_proposals(pairs)
    assert named_pool(proposals, [cut_run(None)]).pool.depth == 3
    cut = named_pool(proposals, [cut_run(2)]).pool
    assert (cut.depth, cut.ranks.tolist()) == (1, [[1, 2, 0]])
    with pytest.raises(lk.InputError, match=r"net.*down to rank 2 only.*3 deep"):
        named_pool(make_proposals(pairs[:3]), [cut_run(2)])


def test_newcomers_propose_as_deep_as_the_pool_or_are_refused():
    newcomer = replace(cut_run(6), name="new")
    proposals = make_proposals([("q", c, "net", r) for r, c in enumerate("abcdef", 1)])
    found = with_newcomers(proposals, [newcomer], {"q"})
    new = [found.candidate_ids[c] for c, m in zip(found.candidates, found.models, strict=True)
           if found.generators[m] == "new"]  # fmt: skip
    assert new == [*"abcxyz"]
    with pytest.raises(lk.InputError, match=r"new.*down to rank 5 only"):
        with_newcomers(proposals, [replace(newcomer, depth=5)], {"q"})


@pytest.mark.parametrize("products", [None, dict(zip("qabcxyzd", "qabbxyzd", strict=True))])
def test_a_band_below_the_exact_depth_of_a_reference_is_refused(products):
    qrels = lk.Qrels.of([("q", "a", 1), ("q", "d", 0)])
    options = {"band": (4, 6), "seed": 0, "products": products}
    with pytest.raises(lk.InputError, match="run 'net' is complete down to"):
        draw_negatives(qrels, [cut_run(5)], **options)
    whole = draw_negatives(qrels, [cut_run(None)], **options)
    assert {candidate for _, candidate in whole.pairs} <= {"x", "y", "z"}


def test_bias_leaves_precision_below_the_exact_depth_undefined():
    qrels = lk.Qrels.of([("q", c, int(c in "ad")) for c in "abcd"])
    runs = [cut_run(6), replace(cut_run(None), name="whole")]
    evidence = assemble_evidence(qrels, make_proposals(POOL), runs)
    kept = np.ones((1, 4), np.bool_)
    assert precision_at(evidence, kept, 6).ravel() == pytest.approx([1 / 6, 1 / 6])
    found = precision_at(evidence, kept, 7).ravel()
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(2 / 7)
    seen = coverage_at(evidence, 7)
    assert np.isnan(seen.judged[0]).all()
    assert seen.judged[1] == pytest.approx(4 / 7)
