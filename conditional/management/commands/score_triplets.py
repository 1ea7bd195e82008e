"""`manage.py score_triplets SET [--embeddings SPEC] [--metric euclidean]`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.models import EmbeddingSet
from conditional.models import TripletSet
from conditional.triplets.scores import score_set
from lookalike.core.errors import Refused


class Command(BaseCommand):
    help = "Score the embedding sets of a catalog on its triplets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("set", help="slug of the triplets")
        parser.add_argument(
            "--embeddings", action="append", metavar="SPEC", help="by default every complete one"
        )
        parser.add_argument("--metric", choices=("cosine", "euclidean"), default="cosine")
        parser.add_argument(
            "--json", action="store_true", help="print the result as one JSON object"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Score and print."""
        triplet_set = TripletSet.objects.filter(slug=options["set"]).first()
        if triplet_set is None:
            raise CommandError(f"there are no triplets “{options['set']}”.")
        chosen = _chosen(triplet_set, options["embeddings"])
        scores = []
        for embedding_set in chosen:
            try:
                score = score_set(
                    triplet_set=triplet_set,
                    embedding_set=embedding_set,
                    metric=options["metric"],
                )
            except Refused as problem:
                raise CommandError(f"{embedding_set.spec}: {problem}") from problem
            scores.append({"spec": embedding_set.spec, "metric": score.metric, **score.figures})
        if options["json"]:
            result = {"set": triplet_set.slug, "scores": scores}
            self.stdout.write(json.dumps(result, ensure_ascii=False))
            return
        for one in scores:
            votes, majority = (_shown(one[name]["accuracy"]) for name in ("votes", "majority"))
            self.stdout.write(
                f"{one['spec']} ({one['metric']}): votes {votes}, majority {majority}"
            )


def _chosen(triplet_set: TripletSet, specs: list[str] | None) -> list[EmbeddingSet]:
    complete = EmbeddingSet.objects.filter(catalog=triplet_set.catalog, is_complete=True)
    found = list(complete if specs is None else complete.filter(spec__in=specs))
    missing = sorted(set(specs or ()) - {one.spec for one in found})
    if missing or not found:
        known = ", ".join(complete.values_list("spec", flat=True)) or "none"
        raise CommandError(
            f"no complete embedding set {missing[0] if missing else ''!r} of "
            f"“{triplet_set.catalog}”; there are: {known}."
        )
    return found


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
