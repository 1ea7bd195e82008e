"""Can silent controls be told from the order in which pairs are served? A classifier tries.

Simulated campaigns (other pools, panels and shares of controls each), served by the site's own
ordering: where everyone judges every pair, and where three of six do, each at a pace of their
own, and some go away and leave what they were lent to others; and both where pairs close early, so
that later judges are asked those alone on which the others differ. For every pair served, the
attacker knows all that the sequence tells but what the judge remembers of the pair itself: where
it stands in the queue and in its visit, how long the visit and those beside it are, how often, how
long ago and with how many pairs the query was there before, how many of its pairs came and will.
Gradient boosted trees learn on half of the judges of each campaign, and are scored on the other
half.

    python docs/simulations/control_classifier.py [--campaigns 20]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from annotation.order.closing import chance_to_move
from annotation.order.shared_order import (
    BATCH,
    LEAST,
    MORE,
    Controls,
    n_due_again,
    shared_order,
    whole_queries,
)
from annotation.order.visits import (
    AS_IT_IS,
    MIRRORED,
    REPEATED,
    AskedPairs,
    JudgeOrder,
    judge_order,
    n_asked_again,
)
from lookalike.agreement.majority import is_settled
from lookalike.core.arrays import Ints

N_JUDGES = 6
K = 3  # of them judge each pair, where not all do
FIRST_GOLD = 10**9
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Serve = Callable[[int, int, int], list["Served"]]


@dataclass(frozen=True)
class Served:
    """What one judge is served: shape (n,) each.

    Attributes:
        query_ids: the query of each pair.
        candidate_ids: the other picture of each pair.
        is_control: whether it is gold, or the control of a pair that is asked again.
        is_checked: whether it is gold, or either of the two times that a pair is asked.
    """

    query_ids: Ints
    candidate_ids: Ints
    is_control: Flags
    is_checked: Flags


@dataclass(frozen=True)
class MadeCampaign:
    """What a campaign asks; `n_repeats` and `n_mirrors` follow from the percentages.

    `gold` is shape (n_gold, 2), `gold_candidates` shape (n_gold,).
    """

    pairs: AskedPairs
    gold: Ints
    gold_candidates: Ints
    repeat_percent: int
    mirror_percent: int


def make_campaign(seed: int, n_queries: int, n_phases: int = 1) -> MadeCampaign:
    """Return a campaign.

    Queries are a third of the catalog's images, as where a pool draws them from it; each has 12
    to 45 candidates. 2 to 6 percent of the pairs are gold, repeats and mirrored each.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(12, 46, n_queries)
    query_ids = np.repeat(np.arange(n_queries), sizes)
    candidates = [rng.choice(np.arange(3 * n_queries), n, replace=False) for n in sizes]
    pairs = AskedPairs(
        np.arange(query_ids.size), query_ids, np.concatenate(candidates),
        rng.integers(0, n_phases, query_ids.size),
    )  # fmt: skip
    gold_percent, repeat_percent, mirror_percent = rng.integers(2, 7, 3).tolist()
    n_gold = gold_percent * query_ids.size // 100
    gold = np.stack([FIRST_GOLD + np.arange(n_gold), rng.choice(query_ids, n_gold)], axis=1)
    of_gold = rng.integers(3 * n_queries, size=n_gold)
    return MadeCampaign(pairs, gold, of_gold, repeat_percent, mirror_percent)


def simulate(seed: int, n_queries: int, n_phases: int = 1) -> list[Served]:
    """Return what each judge of one campaign is served where everyone judges every pair."""
    made = make_campaign(seed, n_queries, n_phases)
    return [_served(made, order.question_ids, order.ways) for order in _orders(made, seed)]


def _orders(made: MadeCampaign, seed: int) -> list[JudgeOrder]:
    """Return each judge's whole queue."""
    n_pairs = made.pairs.question_ids.size
    return [
        judge_order(
            made.pairs,
            made.gold,
            np.random.default_rng([seed, judge]),
            n_repeats=n_asked_again(n_pairs, made.repeat_percent),
            n_mirrors=n_asked_again(n_pairs, made.mirror_percent),
        )
        for judge in range(N_JUDGES)
    ]


class _Lending:
    """A campaign in which K of the panel judge each pair, and judges are lent batches."""

    def __init__(self, made: MadeCampaign, rng: np.random.Generator) -> None:
        self._made, self._rng = made, rng
        self._in_order = shared_order(made.pairs, rng, mirror_percent=made.mirror_percent)
        n_pairs = self._in_order.size
        self._is_wanted = np.full((N_JUDGES, n_pairs), True)
        self.n_free = np.full(n_pairs, K)
        is_again = np.isin(  # asked both ways: never mirrored
            made.pairs.candidate_ids * 10**6 + made.pairs.query_ids,
            made.pairs.query_ids * 10**6 + made.pairs.candidate_ids,
        )
        swappable = np.where(is_again, -1, made.pairs.candidate_ids)
        self._pairs = replace(made.pairs, candidate_ids=swappable, phases=0 * made.pairs.phases)
        is_query = made.pairs.query_ids == made.gold[:, 1:]
        self._gold_pair = (is_query * rng.random((N_JUDGES, *is_query.shape))).argmax(axis=2)
        self._percents = Controls(
            made.repeat_percent, made.mirror_percent, 100 * len(made.gold) / n_pairs
        )
        self._n_asked = np.zeros((N_JUDGES, 3), np.int64)
        self._n_lent = np.zeros(N_JUDGES, np.int64)

    def can_have(self) -> Flags:
        """Return which judges may be lent something."""
        return np.asarray((self._is_wanted & (self.n_free > 0)).any(axis=1))

    def lend(self, judge: int) -> tuple[Ints, JudgeOrder]:
        """Lend a judge a batch; return its pairs, and what is asked."""
        made, pairs, in_order = self._made, self._pairs, self._in_order
        open_places = np.flatnonzero((self._is_wanted[judge] & (self.n_free > 0))[in_order])
        size = int(np.clip((self.n_free > 0).sum() // (2 * N_JUDGES), LEAST, BATCH))
        ahead = in_order[open_places[: size + MORE]]
        claimed = ahead[: whole_queries(pairs.query_ids[ahead].tolist(), size)]
        self._is_wanted[judge, claimed] = False
        self.n_free[claimed] -= 1
        self._n_lent[judge] += claimed.size
        n_asked = self._n_asked[judge]
        gold = made.gold[np.isin(self._gold_pair[judge], claimed)]
        n_repeats, n_mirrors = n_due_again(
            self._percents,
            Controls(*n_asked.tolist()),
            n_pairs=int(self._n_lent[judge]),
            n_claimed=claimed.size,
            n_gold=len(gold),
        )
        queries = pairs.query_ids[claimed]
        batch = AskedPairs(
            claimed, queries, pairs.candidate_ids[claimed], pairs.phases[claimed],
            np.isin(made.pairs.candidate_ids[claimed], queries).astype(np.int64),
        )  # fmt: skip
        order = judge_order(
            batch, gold, self._rng,
            n_repeats=n_repeats, n_mirrors=n_mirrors, makes_up=n_repeats > 0,
        )  # fmt: skip
        n_asked += [*((order.ways == way).sum() for way in (REPEATED, MIRRORED)), len(gold)]
        return claimed, order


def simulate_k_of_n(seed: int, n_queries: int, n_phases: int = 1) -> list[Served]:
    """Return what each judge of one campaign is served where K of them judge each pair.

    Who claims next is drawn, judges being of several paces. One batch in ten is given back and
    offered again to all, as where a judge goes away and the lease runs out.
    """
    made = make_campaign(seed, n_queries, n_phases)
    rng = np.random.default_rng([seed, n_queries])
    lending = _Lending(made, rng)
    queues: list[list[JudgeOrder]] = [[] for _ in range(N_JUDGES)]
    pace = rng.uniform(0.2, 1, N_JUDGES)
    while (can_have := lending.can_have()).any():
        judge = int(rng.choice(N_JUDGES, p=pace * can_have / (pace * can_have).sum()))
        claimed, order = lending.lend(judge)
        if rng.random() < 0.1:
            lending.n_free[claimed] += 1
        else:
            queues[judge].append(order)
    return [
        _served(
            made,
            np.concatenate([order.question_ids for order in queue]),
            np.concatenate([order.ways for order in queue]),
        )
        for queue in queues
    ]


class _Queue:
    """What one judge has been given in a campaign that closes pairs early; entries are its places.

    `orders` follow each other: one of all pairs, or batches as they are lent.
    """

    def __init__(self, made: MadeCampaign) -> None:
        self._made = made
        none, nothing = np.zeros(0, np.int64), np.zeros(0, np.bool_)
        self.served = Served(none, none, nothing, nothing)
        self.pair = np.zeros(0, np.int64)
        self.is_pair, self.is_open, self.is_done = (np.zeros(0, np.bool_) for _ in range(3))
        self.visit = np.zeros(0, np.int64)
        self.entry = np.full(made.pairs.question_ids.size, -1)
        self.next = 0

    def give(self, order: JudgeOrder) -> None:
        """Let the judge have more to answer."""
        n = self.pair.size
        served = _served(self._made, order.question_ids, order.ways)
        is_plain = order.question_ids < FIRST_GOLD
        is_pair = (order.ways == AS_IT_IS) & is_plain
        pair = np.where(is_plain, order.question_ids, -1)
        self.entry[pair[is_pair]] = n + np.flatnonzero(is_pair)
        visit = np.cumsum(np.diff(served.query_ids, prepend=-1) != 0)
        self.visit = np.append(self.visit, self.visit[-1:].sum() + visit)
        old = self.served
        self.served = Served(
            np.append(old.query_ids, served.query_ids),
            np.append(old.candidate_ids, served.candidate_ids),
            np.append(old.is_control, served.is_control),
            np.append(old.is_checked, served.is_checked),
        )
        self.pair, self.is_pair = np.append(self.pair, pair), np.append(self.is_pair, is_pair)
        self.is_open = np.append(self.is_open, np.full(is_pair.size, True))
        self.is_done = np.append(self.is_done, np.full(is_pair.size, False))

    def answer(self) -> int | None:
        """Answer what comes next; return its pair if that is a vote, -1 if not, None at the end."""
        ahead = np.flatnonzero(self.is_open[self.next :])
        if not ahead.size:
            return None
        at = self.next + int(ahead[0])
        self.next = at + 1
        self.is_open[at], self.is_done[at] = False, True
        return int(self.pair[at]) if self.is_pair[at] else -1

    def close(self, pair: int, rng: np.random.Generator) -> None:
        """Let a settled pair leave, and checks with it, as `closing_checks` does."""
        entry = self.entry[pair]
        if entry < 0 or not self.is_open[entry]:
            return
        self.is_open[entry] = False
        begin, end = np.searchsorted(self.visit, [self.visit[entry], self.visit[entry] + 1])
        is_pair, is_open = self.is_pair[begin:end], self.is_open[begin:end]
        n_here = int((is_pair & is_open).sum())
        n_gone = int((is_pair & ~is_open & ~self.is_done[begin:end]).sum())
        chance = chance_to_move(1, n_here, n_gone, is_leaving=True)
        checks = np.flatnonzero(~is_pair & is_open)
        is_open[checks[rng.random(checks.size) < chance]] = False  # a view
        if not (self.is_pair & self.is_open).any():
            self.is_open[:] = False

    def given(self) -> Served:
        """Return what the judge was asked in the end."""
        done, whole = self.is_done, self.served
        return Served(*(column[done] for column in vars(whole).values()))


class _Votes:
    """Votes that come in and close pairs.

    Queries are easy or hard: up to half of the votes go astray. A pair closes as soon as no vote
    can change its majority; a tie is “different”.
    """

    def __init__(self, made: MadeCampaign, n_wanted: int, rng: np.random.Generator) -> None:
        n_pairs = made.pairs.question_ids.size
        astray = (rng.beta(1, 2.5, int(made.pairs.query_ids.max()) + 1) / 2)[made.pairs.query_ids]
        self._chance = np.where(rng.random(n_pairs) < 0.25, 1 - astray, astray)
        self._votes = np.zeros((n_pairs, 2), np.int64)
        self._n_wanted, self._rng = n_wanted, rng

    def add(self, pair: int, queues: Sequence[_Queue]) -> bool:
        """Vote on a pair; return whether that settled it, so that it left the queues."""
        self._votes[pair, int(self._rng.random() > self._chance[pair])] += 1
        n_similar, n_different = self._votes[pair].tolist()
        is_over = is_settled(n_similar, n_different, self._n_wanted, "negative")
        for queue in queues if is_over else ():
            queue.close(pair, self._rng)
        return is_over


def simulate_closing(seed: int, n_queries: int, n_phases: int = 1) -> list[Served]:
    """Return what each judge is served where everyone judges, and pairs close early.

    Judges are of several paces.
    """
    made = make_campaign(seed, n_queries, n_phases)
    rng = np.random.default_rng([seed, n_queries])
    queues = [_Queue(made) for _ in range(N_JUDGES)]
    for queue, order in zip(queues, _orders(made, seed), strict=True):
        queue.give(order)
    votes = _Votes(made, N_JUDGES, rng)
    pace = rng.uniform(0.2, 1, N_JUDGES)
    while pace.any():
        judge = int(rng.choice(N_JUDGES, p=pace / pace.sum()))
        pair = queues[judge].answer()
        if pair is None:
            pace[judge] = 0
        elif pair >= 0:
            votes.add(pair, queues)
    return [queue.given() for queue in queues]


def simulate_k_of_n_closing(seed: int, n_queries: int, n_phases: int = 1) -> list[Served]:
    """Return what each judge is served where K of them judge each pair, and pairs close early.

    Judges are of several paces; who has nothing left is lent a batch.
    """
    made = make_campaign(seed, n_queries, n_phases)
    rng = np.random.default_rng([seed, n_queries])
    lending, votes = _Lending(made, rng), _Votes(made, K, rng)
    queues = [_Queue(made) for _ in range(N_JUDGES)]
    pace = rng.uniform(0.2, 1, N_JUDGES)
    is_at_work = np.full(N_JUDGES, True)
    while is_at_work.any():
        judge = int(rng.choice(N_JUDGES, p=pace * is_at_work / (pace * is_at_work).sum()))
        pair = queues[judge].answer()
        if pair is None:
            is_at_work[judge] = lending.can_have()[judge]
            if is_at_work[judge]:
                queues[judge].give(lending.lend(judge)[1])
        elif pair >= 0 and votes.add(pair, queues):
            lending.n_free[pair] = 0
    return [queue.given() for queue in queues]


def _served(made: MadeCampaign, question_ids: Ints, ways: Ints) -> Served:
    pairs, gold = made.pairs, made.gold
    is_gold = question_ids >= FIRST_GOLD
    index = np.where(is_gold, question_ids - FIRST_GOLD, question_ids)
    shown = np.where(ways == MIRRORED, pairs.candidate_ids[index], pairs.query_ids[index])
    other = np.where(ways == MIRRORED, pairs.query_ids[index], pairs.candidate_ids[index])
    shown[is_gold] = gold[index[is_gold], 1]
    other[is_gold] = made.gold_candidates[index[is_gold]]
    again = question_ids[ways != AS_IT_IS]
    is_control = is_gold | (ways != AS_IT_IS)
    return Served(shown, other, is_control, is_gold | np.isin(question_ids, again))


def features(query_ids: Ints) -> Floats:
    """Return what a sequence of queries tells about each pair, shape (n, n_features)."""
    n = query_ids.size
    starts = np.flatnonzero(np.append(True, query_ids[1:] != query_ids[:-1]))
    widths = np.diff(np.append(starts, n))
    totals = np.bincount(query_ids)
    seen: dict[int, int] = defaultdict(int)
    visits: dict[int, int] = defaultdict(int)
    last: dict[int, int] = {}
    rows = []
    for number, (start, width) in enumerate(zip(starts.tolist(), widths.tolist(), strict=True)):
        query = int(query_ids[start])
        before = widths[number - 1] if number else 0
        after = widths[number + 1] if number + 1 < widths.size else 0
        gap = start - last.get(query, -n)
        for inside in range(width):
            rows.append((
                (start + inside) / n, inside, width - inside, width, before, after,
                visits[query], seen[query] + inside, min(gap, n),
                totals[query], totals[query] - seen[query] - inside,
            ))  # fmt: skip
        visits[query] += 1
        seen[query] += width
        last[query] = start + width
    return np.array(rows, np.float64)


def candidate_features(one: Served) -> Floats:
    """Return what the whole queue tells about each pair's candidate, shape (n, 3).

    Whether it is a query, too; in how many different pairs it is the query; and in how many the
    candidate. That the same pair comes twice is left out: no order hides it.
    """
    n_images = int(max(one.query_ids.max(initial=0), one.candidate_ids.max(initial=0))) + 1
    queries, candidates = np.unique(np.stack([one.query_ids, one.candidate_ids]), axis=1)
    as_query, as_candidate = (
        np.bincount(ids, minlength=n_images)[one.candidate_ids] for ids in (queries, candidates)
    )
    return np.stack([as_query > 0, as_query, as_candidate], axis=1).astype(np.float64)


def partner_features(one: Served, partner: Served) -> Floats:
    """Return how often a colluding judge has each pair, and has it swapped: shape (n, 2)."""
    had = Counter(zip(partner.query_ids.tolist(), partner.candidate_ids.tolist(), strict=True))
    own = list(zip(one.query_ids.tolist(), one.candidate_ids.tolist(), strict=True))
    return np.array([(had[q, c], had[c, q]) for q, c in own], np.float64).reshape(-1, 2)


def score(panels: list[list[Served]], wanted: str, *, is_colluding: bool = False) -> float:
    """Learn on half of the judges of each campaign; return the AUC on the other half.

    It is the mean over the campaigns: which of two campaigns has more controls tells no pair.

    Args:
        panels: what the judges of each campaign are served.
        wanted: the field of `Served` to be told.
        is_colluding: whether each judge knows the whole queue of another one.
    """
    tables = [[_table(panel[part::2], wanted, is_colluding) for panel in panels] for part in (0, 1)]
    learned, truth = (np.concatenate(parts) for parts in zip(*tables[0], strict=True))
    model = HistGradientBoostingClassifier(random_state=0)
    with threadpool_limits(1):  # small tables: more threads wait for each other on a busy machine
        model.fit(learned, truth)
        areas = [roc_auc_score(truth, model.predict_proba(X)[:, 1]) for X, truth in tables[1]]
    return float(np.mean(areas))


def _table(judges: list[Served], wanted: str, is_colluding: bool) -> tuple[Floats, Flags]:
    flags: list[Flags] = [getattr(one, wanted) for one in judges]
    rows = []
    for one, partner in zip(judges, [*judges[1:], *judges[:1]], strict=True):
        known = [features(one.query_ids), candidate_features(one)]
        known += [partner_features(one, partner)] if is_colluding else []
        rows.append(np.concatenate(known, axis=1))
    return np.concatenate(rows), np.concatenate(flags)


def main() -> int:
    """Simulate campaigns of several sizes and print the classifier's AUC."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=20)
    options = parser.parse_args()
    ways: tuple[tuple[str, Serve], ...] = (
        ("everyone", simulate),
        (f"{K} of {N_JUDGES}", simulate_k_of_n),
        ("everyone, pairs close early", simulate_closing),
        (f"{K} of {N_JUDGES}, pairs close early", simulate_k_of_n_closing),
    )
    for way, serve in ways:
        for n_phases in (1, 4):
            _report(way, serve, options.campaigns, n_phases)
    return 0


def _report(way: str, serve: Serve, n_campaigns: int, n_phases: int) -> None:
    """Print the AUC in some campaigns, and how many pairs of a query a judge gets in a row."""
    sizes = np.resize([60, 120, 240, 480], n_campaigns).tolist()
    panels = [serve(seed, n_queries, n_phases) for seed, n_queries in enumerate(sizes)]
    served = [one.query_ids for panel in panels for one in panel]
    width = sum(map(len, served)) / sum(int((np.diff(one) != 0).sum()) + 1 for one in served)
    print(
        f"{n_campaigns} campaigns, {way}, in {n_phases} phase(s): AUC "
        f"{score(panels, 'is_control'):.3f} of controls, "
        f"{score(panels, 'is_checked'):.3f} of all that is checked; "
        f"{width:.1f} pairs of a query in a row; {_share(panels, 'is_control'):.1%} controls",
        flush=True,
    )


def _share(panels: list[list[Served]], wanted: str) -> float:
    return float(np.concatenate([getattr(one, wanted) for panel in panels for one in panel]).mean())


if __name__ == "__main__":
    sys.exit(main())
