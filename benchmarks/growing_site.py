"""The steps from pictures to a release at several sizes; imported where Django is set up."""

from __future__ import annotations

import random
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from django.core.management import call_command

from accounts.models import Role, User
from annotation.bulk import refresh_statistics
from annotation.models import Campaign, Judgement, JudgementEvent, QueueEntry
from benchmarks.busy_seconds import busy_seconds
from benchmarks.made_votes import judge_all
from benchmarks.site_at_size import MODELS, Size, embed, make_catalog
from catalog.models import EmbeddingSet
from evaluation.exports import FORMATS
from evaluation.results.evaluate_job import evaluate_campaign
from jobs.services import run_here
from lookalike.pooling.query_rule import QueryRule
from lookalike.release.verify import verify
from pooling.campaign.services import open_pool_campaign
from pooling.models import Pool
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from pooling.pools.statistics import update_stats
from pooling.sources.fill import store_proposals
from pooling.sources.nearest import nearest_candidates
from pooling.sources.proposers import Answer
from releases.freeze.requests import FreezeRequest
from releases.storage import archive_path
from tests.pictures import jpeg
from tests.worlds import freeze_now

TIMES = (1, 3, 10)
MOST = 1.1  # exponent
N_IMAGES, DIM, DEPTH, N_MODELS, N_JUDGES = 5_000, 64, 30, 4, 3
Seconds = dict[str, list[float]]  # by step, in the order of sizes


def measure(base: int) -> int:
    """Print what each step takes at each size; return 1 where one grows too fast."""
    run = uuid.uuid4().hex[:6]
    rng = np.random.default_rng(0)
    catalog = make_catalog(f"growth-{run}", Size(n_images=N_IMAGES))
    ids = np.array(catalog.images.order_by("id").values_list("id", flat=True))
    sets = [embed(catalog, ids, spec, DIM, rng) for spec in MODELS[:N_MODELS]]
    judges = [User.objects.create_user(f"{run}-{n}", role=Role.ANNOTATOR) for n in range(N_JUDGES)]
    seconds: Seconds = {}
    warm_up: Seconds = {}
    steps(warm_up, base // 3, f"{run}-warm", sets, judges)  # what loads once is loaded
    for times in TIMES:
        steps(seconds, base * times, f"{run}-{times}", sets, judges)
        now = ", ".join(f"{step} {taken[-1]:.2f} s" for step, taken in seconds.items())
        print(f"{base * times:,}: {now}", flush=True)
    return report(base, seconds)


def steps(seconds: Seconds, n: int, name: str, sets: list[EmbeddingSet], panel: list[User]) -> None:
    """Do every step at one size and note its time."""

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        began = busy_seconds()
        yield
        seconds.setdefault(step, []).append(busy_seconds() - began)

    with tempfile.TemporaryDirectory() as folder:
        first = random.Random(name).randrange(2**40)  # else what is stored already costs nothing
        for at in range(n):
            (Path(folder) / f"{at:05d}.jpg").write_bytes(jpeg(seed=first + at))
        with timed("import"):
            call_command("import_catalog", f"import-{name}", folder, json=True, stdout=_Nowhere())
    request = PoolRequest(
        name=name, catalog=sets[0].catalog, specs=[found.spec for found in sets], k=DEPTH,
        rule=QueryRule(n=n),
    )  # fmt: skip
    with timed("fill"):
        pool = create_pool(request=request, created_by=None)
        fill(pool, sets)
    campaign = open_pool_campaign(pool=pool, name=name, panel=panel)
    answer(campaign)
    with timed("evaluate"):
        run_here(task="test", subject=name, title="Evaluate", arguments={}, work=evaluate(campaign))
    frozen = FreezeRequest(
        slug=name, title=name, version="1.0.0", campaigns=(campaign.slug,), date="2026-11-21"
    )
    with timed("freeze"):
        release = freeze_now(frozen)
    with timed("verify"):
        verdict = verify(archive_path(release))
    if not verdict.is_right:
        raise SystemExit(f"{name} is not right: {verdict.findings[:3]}")
    with timed("export"):
        for export in FORMATS.values():
            for _ in export.pieces(campaign):
                pass


def fill(pool: Pool, sets: list[EmbeddingSet]) -> None:
    """Let every source propose, as its job does but for the embedding, which is there."""
    for source, found in zip(pool.sources.order_by("position"), sets, strict=True):
        answer = Answer(nearest_candidates(pool, source.k, found, found), found, found)
        store_proposals(source=source, answer=answer)
        update_stats(pool=pool)


def answer(campaign: Campaign) -> None:
    """Let every judge answer every pair."""
    judge_all(campaign.pk, percent_similar=60)
    refresh_statistics(Judgement, JudgementEvent, QueueEntry)


def evaluate(campaign: Campaign) -> Callable[..., dict[str, object]]:
    """Return the work of a job that evaluates a campaign."""
    return lambda progress: evaluate_campaign(campaign, progress, n_bootstraps=200)


def report(base: int, seconds: Seconds) -> int:
    """Print seconds and exponents; return 1 where one is too large."""
    sizes = [base * times for times in TIMES]
    print(f"| | {' | '.join(f'{n:,}' for n in sizes)} | exponent |")
    print(f"|---|{'---|' * len(sizes)}---|")
    too_fast = 0
    for step, taken in seconds.items():
        exponent = float(np.polyfit(np.log(sizes), np.log(taken), 1)[0])
        too_fast += exponent > MOST
        print(f"| {step} | {' | '.join(f'{one:.2f} s' for one in taken)} | {exponent:.2f} |")
    return 1 if too_fast else 0


class _Nowhere:
    def write(self, text: str) -> None:
        pass
