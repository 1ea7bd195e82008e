import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_oracle

from lookalike.agreement.coefficients import (
    agreement,
    cohen_kappa,
    cohen_kappas,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)

GOLDEN = ["111", "110", "100", "111", "000", "111", "101", "111", "111", "011"]
VOTES = np.array([[int(c) for c in row] for row in GOLDEN])
# item 2 lacks judge 3, item 3 judge 3, item 5 judge 1, item 8 judges 2 and 3
MISSING = [(1, 2), (2, 2), (4, 0), (7, 1), (7, 2)]


def counts_of(table: np.ndarray, is_given: np.ndarray | None = None) -> np.ndarray:
    kept = np.ones_like(table, dtype=bool) if is_given is None else is_given
    return np.stack([((table == code) & kept).sum(axis=1) for code in (0, 1)], axis=1)


def given_mask() -> np.ndarray:
    mask = np.ones_like(VOTES, dtype=bool)
    for place in MISSING:
        mask[place] = False
    return mask


def test_the_golden_panel_of_three():
    figures = agreement(counts_of(VOTES))
    assert figures.n_questions == 10
    assert figures.n_votes == 30
    assert figures.percent == pytest.approx(0.733333, abs=1e-6)
    assert figures.alpha == pytest.approx(0.340909, abs=1e-6)
    assert figures.fleiss == pytest.approx(0.318182, abs=1e-6)
    assert figures.ac1 == pytest.approx(0.562044, abs=1e-6)
    assert figures.prevalence == pytest.approx([8 / 30, 22 / 30])


def test_cohens_kappa_of_every_two_of_the_golden_panel():
    kappas = cohen_kappas(VOTES, np.ones_like(VOTES, dtype=bool))
    upper = [kappas[0, 1], kappas[0, 2], kappas[1, 2]]
    assert upper == pytest.approx([0.210526, 0.210526, 0.523810], abs=1e-6)
    assert np.array_equal(kappas, kappas.T, equal_nan=True)
    assert np.isnan(np.diag(kappas)).all()


def test_the_golden_panel_with_missing_votes():
    figures = agreement(counts_of(VOTES, given_mask()))
    assert figures.n_questions == 9
    assert figures.alpha == pytest.approx(0.273684, abs=1e-6)
    assert figures.ac1 == pytest.approx(0.607513, abs=1e-6)
    assert np.isnan(figures.fleiss)


def test_the_prevalence_paradox():
    counts = np.array([[0, 2]] * 90 + [[1, 1]] * 10)
    figures = agreement(counts)
    assert figures.percent == pytest.approx(0.9)
    assert figures.alpha == pytest.approx(-0.047368, abs=1e-6)
    assert figures.ac1 == pytest.approx(0.889503, abs=1e-6)
    assert figures.prevalence == [0.05, 0.95]
    first = np.array([1] * 90 + [1] * 5 + [0] * 5)
    second = np.array([1] * 90 + [0] * 5 + [1] * 5)
    assert cohen_kappa(first, second) == pytest.approx(-0.052632, abs=1e-6)


def test_when_all_votes_are_equal_only_ac1_has_a_value():
    figures = agreement(np.array([[0, 3]] * 4))
    assert figures.percent == 1.0
    assert figures.ac1 == 1.0
    assert np.isnan([figures.alpha, figures.fleiss]).all()
    assert np.isnan(cohen_kappa(np.ones(3, dtype=int), np.ones(3, dtype=int)))


@pytest.mark.parametrize(
    "counts", [np.zeros((0, 2), int), np.zeros((3, 2), int), np.eye(2, dtype=int)]
)
def test_without_two_votes_on_any_question_nothing_is_defined(counts):
    figures = agreement(counts)
    assert figures.n_questions == figures.n_votes == 0
    assert np.isnan([figures.percent, figures.alpha, figures.ac1, figures.fleiss]).all()


def test_ac1_needs_two_answers():
    with pytest.raises(ValueError, match="two possible answers"):
        gwet_ac1(np.ones((3, 1), dtype=int))


tables = st.integers(2, 12).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0, 1, 2]), min_size=4, max_size=4), min_size=n, max_size=n
    )
)


@given(tables, st.integers(0, 10**6))
def test_alpha_is_that_of_the_package_krippendorff(rows, seed):
    table = np.array(rows, dtype=float)
    table[np.random.default_rng(seed).random(table.shape) < 0.25] = np.nan
    counts = np.stack([(table == code).sum(axis=1) for code in (0, 1, 2)], axis=1)
    pairable = counts[counts.sum(axis=1) >= 2]
    assume(len(pairable) and (pairable.sum(axis=0) > 0).sum() > 1)
    expected = krippendorff.alpha(reliability_data=table.T, level_of_measurement="nominal")
    assert krippendorff_alpha(counts) == pytest.approx(expected, abs=1e-9)


@given(tables)
def test_fleiss_is_that_of_statsmodels_and_cohen_that_of_sklearn(rows):
    table = np.array(rows)
    counts = np.stack([(table == code).sum(axis=1) for code in (0, 1, 2)], axis=1)
    assume((counts.sum(axis=0) > 0).sum() > 1)
    assert fleiss_kappa(counts) == pytest.approx(fleiss_oracle(counts), abs=1e-9)
    if len(np.union1d(table[:, 0], table[:, 1])) > 1:
        expected = cohen_kappa_score(table[:, 0], table[:, 1])
        assert cohen_kappa(table[:, 0], table[:, 1]) == pytest.approx(expected, abs=1e-9)


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_questions_and_the_names_of_answers_do_not_matter(rows, random):
    table = np.array(rows)
    counts = np.stack([(table == code).sum(axis=1) for code in (0, 1, 2)], axis=1)
    shuffled = counts[random.sample(range(len(counts)), len(counts))][:, [2, 0, 1]]
    for figure in (percent_agreement, krippendorff_alpha, gwet_ac1, fleiss_kappa):
        assert figure(shuffled) == pytest.approx(figure(counts), nan_ok=True)


def test_small_integers_agree_as_large_ones_do():
    counts = np.array([[20, 0], [0, 20], [15, 5]])
    assert agreement(counts.astype(np.uint8)) == agreement(counts)
    assert agreement(np.array([[200, 0], [0, 200]], np.uint8)).percent == 1.0
