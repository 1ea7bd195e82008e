"""Had others judged, or the same people once more: would the models still stand in this order?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lookalike.bias.evidence.pool import PoolEvidence, Votes
from lookalike.bias.panels import BATCH, Labelling, macro_auc_on, panel_labels
from lookalike.core.arrays import Bools, Floats
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.defined_values import mean_defined
from lookalike.stats.judge_intervals import FEWEST_JUDGES, judges_interval
from lookalike.stats.proportion import Interval
from lookalike.stats.text_tables import PAGE

N_REDRAWS = 200
FEWEST_VOTERS = 3
_SURE = 0.999  # of a vote, where no two ever disagree


@dataclass(frozen=True)
class JudgedOrder:
    """Two neighbours of the order by macro ROC-AUC on the majority of all judges.

    Attributes:
        better: the model ranked above.
        worse: the next one.
        difference: better - worse.
        over_queries: its interval, over other queries and the same judges.
        over_judges: over other queries and as many other judges.
        kept: share of the redrawn labels under which it stays above; a tie counts half.
    """

    better: str
    worse: str
    difference: float
    over_queries: Interval
    over_judges: Interval
    kept: float


@dataclass(frozen=True)
class JudgeNoise:
    """What the judges add to the doubt about the order of the models.

    Attributes:
        n_judges: of the panel.
        accuracy: estimated chance that one vote is right, from how often two agree.
        wrong: expected share of the labels that are wrong, given the votes.
        n_redraws: times that all labels were drawn anew.
        rows: each two neighbours, the best models first.
    """

    n_judges: int
    accuracy: float
    wrong: float
    n_redraws: int
    rows: tuple[JudgedOrder, ...]


def judge_noise(evidence: PoolEvidence, votes: Votes, resampling: Resampling) -> JudgeNoise:
    """Return how sure the order by macro ROC-AUC is in view of who judged.

    Labels are the majority of the votes, a tie being negative, as in `panel_ablation`.

    Args:
        evidence: the pool.
        votes: the answers behind its labels.
        resampling: bootstrap samples of the queries; its generator draws labels.
    """
    n_judges = len(votes.annotators)
    whole = panel_labels(votes, tuple(range(n_judges)))
    own = [panel_labels(votes, (judge,)) for judge in range(n_judges)]
    found = _on_common(macro_auc_on(evidence, [whole, *own]))
    panel, alone = found[:, 0], found[:, 1:]
    means, _ = mean_defined(panel)
    order = np.argsort(-means, kind="stable").tolist()
    chance = positive_chance(votes)
    drawn = _redrawn_means(evidence, whole.is_labelled, chance, resampling.rng)
    rows = []
    for better, worse in pairwise(order):
        differences = panel[better] - panel[worse]
        gaps = drawn[better] - drawn[worse]
        gaps = gaps[~np.isnan(gaps)]
        rows.append(
            JudgedOrder(
                evidence.models[better],
                evidence.models[worse],
                float(means[better] - means[worse]),
                resampling.differences(differences[:, None])[0],
                judges_interval(
                    differences,
                    alone[better] - alone[worse],
                    resampling.level,
                    groups=evidence.unit_codes,
                ),
                float(((gaps > 0) + (gaps == 0) / 2).mean()) if gaps.size else float("nan"),
            )
        )
    wrong = np.where(whole.labels, 1 - chance, chance)[whole.is_labelled]
    return JudgeNoise(
        n_judges,
        vote_accuracy(votes),
        float(wrong.mean()) if wrong.size else float("nan"),
        N_REDRAWS,
        tuple(rows),
    )


def vote_accuracy(votes: Votes) -> float:
    """Return the chance that a vote is right, if all are equally often and independently wrong.

    Two votes on a pair agree if both are right or both wrong: a² + (1 - a)².

    Args:
        votes: yes-no answers.

    Returns:
        a, from 0.5; NaN where no pair has two votes.
    """
    n = votes.is_given.sum(axis=1).astype(np.float64)
    yes = (votes.answers & votes.is_given).sum(axis=1)
    n_pairs = (n * (n - 1)).sum()
    if not n_pairs:
        return float("nan")
    agreed = float((yes * (yes - 1) + (n - yes) * (n - yes - 1)).sum() / n_pairs)
    return 0.5 + float(np.sqrt(max(0.0, 2.0 * agreed - 1.0))) / 2.0


def positive_chance(votes: Votes) -> Floats:
    """Return the chance that each pair is positive, given its votes.

    Source: Dawid and Skene (Applied Statistics 1979) with one rate of error for all judges, that
    of `vote_accuracy`, and the share of yes among the votes as the chance beforehand.

    Args:
        votes: yes-no answers.

    Returns:
        Shape (n_pairs,); the chance beforehand where there is no vote, and everywhere where no
        pair has two votes.
    """
    yes = (votes.answers & votes.is_given).sum(axis=1)
    n = votes.is_given.sum(axis=1)
    accuracy = vote_accuracy(votes)
    before = float(np.clip(yes.sum() / max(n.sum(), 1), 1 - _SURE, _SURE))
    weight = 0.0
    if not np.isnan(accuracy):
        accuracy = min(accuracy, _SURE)
        weight = float(np.log(accuracy / (1.0 - accuracy)))
    odds = np.log(before / (1.0 - before)) + (2 * yes - n) * weight
    chance: Floats = 1.0 / (1.0 + np.exp(-odds))
    return chance


def _redrawn_means(
    evidence: PoolEvidence, is_labelled: Bools, chance: Floats, rng: np.random.Generator
) -> Floats:
    """Return the macro ROC-AUC of each model under labels drawn anew, (n_models, N_REDRAWS)."""
    parts = []
    for at in range(0, N_REDRAWS, BATCH):
        n = min(BATCH, N_REDRAWS - at)
        drawn = rng.random((n, chance.size)) < chance
        labellings = [Labelling(labels, is_labelled, np.zeros_like(labels)) for labels in drawn]
        parts.append(mean_defined(_on_common(macro_auc_on(evidence, labellings)))[0])
    return np.concatenate(parts, axis=1)


def _on_common(values: Floats) -> Floats:
    """Return values, (n_models, n_labellings, n_queries), where all models have one."""
    return np.where(np.isnan(values).any(axis=0), np.nan, values)


def judge_words(noise: JudgeNoise) -> str:
    """Say what the figures of the order under other judges are."""
    too_few = noise.n_judges < FEWEST_JUDGES
    which = f"without an interval below {FEWEST_JUDGES} judges, because none holds there"
    return (
        f"Macro ROC-AUC on the majority of {noise.n_judges} judges. Other queries and judges: as "
        "many people drawn anew, who may see similarity otherwise"
        f"{'; ' + which if too_few else ''}. Labels redrawn {noise.n_redraws} times from the "
        "votes: a vote is right "
        f"with a chance of {PAGE.share(noise.accuracy)} if all judges err alike, which leaves "
        f"{PAGE.share(noise.wrong)} of the labels wrong."
    )
