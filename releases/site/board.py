"""The leaderboard of a release as its page has it: which measures, sorted by which."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser

from evaluation.results.leaderboard import HEADINGS
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.metrics.leaderboard import Leaderboard
from lookalike.release.documents.facts import Facts
from lookalike.release.format.folder import Folder
from releases.models import Release
from releases.site.leaderboard import human, leaderboard
from releases.site.queries import Person, visible_submissions
from releases.storage import files_folder

BOARD = (
    EQUAL_OUTSIDER,  # in sight without scrolling: all models may be compared by it alone
    *("nDCG@5", "vsd_hr@5", "Success@5", "MRR@5", "P@5", "P_all@5", "judged@5", "AP'"),
    "macro_roc_auc",
)


def board_measures(release: Release, *, hidden: bool = False) -> tuple[str, ...]:
    """Return the measures of the board: by grades and VSD's where grades and products are known.

    The equal-outsider AUC needs a pool whose labels are all known here.
    """
    known = {*release.results.get("measures", BOARD)}
    is_whole = not hidden and "judged" not in release.results
    if is_whole and any(model["badge"] == "pooled" for model in release.entrants):
        known.add(EQUAL_OUTSIDER)
    return tuple(name for name in BOARD if name in known)


def board_of(release: Release, person: Person, by: str, *, hidden: bool) -> Leaderboard:
    """Return the table sorted as asked, by default by what all models may be compared by."""
    measures = board_measures(release, hidden=hidden)
    columns = [(name, HEADINGS.get(name, name)) for name in measures]
    if by not in measures:
        submitted = visible_submissions(release, person).filter(scored_at__isnull=False)
        is_mixed = any(one["badge"] != "pooled" for one in release.entrants) or submitted.exists()
        at = 0 if is_mixed or measures[0] != EQUAL_OUTSIDER else 1
        by = measures[at]
    return leaderboard(release, person, columns, by, hidden=hidden)


def prepare_board(release: Release) -> None:
    """Make what the page of a new release shows, so that its first reader need not wait."""
    board_of(release, AnonymousUser(), "", hidden=False)
    if not Facts.of(Folder(files_folder(release)), {}).in_part:
        human(release)
