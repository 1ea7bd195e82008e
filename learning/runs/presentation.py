"""What pages show of training runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from catalog.charts import Axis, Chart
from learning.models import TrainingRun
from lookalike.learning.embeddings.recipe import DISCOVERNET_OPTIONS

Row = tuple[str, str]
WORDS = {
    "parent": "Backbone", "space": "Text space", "subject": "Subject", "columns": "Attributes",
    "captions": "Captions", "method": "Method", "words": "Guided by",
    "weight": "Weight of the words", "same_values": "Learns the same value, too",
    "n_triplets": "Triplets", "dim": "Numbers", "hidden": "Hidden layer",
    "n_conditions": "Conditions", "hold_out": "Held out",
    "is_branch_trained": "Condition branch is trained", "is_squared": "Squared distances",
    "is_cosine": "Matched by cosines", "is_residual": "Residual maps",
    "temperature": "Temperature", "epochs": "Epochs", "seed": "Seed",
}  # fmt: skip


@dataclass(frozen=True)
class Found:
    """How often the nearest held-out picture has the same label.

    Attributes:
        name: of the sort of label, or of an attribute.
        before: by the backbone's vectors, or by guessing the most common value.
        after: by what was learned.
    """

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class ShownRun:
    """A line of the list of runs."""

    run: TrainingRun
    state: str
    found: Sequence[Found]


def shown_runs(runs: Iterable[TrainingRun]) -> list[ShownRun]:
    """Return the lines of runs."""
    return [ShownRun(run, _state(run), found_rows(run)) for run in runs]


def _state(run: TrainingRun) -> str:
    if run.finished_at is not None:
        return "Learned"
    return run.job.get_state_display() if run.job is not None else "Not begun"


def found_rows(run: TrainingRun) -> list[Found]:
    """Return a run's figures on held-out pictures; undefined ones are left out."""
    best = run.figures.get("best_heads", {})
    found = [
        Found(f"{name} ({best[name].replace('-', ' ')})" if name in best else name, *of)
        for name, of in run.figures.get("found", {}).items()
        if None not in of
    ]
    scores = [Found(one.column, one.majority, one.accuracy) for one in run.scores
              if one.was_captioned]  # fmt: skip
    return found + scores


def recipe_rows(run: TrainingRun) -> list[Row]:
    """Return how a run learns, in words; what is not set is left out."""
    said = {name: _said(value) for name, value in run.recipe.items()}
    if not said.get("words"):
        said.pop("weight", None)
    for name in (*DISCOVERNET_OPTIONS, "n_conditions"):
        if not run.recipe.get(name):
            said.pop(name, None)
    return [(WORDS[name], said[name]) for name in WORDS if said.get(name)]


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{name}: {of}" for name, of in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def side_by_side(runs: Sequence[TrainingRun]) -> list[tuple[str, list[str], bool]]:
    """Return for each setting its value in each run, and whether they differ."""
    settings = [{"Kind": run.get_family_display(), "Catalog": str(run.catalog),
                 **dict(recipe_rows(run))} for run in runs]  # fmt: skip
    names = dict.fromkeys(name for one in settings for name in one)
    rows = [(name, [one.get(name, "–") for one in settings]) for name in names]
    return [(name, values, len({*values}) > 1) for name, values in rows]


def loss_chart(runs: Sequence[TrainingRun]) -> Chart:
    """Return the loss of a run by its steps, or the losses of several by the share of theirs."""
    several = len(runs) > 1
    about = "What training has lowered, a point for each step or for some of them."
    if several:
        about += (
            " Losses of different methods are different things: only the shape of their curves "
            "can be compared."
        )
    return Chart(
        key="losses", kind="lines", title="Loss", about=about,
        x=Axis("share of the steps") if several else Axis("step", whole=True), y=Axis("loss"),
        columns=[*([("series", "Run")] if several else []), ("x", "Step"), ("y", "Loss")],
        rows=[
            {"series": run.name, "x": step / max(1, run.curve[-1][0]), "y": loss}
            if several
            else {"x": step, "y": loss}
            for run in runs
            for step, loss in run.curve
        ],
    )  # fmt: skip
