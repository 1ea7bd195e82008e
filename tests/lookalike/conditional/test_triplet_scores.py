"""Embeddings and scales against human triplets."""

import math
from collections import defaultdict

import numpy as np
import pytest

from lookalike.conditional.formats.triplet_files import read_triplets
from lookalike.conditional.triplet_scores import (
    distances,
    human_ceiling,
    human_figures,
    score_triplets,
    valid_and_right,
    verdicts,
)
from lookalike.conditional.triplets import TripletTable, group_questions, vectors_for
from lookalike.conditional.types import Triplet
from lookalike.io.errors import InputError
from lookalike.io.vectors import VectorTable

LINE = {"a": 0.0, "b": 1.0, "c": 3.0, "d": -1.0}


def table_of(*texts):
    """Return triplets such as "abc" or "abc color"."""
    split = [text.partition(" ") for text in texts]
    return TripletTable.of(
        [Triplet(one[0], one[1], one[2], condition) for one, _, condition in split]
    )


def on_the_line(table):
    return np.array([[LINE[image]] for image in table.images])


def test_verdicts_say_nearer_farther_or_equally_near():
    table = table_of("abc", "acb", "abd", "bac")
    assert verdicts(table, on_the_line(table), "euclidean").tolist() == [1, -1, 0, 1]


def test_cosine_looks_at_directions_only():
    table = table_of("abc")
    vectors = np.array([[1.0, 0.0], [100.0, 1.0], [0.9, 0.4]])
    assert verdicts(table, vectors, "cosine").tolist() == [1]
    assert verdicts(table, vectors, "euclidean").tolist() == [-1]


def test_scores_by_hand():
    # question a:{b,c} has 3 votes for b and 1 for c; a:{b,d} is a tie of the model, voted 2 to 0;
    # b:{a,c} is voted 1 to 1; condition "x" is all c:{b,a}, voted against the model
    table = table_of("abc", "abc", "abc", "acb", "abd", "abd", "bac", "bca", "cab x")
    score = score_triplets(table, on_the_line(table), "euclidean")
    assert (score.votes.n, score.votes.n_right, score.votes.n_ties) == (9, 4, 2)
    assert score.votes.accuracy == pytest.approx(5 / 9)
    assert score.votes.pessimistic == pytest.approx(4 / 9)
    assert score.votes.decided == pytest.approx(4 / 7)
    assert (score.majority.n, score.majority.n_right, score.majority.n_ties) == (3, 1, 1)
    assert score.n_human_ties == 1
    assert score.ceiling == pytest.approx((3 + 2 + 1 + 1) / 9)
    assert score.by_condition["x"].accuracy == 0
    assert score.by_condition[""].accuracy == pytest.approx(5 / 8)
    assert score.macro == pytest.approx(5 / 16)
    assert score.by_condition_majority["x"].n == 1


def test_no_embedding_beats_the_ceiling_and_the_majority_reaches_it():
    rng = np.random.default_rng(1)
    drawn = [rng.permutation(list("abcd"))[:3] for _ in range(300)]
    table = TripletTable.of([Triplet(*map(str, one)) for one in drawn])
    ceiling = human_ceiling(group_questions(table))
    for seed in range(20):
        vectors = np.random.default_rng(seed).normal(size=(4, 3))
        assert score_triplets(table, vectors).votes.accuracy <= ceiling
    votes: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for anchor, closer, farther in drawn:
        votes[anchor, *sorted((closer, farther))][int(closer > farther)] += 1
    assert ceiling == pytest.approx(sum(map(max, votes.values())) / 300)


def test_blocks_do_not_change_a_verdict_and_an_oracle_agrees():
    rng = np.random.default_rng(2)
    names = [f"{n:03d}" for n in range(50)]
    drawn = [rng.permutation(names)[:3].tolist() for _ in range(9000)]  # more than one block
    table = TripletTable.of([Triplet(*one) for one in drawn])
    vectors = rng.integers(-2, 3, size=(50, 4)).astype(np.float32)  # many ties
    place = {name: row for row, name in enumerate(names)}
    slow = [
        np.sign(
            np.sum((vectors[place[a]] - vectors[place[f]]) ** 2)
            - np.sum((vectors[place[a]] - vectors[place[c]]) ** 2)
        )
        for a, c, f in drawn
    ]
    assert verdicts(table, vectors, "euclidean").tolist() == slow


def test_swapping_candidates_turns_every_verdict_and_scaling_turns_none():
    rng = np.random.default_rng(3)
    drawn = [rng.permutation(20)[:3] for _ in range(200)]
    table = TripletTable.of([Triplet(*(f"{n:02d}" for n in one)) for one in drawn])
    turned = TripletTable.of([Triplet(*(f"{n:02d}" for n in one[[0, 2, 1]])) for one in drawn])
    vectors = rng.normal(size=(20, 6))
    for metric in ("cosine", "euclidean"):
        signs = verdicts(table, vectors, metric)
        assert (verdicts(turned, vectors, metric) == -signs).all()
        assert (verdicts(table, 8 * vectors, metric) == signs).all()


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_candidates_in_one_direction_are_a_tie_whatever_rounding_says(precision):
    rng = np.random.default_rng(0)
    images = [f"i{n}" for n in range(600)]
    anchors, once = rng.normal(size=(2, 200, 64)).astype(precision)
    vectors = np.concatenate([anchors, once, precision(3) * once])
    table = TripletTable.of(
        [Triplet(images[n], images[200 + n], images[400 + n], "") for n in range(200)]
    )
    order = [images.index(name) for name in table.images]
    assert not verdicts(table, vectors[order], "cosine").any()
    moved = vectors.copy()
    moved[400:] += precision(1e-3) * anchors
    assert (verdicts(table, moved[order], "cosine") != 0).all()


def test_a_scale_whose_steps_are_equal_but_for_rounding_has_no_right_answer():
    table = table_of("bac")
    scale = np.array([{"a": 0.1, "b": 0.2, "c": 0.3}[name] for name in table.images])
    assert abs(0.2 - 0.1) != abs(0.2 - 0.3)
    assert human_figures(table, scale).n_undefined == 1


def test_equal_vectors_are_a_tie_to_the_last_bit():
    table = table_of("abc")
    rng = np.random.default_rng(4)
    for size in (3, 511, 512, 513):
        vector, other = rng.normal(size=(2, size)).astype(np.float32)
        for metric in ("cosine", "euclidean"):
            assert verdicts(table, np.stack([other, vector, vector]), metric).tolist() == [0]


def test_the_alien_eggs_give_the_published_figures(shared_data):
    folder = shared_data / "triplets_alien_eggs"
    table = TripletTable.of(read_triplets(folder / "responses_n30.csv").triplets)
    scale = np.array([float(name[1:]) for name in table.images])
    every = human_figures(table, scale)
    assert round(every.single.accuracy, 3) == 0.797
    assert every.n_undefined == 56
    often = human_figures(table, scale, min_votes=3)
    assert often.n_questions == 2_471
    assert round(often.single.accuracy, 3) == 0.770
    assert round(often.majority.accuracy, 3) == 0.881
    random = read_triplets(folder / "responses_n30.csv", where={"sampler": "RandomSampling"})
    drawn = TripletTable.of(random.triplets)
    scale = np.array([float(name[1:]) for name in drawn.images])
    assert round(human_figures(drawn, scale).single.accuracy, 3) == 0.837


def test_a_scale_is_an_embedding_of_one_dimension():
    table = table_of("abc", "abc", "acb", "abd", "cab x")
    scale = on_the_line(table)[:, 0]
    people = human_figures(table, scale)
    model = score_triplets(table, scale[:, None], "euclidean")
    assert people.single.n_right == model.votes.n_right
    assert people.n_undefined == model.votes.n_ties == 1


def test_questions_without_enough_votes_leave_nothing_defined():
    table = table_of("abc")
    assert math.isnan(human_ceiling(group_questions(table), min_votes=2))
    figures = human_figures(table, on_the_line(table)[:, 0], min_votes=2)
    assert (figures.n_questions, figures.single.n) == (0, 0)
    assert math.isnan(figures.majority.accuracy)


def test_swapped_triplets_are_right_when_they_are_called_invalid():
    signs = np.array([1, 1, 0, 0, -1, -1], np.int8)
    swapped = np.array([False, True] * 3)
    assert valid_and_right(signs, swapped).tolist() == [True, True, False, True, False, False]


def test_a_collapsed_embedding_scores_half_on_half_reversed_triplets_and_half_by_expectation():
    triplets = [Triplet("a", "b", "c"), Triplet("b", "a", "c")]
    table = TripletTable.of(triplets, [True, False])
    vectors = np.ones((3, 4))
    assert valid_and_right(verdicts(table, vectors), table.swapped).mean() == 0.5
    score = score_triplets(table, vectors)
    assert (score.votes.accuracy, score.votes.pessimistic) == (0.5, 0.0)
    assert math.isnan(score.votes.decided)


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        (np.ones((2, 2)), "3 images need as many vectors"),
        (np.array([[1.0], [np.nan], [1.0]]), "NaN or infinity"),
        (np.array([[1.0], [0.0], [1.0]]), "length 0"),
    ],
)
def test_bad_vectors_are_refused(vectors, reason):
    with pytest.raises(ValueError, match=reason):
        verdicts(table_of("abc"), vectors)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("kind", [np.float16, np.uint8, np.int64])
def test_vectors_of_any_kind_are_compared_as_those_of_float32(kind, metric):
    table = table_of("abc", "acb")
    vectors = np.array([[250, 0], [240, 200], [1, 240]])
    for compared in (vectors, vectors * 200 if kind is not np.uint8 else vectors):
        assert verdicts(table, compared.astype(kind), metric).tolist() == [1, -1]
        far, close = distances(table, compared.astype(kind), metric)
        assert far[0] > close[0] > 0


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_what_a_precision_cannot_hold_is_refused(metric):
    vectors = np.array([[1, 0], [1, 1], [0, 1]], np.float32)
    for size in (1e30, 1e-30):
        with pytest.raises(ValueError, match=r"too long or too short for .* in float32"):
            verdicts(table_of("abc"), vectors * np.float32(size), metric)
    with pytest.raises(ValueError, match="real numbers, not complex64"):
        verdicts(table_of("abc"), vectors * 1j, metric)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown metric 'cos'; one of cosine, euclidean"):
        verdicts(table_of("abc"), vectors, "cos")  # type: ignore[arg-type]


def test_bad_triplets_are_refused_with_their_place():
    with pytest.raises(ValueError, match="no triplets"):
        TripletTable.of([])
    with pytest.raises(ValueError, match="triplet 1 does not name three images"):
        TripletTable.of([Triplet("a", "b", "c"), Triplet("a", "a", "c")])
    with pytest.raises(ValueError, match="2 flags for 1"):
        TripletTable.of([Triplet("a", "b", "c")], [True, False])
    with pytest.raises(ValueError, match="finite values"):
        human_figures(table_of("abc"), np.array([1.0, np.inf, 0.0]))


def test_vectors_are_found_by_name_and_missing_or_double_ones_are_reported():
    table = table_of("cab")
    vectors = np.arange(8, dtype=np.float32).reshape(4, 2)
    found = vectors_for(table, VectorTable(["b", "z", "a", "c"], vectors))
    assert found.tolist() == [[4, 5], [0, 1], [6, 7]]
    with pytest.raises(InputError, match=r"1 of 3 images .* have no vector \(first: 'c'\)"):
        vectors_for(table, VectorTable(["a", "b", "z", "z"], vectors))
    with pytest.raises(InputError, match="'a' has two vectors"):
        vectors_for(table, VectorTable(["a", "a", "b", "c"], vectors))
