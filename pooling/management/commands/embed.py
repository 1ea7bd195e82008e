"""`manage.py embed SLUG --models A,B,...`."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.management.by_model import ByModelCommand
from pooling.new_pool.parsing import catalog_by_slug, model_specs
from pooling.new_pool.requests import check_specs
from pooling.pools.services import EMBED_TASK


class Command(ByModelCommand):
    help = "Embed a catalog by one or more backbones; what is embedded already is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("slug", help="the catalog")
        parser.add_argument(
            "--models", required=True, help="model specs or presets, with commas between them"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        catalog = catalog_by_slug(options["slug"], "catalog")
        specs = model_specs(options["models"])
        check_specs(specs)
        tried = [
            self.try_model(
                spec,
                "pooling.embedding.embed.embed_as_asked",
                task=EMBED_TASK,
                subject=f"catalog {catalog.pk} by {spec}",
                title=f"Embed {catalog} by {spec}",
                arguments={"catalog_id": catalog.pk, "spec": spec},
            )
            for spec in specs
        ]
        done = [result for result in tried if result is not None]
        lines = [f"{row['model']}: {row['images']:,} x {row['dim']:,}" for row in done]
        result = {"catalog": catalog.slug, "embedded": done, "failed": self.failed}
        self.report(result, as_json=options["json"], lines=lines)
        self.end(len(specs))
