"""What a submission to a release is shown: exact on public labels, coarse on hidden ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookalike.io.tables import Qrels, Run
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


def score_submission(
    judged: Judged, hidden: Path | None, run: Run
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the results of a run, exact on public labels and rounded on hidden ones.

    Of hidden labels there are means alone, in coarse steps: never a value of a query.
    """
    [public] = judged.score([run])
    results = {
        name: {"value": rounded(outcome.value), "n_queries": outcome.n_defined}
        for name, outcome in public.outcomes.items()
    }
    kept_back = hidden_qrels(judged, hidden)
    if not kept_back:
        return results, {}
    [of_hidden] = judged.score([run], labels=kept_back)
    n = len(kept_back.query_ids)
    return results, {
        name: {"value": coarse(outcome.value, outcome.n_defined or n)}
        for name, outcome in of_hidden.outcomes.items()
    }
