"""A release to work with: its labels, and the scores, the votes and the bias that follow."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from lookalike.agreement.aggregate import aggregate
from lookalike.agreement.votes import Votes, make_votes
from lookalike.bias.report import BiasReport, BiasSettings, bias_report
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import Missing
from lookalike.metrics.measures import parse_measure, refuse_without_products
from lookalike.metrics.negatives import NegativeList
from lookalike.metrics.scoring import Scored
from lookalike.release.bias import pool_evidence
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import opened
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import ALL_TABLES
from lookalike.release.format.manifest import Manifest, make_entry, read_manifest
from lookalike.release.rounds import IN_PART, judged_share
from lookalike.release.submitted import Judged
from lookalike.release.votes import counted_votes

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

    @property
    def place(self) -> Path:
        """The folder or zip that was opened."""
        return self.source

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
        lower_is_better: bool = False,
        depth: int | None = None,
        negatives: Mapping[str, NegativeList] | None = None,
    ) -> list[Scored]:
        """Return the measures of runs by the release's labels, products and rules.

        Args:
            runs: files of scores or of embeddings, images by image_id, SHA-256 or path; or runs
                of this release. Each mean is over the queries that are defined for all of them.
            measures: names; those of the release if None. A release that knows no product, or
                compares images of one, has none of the VSD benchmark.
            missing: "error" refuses a run, or a file, without a score for every pair put to the
                judges; "worst" ranks those below all others.
            complete: there is no more to rank than the pairs put to the judges.
            lower_is_better: scores of files are distances.
            depth: the exact depth of files that do not state it, as of `Run`.
            negatives: drawn negatives, "uniform" and "band", in place of the release's own; a
                run of scores must score them.

        Raises:
            InputError: what is wrong with a file, with its line or row, an unknown measure, or one
                that needs products without any.
            MissingScoresError: pairs put to the judges without a score.
            ReleaseError: rounds have judged a part of the pool.
        """
        self._refuse_part()
        asked = [parse_measure(name) for name in measures or ()]
        refuse_without_products(
            [measure for measure in asked if measure.name not in self.info["measures"]],
            self.products,
            f"{self.source} {'knows none' if self.info['exclude_same_product'] else NOT_APART}",
        )
        further = [pair for listed in (negatives or {}).values() for pair in listed.pairs]
        read = self.read_runs(
            runs, missing=missing, lower_is_better=lower_is_better, depth=depth, further=further
        )
        return self.judged.score(read, measures, complete=complete, negatives=negatives)

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

        The unit of an item is its query's product, or its query where no product is known.

        Args:
            graded: labels are grades, as “2”; else similar and different.

        Raises:
            ReleaseError: there are no votes, or no grades where they are wanted.
        """
        if graded and self.scale is None:
            raise ReleaseError(f"{self.source}: its pairs are not graded")
        rows = list(counted_votes(self, "grade" if graded else "answer"))
        return make_votes(
            [(f"{q} {c}", judge, str(label)) for q, c, judge, label in rows],
            {f"{q} {c}": self.product_of.get(q) or q for q, c, _, _ in rows},
        )

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

    def bias_report(
        self,
        runs: str | Path | Run | Sequence[str | Path | Run] = (),
        *,
        seed: int = 0,
        settings: BiasSettings | None = None,
        unit: str | None = None,
    ) -> BiasReport:
        """Return the report on the pool's bias, over queries with public labels.

        Args:
            runs: newcomers: files of scores or of vectors, or runs. They are evaluated beside
                the release's models, as outsiders of the pool; a missing score counts as the
                worst.
            seed: of the random numbers.
            settings: how much work the report does.
            unit: what intervals and tests take as independent: "query", "product" or an attribute
                of images; None: the product.

        Raises:
            ReleaseError: the release has no pool, or one that rounds have judged in part.
            InputError: what is wrong with a file, with its line or row; also if a newcomer has
                the name of a model.
        """
        evidence = pool_evidence(self, self.read_runs(runs, missing="worst"), unit=unit)
        return bias_report(evidence, np.random.default_rng(seed), settings)

    def read_runs(
        self,
        runs: str | Path | Run | Sequence[str | Path | Run],
        *,
        ids: Mapping[Path, Path] | None = None,
        missing: Missing = "error",
        lower_is_better: bool = False,
        depth: int | None = None,
        further: Sequence[tuple[str, str]] = (),
    ) -> list[Run]:
        """Return runs with the release's names of images; those already read stay as they are.

        Args:
            runs: files of scores or of vectors, images by image_id, SHA-256 or path; or runs.
            ids: of each .npy of vectors, the text file with an id a line.
            missing: "error" refuses a run without a score for every pair put to the judges.
            lower_is_better: scores of files are distances.
            depth: the exact depth of files that do not state it, as of `Run`.
            further: pairs that vectors score, too, such as drawn negatives.

        Raises:
            InputError: what is wrong with a file, with its line or row.
            MissingScoresError: pairs put to the judges without a score.
        """
        read, judged = [], replace(self.judged, further=further)
        for given in [runs] if isinstance(runs, (str, Path, Run)) else runs:
            run, source = given, ""
            if not isinstance(run, Run):
                path, source = Path(run), str(given)
                ids_path = (ids or {}).get(path)
                run = judged.read(
                    path, ids_path=ids_path, lower_is_better=lower_is_better, depth=depth
                )
            self.judged.pairs_scored(run, missing, source)
            read.append(self.judged.with_depth(run))
        return read

    def _refuse_part(self) -> None:
        if judged_share(self) < 1:
            raise ReleaseError(f"{self.place}: {IN_PART}")

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
