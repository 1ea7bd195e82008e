"""Open a campaign for three judges, and import all of their votes: `python -m benchmarks.opening`.

54,170 pairs of 2,000 queries, 162,510 votes, each time in a campaign of its own, on services and
in a data folder of their own. Prints the medians; ends with 1 where one is above its bound.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import django

N_PAIRS, N_JUDGES = 54_170, 3
MOST_SECONDS = {"made": None, "opened": 3.0, "votes imported": 6.0}
Seconds = dict[str, list[tuple[float, float]]]  # by step: of the clock, of processors


def main() -> int:
    """Measure on services of its own; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=N_PAIRS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"LOOKALIKE_DATA": folder, "DJANGO_SETTINGS_MODULE": "config.settings"}
        embedded = import_module("config.embedded")  # reads the environment set above
        services = import_module("config.settings").SERVICES
        embedded.hold_services(services)
        try:
            django.setup()
            return report(measure(given.rounds, given.pairs))
        finally:
            embedded.stop_services(services)


def measure(n_rounds: int, n_pairs: int) -> Seconds:
    """Make, open and fill a campaign again and again."""
    import_module("django.core.management").call_command("migrate", verbosity=0)
    from accounts.models import Role, User  # noqa: PLC0415  (Django is set up here)
    from annotation.services import (  # noqa: PLC0415
        create_campaign,
        import_judgements,
        open_campaign,
    )
    from benchmarks.busy_seconds import busy_seconds  # noqa: PLC0415
    from benchmarks.judging_site.campaigns import make_pairs  # noqa: PLC0415

    seconds: Seconds = {step: [] for step in MOST_SECONDS}

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        clock, busy = time.perf_counter(), busy_seconds()
        yield
        seconds[step].append((time.perf_counter() - clock, busy_seconds() - busy))

    pairs = make_pairs(n_pairs)
    panel = [User.objects.create_user(f"judge-{n}", role=Role.ANNOTATOR) for n in range(N_JUDGES)]
    for number in range(n_rounds):
        with timed("made"):
            campaign = create_campaign(
                name="VSD size", slug=f"round-{number}", pairs=pairs, panel=panel
            )
        with timed("opened"):
            open_campaign(campaign=campaign)
        votes = [(*pair, judge.pk, "similar") for judge in panel for pair in pairs]
        with timed("votes imported"):
            import_judgements(campaign=campaign, rows=votes)
    return seconds


def report(seconds: Seconds) -> int:
    """Print the medians; return 1 where one is above its bound by the clock."""
    n_over = 0
    for step, found in seconds.items():
        clock, busy = (statistics.median(column) for column in zip(*found, strict=True))
        most = MOST_SECONDS[step]
        n_over += most is not None and clock > most
        bound = f", at most {most:.0f} s" if most else ""
        print(f"{step}: {clock:.2f} s, {busy:.2f} s of processors{bound}")
    return 1 if n_over else 0


if __name__ == "__main__":
    sys.exit(main())
