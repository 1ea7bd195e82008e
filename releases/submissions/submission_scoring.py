"""What a submission to a release is shown: exact on public labels, coarse on hidden ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.io.tables import Qrels, Run
from lookalike.release.board import score_newcomer
from lookalike.release.format.folder import Folder
from lookalike.release.labelling import make_qrels
from lookalike.release.scoring import coarse, rounded
from lookalike.release.submitted import NAMELESS, Judged


def file_problem(name: str) -> str:
    """Return why a file of this name cannot be a submission, "" if it can."""
    return NAMELESS if Path(name).suffix.lower() == ".npy" else ""


def hidden_qrels(judged: Judged, hidden: Path | None) -> Qrels | None:
    """Return the labels that are kept back, in a folder of their own; None if there are none."""
    if hidden is None:
        return None
    return make_qrels(judged.folder.compared(labels=Folder(hidden).table("labels")))


@dataclass(frozen=True)
class SubmissionScores:
    """What is kept of a submission.

    Attributes:
        results: by measure, on the public labels; of the equal-outsider AUC also with whom it may
            be compared.
        by_query: by measure, the value of each of their queries.
        hidden_results: by measure, on the hidden labels: means alone, in coarse steps.
    """

    results: dict[str, Any]
    by_query: dict[str, list[float | None]]
    hidden_results: dict[str, Any]


def score_submission(judged: Judged, hidden: Path | None, run: Run) -> SubmissionScores:
    """Return the results of a run, exact on public labels and rounded on hidden ones."""
    public = score_newcomer(judged, run)
    values = {name: [rounded(one) for one in row.tolist()] for name, row in public.by_query.items()}
    return SubmissionScores(public.results, values, _on_hidden(judged, hidden, run))


def _on_hidden(judged: Judged, hidden: Path | None, run: Run) -> dict[str, Any]:
    kept_back = hidden_qrels(judged, hidden)
    if not kept_back:
        return {}
    [of_hidden] = judged.score([run], labels=kept_back)
    n = len(kept_back.query_ids)
    return {
        name: {"value": coarse(outcome.value, outcome.n_defined or n)}
        for name, outcome in of_hidden.outcomes.items()
    }
