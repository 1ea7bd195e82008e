"""Which queries keep their labels back: the same ones in every release that asks their pairs."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Sequence

from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from releases.blindness.pairs import KnownQuery
from releases.freeze.requests import FreezeRequest, parse_version
from releases.site.queries import earlier_versions
from releases.storage import files_folder

MIN_HIDDEN = 50  # fewer, and a rounded mean tells single labels


def hide_queries(
    sha256: Sequence[str], known: Sequence[KnownQuery], request: FreezeRequest
) -> set[str]:
    """Decide which queries of a version keep their labels back.

    Args:
        sha256: of the queries.
        known: queries of whose pairs other releases tell.
        request: of the version.

    Raises:
        ReleaseError: too few labels are unknown, or too few would be hidden.
    """
    hidden_before, public_before = splits_before(request, sha256)
    hidden_before |= {one.sha256 for one in known if one.n_hidden}
    public_before |= {one.sha256 for one in known if one.n_shown}
    hidden = hidden_queries(
        sha256, request.hidden_percent, request.seed, hidden_before, public_before,
        shown_by=shown_by(known, sha256) or "earlier versions",
    )  # fmt: skip
    require_unknown(known, hidden)
    if request.hidden_percent or hidden:
        require_enough(len(hidden))
    return hidden


def splits_before(request: FreezeRequest, sha256: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return which images an earlier version has as a hidden, and which as a public query.

    Args:
        request: of a version; those below it are looked at.
        sha256: of the queries now.

    Raises:
        ReleaseError: the files of an earlier version are damaged.
    """
    earlier: dict[str, set[str]] = {"hidden": set(), "public": set()}
    for release in earlier_versions(request.slug, parse_version(request.version)):
        split_of = dict(Folder(files_folder(release)).rows("queries", "query_id", "split"))
        n = len(next(iter(split_of), ""))  # names are prefixes, all of one length in a version
        for name in sha256:
            if name[:n] in split_of:
                earlier[split_of[name[:n]]].add(name)
    return earlier["hidden"], earlier["public"]


def hidden_queries(
    sha256: Sequence[str],
    percent: int,
    seed: int,
    hidden: set[str],
    public: set[str],
    *,
    shown_by: str = "earlier versions",
) -> set[str]:
    """Return the queries whose labels are kept back.

    What was hidden stays hidden, whatever percent and seed. More are taken by the rank of a hash
    of seed and image, so that queries that come or go move none of the others; never one whose
    labels are known.

    Args:
        sha256: of the queries.
        percent: how many of them to hide, at least.
        seed: of the ranks.
        hidden, public: queries of earlier versions, and of other releases of the same pairs.
        shown_by: which releases show labels, for the error.

    Raises:
        ReleaseError: too few of them have labels that nobody knows.
    """
    kept = set(sha256) & hidden
    n_more = round(len(sha256) * percent / 100) - len(kept)
    if n_more <= 0:
        return kept
    free = [name for name in sha256 if name not in kept | public]
    if len(free) < n_more:
        n = len(kept) + len(free)
        raise ReleaseError(
            f"{percent} percent of {len(sha256):,} queries cannot be hidden: {shown_by} show the "
            f"labels of {len(public & set(sha256)):,} of them, and {n:,} are left. Ask for at most "
            f"{math.floor(100 * n / len(sha256))} percent."
        )
    return kept | set(sorted(free, key=lambda name: _rank(seed, name))[:n_more])


def _rank(seed: int, sha256: str) -> str:
    return hashlib.sha256(f"{seed}:{sha256}".encode()).hexdigest()


def percent_hidden(n_hidden: int, n_queries: int, asked: int) -> int:
    """Return the percent of queries that are hidden: as asked, more where more stay hidden."""
    if n_hidden <= round(n_queries * asked / 100):
        return asked
    return math.ceil(100 * n_hidden / n_queries)


def require_enough(n_labelled: int) -> None:
    """Refuse to keep back the labels of a few queries.

    Args:
        n_labelled: hidden queries with a label.

    Raises:
        ReleaseError: a mean over them would tell single labels.
    """
    if n_labelled < MIN_HIDDEN:
        raise ReleaseError(
            f"{n_labelled} queries with labels would be hidden, and a mean over fewer than "
            f"{MIN_HIDDEN} tells single labels. Hide more of them, or judge more queries first."
        )


def shown_by(known: Sequence[KnownQuery], queries: Collection[str]) -> str:
    """Say which releases show how many labels of some queries; empty where none does."""
    counts: Counter[str] = Counter()
    for one in known:
        if one.n_shown and one.sha256 in queries:
            counts[f"{one.title} {one.version}"] += one.n_shown
    return ", ".join(f"“{name}” ({n:,} pair{'s' * (n != 1)})" for name, n in counts.items())


def require_unknown(known: Sequence[KnownQuery], hidden: Collection[str]) -> None:
    """Refuse to keep back what some release of the same pairs shows already.

    Raises:
        ReleaseError: saying which shows how many labels.
    """
    if shown := shown_by(known, hidden):
        raise ReleaseError(
            f"Labels that would be hidden are known already, from {shown}. What a release has "
            "shown cannot be hidden any more: leave these campaigns out, or judge other pairs."
        )
