"""How long it takes to see how far the rounds of a campaign of 100,000 pairs are.

    LOOKALIKE_DATA=/tmp/scratch python -m benchmarks.rounds_clock

The site asks each minute, and with every view of the page: while judges have pairs to answer, when
something was answered since, and when nothing was. In a data folder of its own, which it fills.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.models import Campaign

from benchmarks.data_folder import own_folder

ROOT = Path(__file__).resolve().parent.parent
N_IMAGES, N_PAIRS, DIM = 10_000, 100_000, 64


def main() -> None:
    """Make the campaign and measure, in a process where Django is set up."""
    own_folder()
    for words in (
        ["migrate", "--verbosity", "0"],
        ["shell", "--no-imports", "-c",
         "from benchmarks.rounds_clock import measure; measure()"],
    ):  # fmt: skip
        subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, check=True)


def measure() -> None:
    """Print what each case takes."""
    from annotation.bulk import refresh_statistics  # noqa: PLC0415 - Django is set up now
    from annotation.models import Campaign, Judgement, PanelMember, Question, QueueEntry  # noqa: PLC0415
    from annotation.queries.labels import labels  # noqa: PLC0415
    from benchmarks.campaign_of_vsd_size import SLUG, build  # noqa: PLC0415
    from evaluation.models import RoundPair  # noqa: PLC0415
    from evaluation.rounds.look import look_at_rounds  # noqa: PLC0415
    from evaluation.rounds.progress import find_plan, rounds_progress  # noqa: PLC0415

    build(N_IMAGES, DIM, N_PAIRS)
    campaign = Campaign.objects.get(slug=SLUG)
    if not find_plan(campaign):
        _draw_all(campaign)
    refresh_statistics(Question, Judgement, RoundPair, QueueEntry)
    plan = find_plan(campaign)
    assert plan is not None
    member = campaign.panel.get(number=1)
    print(f"{campaign.n_questions:,} pairs, {Judgement.objects.count():,} answers")
    _timed("all labels, once", lambda: labels(campaign))
    PanelMember.objects.filter(pk=member.pk).update(n_done=1)
    _timed("progress, something was answered", lambda: rounds_progress(plan))
    _timed("progress, nothing was answered since", lambda: rounds_progress(plan))
    question = campaign.questions.order_by("-pk")[0]
    entry = member.queue.filter(question=question)
    entry.update(state="open")
    PanelMember.objects.filter(pk=member.pk).update(n_done=2)
    _timed("the clock, a judge has a pair to answer", look_at_rounds)
    entry.update(state="done")


def _draw_all(campaign: Campaign) -> None:
    """Let one round have drawn every pair."""
    from annotation.bulk import copy_rows  # noqa: PLC0415
    from annotation.models import Question  # noqa: PLC0415
    from evaluation.models import Round, RoundPair, RoundPlan  # noqa: PLC0415

    pairs = Question.objects.filter(campaign=campaign).values_list("query_id", "candidate_id")
    plan = RoundPlan.objects.create(campaign=campaign, share=1, seed=0, measure="P@5", n_looks=5)
    row = Round.objects.create(
        plan=plan, number=1, n_known=0, n_open=len(pairs), n_drawn=len(pairs), guess="none"
    )
    columns = ("round_id", "query_id", "candidate_id", "probability", "is_drawn")
    copy_rows(RoundPair, columns, ((row.pk, *pair, 1.0, True) for pair in pairs))


def _timed(what: str, work: Callable[[], object]) -> None:
    processor, clock = time.process_time(), time.perf_counter()
    work()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{what}: {clock:.2f} s, {processor:.2f} s of this process")


if __name__ == "__main__":
    main()
