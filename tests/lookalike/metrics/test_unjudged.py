"""Pairs of the pool that were not judged, -1 in TREC's files: as trec_eval takes them."""

import json

import numpy as np
import pytest
import pytrec_eval

import lookalike as lk
from lookalike.cli.main import main

NAMES = {
    "map": "AP",
    "Rprec": "R-Prec",
    "bpref": "bpref",
    "recip_rank": "MRR",
    "infAP": "infAP",
    "ndcg": "nDCG",
    "P_5": "P@5",
    "P_10": "P@10",
    "recall_10": "R@10",
    "ndcg_cut_5": "nDCG@5",
    "map_cut_10": "AP@10",
    "success_1": "Success@1",
}
WANTED = {"map", "Rprec", "bpref", "recip_rank", "infAP", "ndcg", "P.5,10", "recall.10",
          "ndcg_cut.5", "map_cut.10", "success.1"}  # fmt: skip


def graded_pool(seed: int, n_queries: int = 20):
    """Return grades from -1 to 3 and scores with ties; the first query has only -1."""
    rng = np.random.default_rng(seed)
    candidates = [f"c{number:02}" for number in rng.permutation(50)]
    grades = {
        f"q{q:02}": {
            c: -1 if q == 0 else int(rng.choice([-1, -1, 0, 0, 1, 2, 3]))
            for c in rng.choice(candidates, 25, replace=False).tolist()
        }
        for q in range(n_queries)
    }
    run = {
        f"q{q:02}": {
            c: float(rng.integers(-8, 8)) / 4 for c in rng.permutation(candidates)[:30].tolist()
        }
        for q in range(n_queries + 1)
        if q != 3
    }
    return grades, run


def by_trec_eval(grades, run, level=1):
    """Return its values by query. A query with -1 alone, at which pytrec_eval crashes, has 0."""
    judged = {query: row for query, row in grades.items() if max(row.values()) >= 0}
    oracle = pytrec_eval.RelevanceEvaluator(judged, WANTED, relevance_level=level)
    found = oracle.evaluate({query: row for query, row in run.items() if query in judged})
    alone = [query for query in grades if query not in judged and query in run]
    return {query: dict.fromkeys(NAMES, 0.0) for query in alone} | found


def flat(table):
    return [(query, c, value) for query, row in table.items() for c, value in row.items()]


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_every_measure_equals_trec_eval_where_grades_and_unjudged_pairs_are(seed, level):
    grades, run = graded_pool(seed)
    theirs = by_trec_eval(grades, run, level)
    qrels = lk.Qrels.of(flat(grades), min_rel=level)
    [ours] = lk.score(qrels, lk.Run.of("r", flat(run)), list(NAMES.values()), trec=True)
    for theirs_name, name in NAMES.items():
        outcome = ours.outcomes[name]
        by_query = [theirs[query][theirs_name] for query in theirs]
        assert outcome.n_defined == len(by_query)
        assert outcome.value == pytest.approx(np.mean(by_query), abs=1e-7), name
        assert outcome.by_query is not None
        for query, value in zip(qrels.query_ids, outcome.by_query, strict=True):
            if query in theirs:
                assert value == pytest.approx(theirs[query][theirs_name], abs=1e-6), (name, query)


@pytest.mark.parametrize("seed", range(2))
def test_the_command_takes_unjudged_pairs_and_grades_with_trec_alone(seed, tmp_path, capsys):
    grades, run = graded_pool(seed)
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {c} {grade}\n" for q, c, grade in flat(grades))
    )
    (tmp_path / "run.txt").write_text(
        "".join(f"{q} Q0 {c} 1 {score} r\n" for q, c, score in flat(run))
    )
    files = ["--qrels", str(tmp_path / "qrels.txt"), "--run", str(tmp_path / "run.txt")]
    main(["score", *files, "--trec", "--measures", ",".join(NAMES.values()), "--json"])
    measures = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    theirs = by_trec_eval(grades, run)
    for theirs_name, name in NAMES.items():
        mean = np.mean([row[theirs_name] for row in theirs.values()])
        assert f"{measures[name]['value']:.4f}" == f"{mean:.4f}", name


def test_infap_counts_unjudged_pairs_of_the_pool_in_every_mode():
    rows = [("q", "a", 1), ("q", "b", -1), ("q", "c", -1), ("q", "d", 1), ("q", "e", 0)]
    run = lk.Run.of("m", [("q", c, -float(at)) for at, c in enumerate("axbcde")])
    plain = pytrec_eval.RelevanceEvaluator(
        {"q": {c: grade for _, c, grade in rows}}, {"infAP"}
    ).evaluate(run.by_query())["q"]["infAP"]
    qrels = lk.Qrels.of(rows, min_rel=1)
    assert len(qrels) == 3
    products = {image: image.upper() for image in "qabcdex"}
    for mode in ("image", "product"):
        [scored] = lk.score(qrels, run, ["infAP"], products=products, mode=mode)
        assert scored.outcomes["infAP"].value == pytest.approx(plain, abs=1e-7)


def test_a_product_with_a_judged_image_is_judged():
    qrels = lk.Qrels.of([("q", "a1", 0), ("q", "a2", -1), ("q", "d", 1)], min_rel=1)
    same = lk.Qrels.of([("q", "a1", 0), ("q", "d", 1)], min_rel=1)
    run = lk.Run.of("m", [("q", "a1", 3.5), ("q", "a2", 3.0), ("q", "d", 1.5)])
    products = {"q": "q", "a1": "a", "a2": "a", "d": "d"}
    [one], [two] = (
        lk.score(labels, run, ["infAP"], products=products, mode="product", complete=True)
        for labels in (qrels, same)
    )
    assert one.outcomes["infAP"].value == two.outcomes["infAP"].value


def test_labels_that_are_all_negative_are_refused():
    with pytest.raises(lk.InputError, match="no pair is judged"):
        lk.Qrels.of([("q", "a", -1)], min_rel=1)
