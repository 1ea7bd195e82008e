"""The files of one command, read by the same options and with one name for each image."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lookalike.bias.evidence.files import Proposals, VoteTable, read_proposals, read_votes
from lookalike.cli.vote_options import vote_options
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.matched_names import MatchedNames
from lookalike.io.runs import read_run
from lookalike.io.tables import Qrels, Run


class InputFiles:
    """Reads labels, votes, proposals, products and runs.

    The first file has the names of images; later ones are matched with it
    (`lookalike.io.matched_names`).

    Args:
        arguments: with the options of `lookalike.cli.vote_options`.
        title: what the first file is called in messages.
    """

    def __init__(self, arguments: argparse.Namespace, title: str = "the first file") -> None:
        self.options = vote_options(arguments)
        self.names = MatchedNames((), title)
        self._run_notes: list[str] = []

    @property
    def notes(self) -> list[str]:
        """What was left out, repaired or matched, a sentence each."""
        return [*self.options.notes, *self.names.notes, *self._run_notes]

    def labels(self, path: str | Path, *, min_rel: int | None = None) -> Qrels:
        """Return labels; see `lookalike.io.labels.read_qrels`."""
        qrels = read_qrels(path, min_rel=min_rel, options=self.options)
        qrels = self.names.table(qrels, str(path))
        self.names.add({*qrels.query_ids, *qrels.candidate_ids})
        return qrels

    def proposals(self, path: str | Path) -> Proposals:
        """Return proposals; see `lookalike.bias.evidence.files.read_proposals`."""
        proposals = self.names.table(read_proposals(path), str(path))
        self.names.add({*proposals.query_ids, *proposals.candidate_ids})
        return proposals

    def votes(self, path: str | Path) -> VoteTable:
        """Return votes on pairs; see `lookalike.bias.evidence.files.read_votes`."""
        votes = read_votes(path, self.options)
        pairs = self.names.pairs([row[:2] for row in votes.rows], str(path))
        rows = zip(pairs, votes.rows, strict=True)
        return replace(votes, rows=tuple((*pair, *row[2:]) for pair, row in rows))

    def products(self, path: str | Path) -> dict[str, str]:
        """Return the product of each image; see `lookalike.io.labels.read_products`."""
        return self.names.mapping(read_products(path, self.names.notes), str(path))

    def run(
        self, path: str | Path, *, lower_is_better: bool = False, depth: int | None = None
    ) -> Run:
        """Return a run; see `lookalike.io.runs.read_run`."""
        run = self.names.run(read_run(path, lower_is_better=lower_is_better, depth=depth))
        self.note_runs([run])
        return run

    def note_runs(self, runs: Sequence[Run]) -> None:
        """Take the notes of runs that were read elsewhere."""
        self._run_notes += [f"run {run.name!r}: {note}" for run in runs for note in run.notes]

    def runs(self, paths: Sequence[str | Path]) -> list[Run]:
        """Return several runs."""
        return [self.run(path) for path in paths]
