"""`manage.py score_triplets SET [--embeddings SPEC] [--metric euclidean]`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from catalog.models import EmbeddingSet
from conditional.management.set_command import (
    add_triplet_options,
    chosen_embedding_sets,
    row_called,
)
from conditional.models import TripletSet
from conditional.triplets.scoring import score_set
from jobs.work.commands import JobCommand
from lookalike.conditional.triplet_scores import Metric
from lookalike.core.errors import Refused


class Command(JobCommand):
    help = "Score the embedding sets of a catalog on its triplets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_triplet_options(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        triplet_set = row_called(TripletSet, options["set"])
        scores = [
            self._score(triplet_set, embedding_set, options["metric"])
            for embedding_set in chosen_embedding_sets(triplet_set, options["embeddings"])
        ]
        result = {"set": triplet_set.slug, "scores": scores}
        self.report(result, as_json=options["json"], lines=[_line(score) for score in scores])

    def _score(
        self, triplet_set: TripletSet, embedding_set: EmbeddingSet, metric: Metric
    ) -> dict[str, Any]:
        try:
            score = score_set(triplet_set=triplet_set, embedding_set=embedding_set, metric=metric)
        except Refused as problem:
            raise CommandError(f"{embedding_set.spec}: {problem}") from problem
        return {"spec": embedding_set.spec, "metric": score.metric, **score.figures}


def _line(score: dict[str, Any]) -> str:
    votes, majority = (_shown(score[name]["accuracy"]) for name in ("votes", "majority"))
    return f"{score['spec']} ({score['metric']}): votes {votes}, majority {majority}"


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
