"""A release to work with: its labels, and the scores, the votes and the bias that follow."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from lookalike.agreement.aggregate import aggregate
from lookalike.agreement.votes import Votes, make_votes
from lookalike.bias.evidence.assemble import Extras, assemble_evidence, dividing_attributes
from lookalike.bias.evidence.files import VoteTable
from lookalike.bias.report import BiasReport, BiasSettings, bias_report
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import Missing
from lookalike.metrics.measures import parse_measure, refuse_without_products
from lookalike.metrics.scoring import Scored
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import opened
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import ALL_TABLES
from lookalike.release.format.manifest import Manifest, make_entry, read_manifest
from lookalike.release.format.tables import rows_of
from lookalike.release.outsiders import read_pool
from lookalike.release.rounds import IN_PART, judged_share
from lookalike.release.submitted import Judged

ANSWERS = {"similar": 1, "different": 0}

NOT_APART = "compares images of one product, too"
SIMULATED = "its judgements are simulated: programs with stated error rates gave them, not experts"
ADVICE = "take a fresh copy; `lookalike verify` names all that differs"


@dataclass(frozen=True)
class Release(Folder):
    """An open release. Every file is held against the manifest before it is read.

    Attributes:
        source: the folder or zip that was opened.
        unpacked: what goes when it is closed, or no longer used.
    """

    source: Path
    unpacked: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, self.unpacked.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop what was unpacked; a release that nobody uses any more does it by itself."""
        self.unpacked.close()

    def json(self, name: str) -> Any:
        """Return the content of a JSON file; see `Folder`."""
        self._check(name)
        return super().json(name)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table, or some of its columns; see `Folder`."""
        self._check(ALL_TABLES[name].path)
        return super().table(name, columns)

    def run(self, model_id: str) -> Run:
        """Return the scores of a model; see `Folder`."""
        self._check(f"runs/{model_id}.parquet")
        return super().run(model_id)

    @property
    def caveats(self) -> list[str]:
        """What has to stand beside every number that is made of it."""
        is_simulated = any(campaign["is_simulated"] for campaign in self.info["campaigns"])
        return [f"{self.title}: {SIMULATED}"] if is_simulated else []

    def labels(self, rule: str = "label") -> Qrels:
        """Return the labels that models are compared by.

        Args:
            rule: label (the release's own), majority, undecided, unanimous or dawid_skene.
        """
        return self.qrels(rule)

    @cached_property
    def judged(self) -> Judged:
        """What runs are scored on."""
        return Judged(self)

    def score(
        self,
        runs: str | Path | Run | Sequence[str | Path | Run],
        measures: Sequence[str] | None = None,
        *,
        missing: Missing = "error",
        complete: bool = False,
    ) -> list[Scored]:
        """Return the measures of runs by the release's labels, products and rules.

        Args:
            runs: files of scores or of embeddings, images by image_id, SHA-256 or path; or runs
                of this release. Each mean is over the queries that are defined for all of them.
            measures: names; those of the release if None. A release that knows no product, or
                compares images of one, has none of the VSD benchmark.
            missing: "error" refuses a file without a score for every pair put to the judges;
                "worst" ranks those below all others.
            complete: there is no more to rank than the pairs put to the judges.

        Raises:
            InputError: what is wrong with a file, with its line or row, an unknown measure, or one
                that needs products without any.
            ReleaseError: rounds have judged a part of the pool.
        """
        self._refuse_part()
        asked = [parse_measure(name) for name in measures or ()]
        refuse_without_products(
            [measure for measure in asked if measure.name not in self.info["measures"]],
            self.products,
            f"{self.source} {'knows none' if self.info['exclude_same_product'] else NOT_APART}",
        )
        given = [runs] if isinstance(runs, (str, Path, Run)) else runs
        read = [
            run if isinstance(run, Run) else self.judged.read(Path(run), missing=missing)[0]
            for run in given
        ]
        return self.judged.score(read, measures, complete=complete)

    def other_means(self, scored: Scored) -> list[str]:
        """Return the measures that the release's own board averages over other queries.

        Its means are over the queries that are defined for all of its models.
        """
        board: dict[str, int | None] = {}
        for model in self.json("results.json")["models"]:
            for name, entry in model["measures"].items():
                board[name] = entry["n_queries"] or board.get(name)
        return [
            name
            for name, outcome in scored.outcomes.items()
            if outcome.n_defined and board.get(name) not in (None, outcome.n_defined)
        ]

    def votes(self, *, graded: bool = False) -> Votes:
        """Return the votes that count; an item is the query and the image, a space between.

        Args:
            graded: labels are grades, as “2”; else similar and different.

        Raises:
            ReleaseError: there are no votes, or no grades where they are wanted.
        """
        if graded and self.scale is None:
            raise ReleaseError(f"{self.source}: its pairs are not graded")
        rows = self._votes("grade" if graded else "answer")
        return make_votes([(f"{q} {c}", judge, str(label)) for q, c, judge, label in rows])

    @property
    def tie(self) -> str:
        """What a tie becomes, as `lookalike.aggregate` says it."""
        return str(self.info["tie_rule"])

    def aggregate(self, *, rule: str | None = None, tie: str | None = None) -> dict[str, Any]:
        """Return what `lookalike.aggregate` says of the votes that count; rulings are none.

        Args:
            rule: majority, dawid-skene, glad or mace, of similar and different; or median, of
                grades. If None median where pairs are graded, else majority.
            tie: as `lookalike.aggregate` takes it; the release's own rule if None.
        """
        rule = rule or ("median" if self.scale else "majority")
        return aggregate(
            self.votes(graded=rule == "median"),
            rule=rule,
            tie=tie or self.tie,
            similar_from=self.scale.similar_from if self.scale else None,
        )

    def bias_report(self, *, seed: int = 0, settings: BiasSettings | None = None) -> BiasReport:
        """Return the report on the pool's bias, over queries with public labels.

        Raises:
            ReleaseError: the release has no pool, or one that rounds have judged in part.
        """
        self._refuse_part()
        proposals = read_pool(self)
        if proposals is None:
            raise ReleaseError(f"{self.source}: the release has no pool, so no bias of one")
        votes = list(self._votes())
        judges = tuple(sorted({judge for _, _, judge, _ in votes}))
        place = {judge: at for at, judge in enumerate(judges)}
        rows = tuple((q, c, place[judge], ANSWERS[word]) for q, c, judge, word in votes)
        images = list(self.rows("images", "image_id", "attributes", "is_candidate"))
        attributes = [json.loads(text or "{}") for _, text, _ in images]
        extras = Extras(
            families={model["id"]: model["family"] for model in self.models},
            products=self.products,
            votes=VoteTable(judges, rows) if len(judges) > 1 else None,
            attributes=dividing_attributes([name for name, _, _ in images], attributes),
            unit_of=self.product_of,
            n_catalogue_pairs=_n_catalogue_pairs(images, proposals.query_ids),
        )
        evidence = assemble_evidence(
            self.qrels(),
            proposals,
            [self.run(model["id"]) for model in self.scored],
            missing="worst",
            extras=extras,
        )
        return bias_report(evidence, np.random.default_rng(seed), settings)

    def _refuse_part(self) -> None:
        if judged_share(self) < 1:
            raise ReleaseError(f"{self.source}: {IN_PART}")

    def _votes(self, label: str = "answer") -> list[tuple[str, str, str, Any]]:
        """Query, candidate, judge and answer, or grade, of each vote that counts."""
        table = self.table("judgements")
        columns = ("query_id", "image_id", "annotator", label, "answer", "is_counted")
        votes = [
            (q, c, who, said)
            for q, c, who, said, word, counts in rows_of(table, *columns)
            if counts and word in ANSWERS
        ]
        if not votes:
            raise ReleaseError(f"{self.source}: data/judgements.parquet holds no vote that counts")
        return votes

    @cached_property
    def manifest(self) -> Manifest:
        """The files that were frozen, each with its hash."""
        return read_manifest(self.path)

    @cached_property
    def _right(self) -> set[str]:
        return set()

    def _check(self, name: str) -> None:
        """Refuse a file that is not what was frozen."""
        wanted = self.manifest.files.get(name)
        if not (self.path / name).exists():
            if wanted is None:
                return  # what was never there is refused by its reader
            raise ReleaseError(f"{self.source}: {name} is missing; {ADVICE}")
        if name in self._right:
            return
        try:
            found = make_entry(self.path / name)
        except (pa.ArrowInvalid, OSError) as problem:
            raise ReleaseError(
                f"{self.source}: {name} is damaged: {problem}; {ADVICE}"
            ) from problem
        if wanted is None or found.sha256 != wanted.sha256:
            rows = ""
            if wanted and found.n_rows != wanted.n_rows:
                rows = f" ({found.n_rows} rows where {wanted.n_rows} were frozen)"
            raise ReleaseError(f"{self.source}: {name} is not what was frozen{rows}; {ADVICE}")
        self._right.add(name)


def _n_catalogue_pairs(images: Iterable[tuple[str, str, bool]], queries: Sequence[str]) -> int:
    """Return how many pairs of a query with another candidate there are."""
    ranked = {name for name, _, is_ranked in images if is_ranked}
    return len(ranked) * len(queries) - sum(query in ranked for query in queries)


def open_release(source: str | Path) -> Release:
    """Open a release's folder or zip; a zip is unpacked until it is closed or no longer used.

    Works with and without `with`. A file is held against the manifest when it is first read;
    `verify` checks all, and every number.

    Raises:
        ReleaseError: neither a release folder nor a readable zip of one.
        OSError: it cannot be read, or there is no room to unpack it.

    >>> release = open_release("tests/golden/releases/small-1.0.0.zip")
    >>> len(release.labels()), [model["name"] for model in release.models][:1]
    (61, ['descriptor:colour-histogram'])
    >>> [scored] = release.score(release.run("descriptor-hog-shape"), ["macro_roc_auc"])
    >>> round(scored.outcomes["macro_roc_auc"].value, 4)
    0.5786
    """
    with ExitStack() as stack:
        folder = stack.enter_context(opened(Path(source)))
        read_manifest(folder)
        return Release(folder, Path(source), stack.pop_all())
