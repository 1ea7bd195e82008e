"""`lookalike bias`: what a pooled label set hides."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lookalike.bias.evidence.assemble import Extras, assemble_evidence
from lookalike.bias.evidence.files import Proposals, read_attribute, read_families
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.report import BiasReport, BiasSettings, bias_report
from lookalike.bias.words.page import as_page
from lookalike.bias.words.text import as_text
from lookalike.cli.input_files import InputFiles
from lookalike.cli.inputs import PROPOSALS, VOTES, file_option
from lookalike.cli.options import seed
from lookalike.cli.output import Report, format_option
from lookalike.cli.run_options import (
    add_missing,
    add_runs,
    add_score_rules,
    check_runs,
    hint_at_missing,
    read_runs,
)
from lookalike.cli.score_release import named_apart
from lookalike.cli.unit_option import add_unit, chosen_unit, metadata_products
from lookalike.cli.vote_options import add_vote_options
from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.labels import read_negatives
from lookalike.io.tables import Qrels, Run
from lookalike.release.opened import Release, open_release

DESCRIPTION = (
    "Report what a pooled label set does to the models that did and did not build it. A run named "
    "like a model of the proposals is that model."
)
EXAMPLE = "lookalike bias --qrels labels.json --proposals pool.csv --run beit.csv --run clip.csv"

OF_THE_RELEASE = (
    *("qrels", "proposals", "families", "votes", "metadata", "attributes", "negatives"),
    *("attribute", "contamination", "candidates"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = partial(file_option, parser)
    add("--release", "a release's folder or zip, in place of all files but those of newcomers")
    add("--qrels", "labels: VSD JSON, TREC, CSV or parquet")
    add("--proposals", PROPOSALS)
    add_runs(parser, also="; with --release a newcomer, compared with the release's models")
    add("--families", "CSV or parquet: model,family")
    add("--votes", VOTES)
    add("--metadata", "products (VSD JSON or CSV path,product_id); their pairs are left out")
    add("--attributes", "CSV or parquet: path and one column per --attribute")
    add("--negatives", "frozen random negatives: labels that are all 0, or a release's")
    parser.add_argument(
        "--attribute", action="append", default=[], metavar="NAME", help="column of --attributes"
    )
    parser.add_argument(
        "--contamination",
        type=float,
        metavar="SHARE",
        help="estimated share of true positives among the random negatives",
    )
    parser.add_argument(
        "--candidates", type=int, metavar="N", help="candidates of a query in the catalogue"
    )
    add_unit(parser, "--metadata, or an attribute of the release,")
    add_score_rules(parser)
    add_vote_options(parser)
    parser.add_argument("--k", default="", metavar="5,10", help="cut-offs of P@k")
    add_missing(parser)
    parser.add_argument(
        "--bootstraps", type=int, default=1_000, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "--permutations", type=int, default=10_000, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--seed", type=seed, default=0, help="default: %(default)s")
    parser.add_argument(
        "--full", action="store_true", help="print every table of the report, not one page"
    )
    format_option(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Read the files and make the report.

    Raises:
        InputError: with file, line and reason.
        OSError: if a file cannot be opened.
    """
    settings = BiasSettings(
        n_bootstraps=_at_least("--bootstraps", arguments.bootstraps, 0),
        n_permutations=_at_least("--permutations", arguments.permutations, 1),
        ks=_cutoffs(arguments.k),
    )
    if arguments.release is not None:
        return _of_release(arguments, settings)
    needed = ("qrels", "proposals", "run")
    if missing := [f"--{name}" for name in needed if not getattr(arguments, name)]:
        raise InputError(f"{', '.join(missing)} missing: give these files, or --release alone")
    evidence, reading = _evidence(arguments)
    report = bias_report(evidence, np.random.default_rng(arguments.seed), settings)
    return Report(
        title=f"Bias of the pool {arguments.proposals}",
        text=as_text(report) if arguments.full else as_page(report),
        full=as_text(report),
        data=_json(arguments, report),
        table=_table(report),
        findings=report.findings,
        notes=[*reading, *_notes(evidence)],
    )


def _of_release(arguments: argparse.Namespace, settings: BiasSettings) -> Report:
    for name in OF_THE_RELEASE:
        if getattr(arguments, name) not in (None, []):
            raise InputError(f"--{name} does not go with --release, which says it itself")
    with open_release(arguments.release) as release:
        newcomers = _newcomers(arguments, release)
        report = release.bias_report(
            newcomers, seed=arguments.seed, settings=settings, unit=arguments.unit
        )
        notes = release.caveats
        if hidden := len(release.hidden_queries):
            notes.append(f"{hidden} queries with hidden labels are left out")
        names = [run.name for run in newcomers]
        return Report(
            title=f"Bias of the pool of {release.title}",
            text=as_text(report) if arguments.full else as_page(report, names),
            full=as_text(report),
            data={
                "inputs": {
                    "release": str(arguments.release),
                    "newcomers": names,
                    "seed": arguments.seed,
                },
                **as_json(report),
            },
            table=_table(report),
            findings=report.findings,
            notes=notes,
        )


def _newcomers(arguments: argparse.Namespace, release: Release) -> list[Run]:
    """Read newcomers; one with the id of a model of the release gets its file in its name."""
    with hint_at_missing():
        read = release.read_runs(
            arguments.run,
            ids=check_runs(arguments),
            missing=arguments.missing,
            lower_is_better=arguments.lower_is_better,
            depth=arguments.depth,
        )
    taken = {model["id"] for model in release.models}
    files = zip(arguments.run, read, strict=True)
    return named_apart(
        [
            (path, replace(run, name=f"{run.name} ({path})") if run.name in taken else run)
            for path, run in files
        ]
    )


def _evidence(arguments: argparse.Namespace) -> tuple[PoolEvidence, list[str]]:
    """Return the evidence, and notes on what files left out or wrote in another way."""
    if arguments.attribute and not arguments.attributes:
        raise InputError("--attribute needs the file --attributes")
    if arguments.contamination is not None and not 0 <= arguments.contamination < 1:
        raise InputError(f"--contamination {arguments.contamination} is not in [0, 1)")
    if arguments.candidates is not None:
        _at_least("--candidates", arguments.candidates, 1)
    files = InputFiles(arguments, "the labels")
    qrels = files.labels(arguments.qrels)
    proposals = files.proposals(arguments.proposals)
    extras = _extras(arguments, files, proposals)
    runs = [
        run
        for _, run in read_runs(
            arguments, qrels, files.names, products=extras.products, further=extras.negatives
        )
    ]
    files.note_runs(runs)
    evidence = assemble_evidence(qrels, proposals, runs, missing=arguments.missing, extras=extras)
    return evidence, [*files.notes, *_unknown_notes(qrels, runs)]


def _extras(arguments: argparse.Namespace, files: InputFiles, proposals: Proposals) -> Extras:
    """Return what was given beyond labels, proposals and runs, under the names of the labels."""
    names = files.names
    products = metadata_products(arguments, names.notes)
    if products is not None:
        products = names.mapping(products, str(arguments.metadata))
    unit = chosen_unit(arguments.unit, arguments.metadata, products).named(names)
    if arguments.unit:
        unit.refuse_strangers(proposals.query_ids, arguments.metadata)
    attributes = {
        name: names.mapping(read_attribute(arguments.attributes, name), str(arguments.attributes))
        for name in arguments.attribute
    }
    negatives = read_negatives(arguments.negatives) if arguments.negatives else []
    return Extras(
        families=read_families(arguments.families) if arguments.families else None,
        products=products,
        unit_of=unit.unit_of or {},
        unit_name=unit.name,
        votes=files.votes(arguments.votes) if arguments.votes else None,
        attributes=attributes,
        negatives=names.pairs(negatives, str(arguments.negatives)),
        contamination=arguments.contamination,
        n_catalogue_pairs=arguments.candidates and arguments.candidates * len(proposals.query_ids),
    )


def _unknown_notes(qrels: Qrels, runs: Sequence[Run]) -> Iterator[str]:
    """Name what runs ask that the labels do not: such lists are not looked at."""
    known = set(qrels.query_ids)
    for run in runs:
        if unknown := [query for query in run.query_ids if query not in known]:
            yield (
                f"run {run.name!r} has {len(unknown):,} queries without labels, which are ignored "
                f"(first: {unknown[0]!r})"
            )


def _cutoffs(text: str) -> tuple[int, ...] | None:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if not name.isdecimal() or int(name) < 1:
            raise InputError(f"--k {name!r} is not a whole number from 1")
    return tuple(sorted({int(name) for name in names})) or None


def _at_least(option: str, value: int, least: int) -> int:
    if value < least:
        raise InputError(f"{option} {value} is below {least}")
    return value


def _notes(evidence: PoolEvidence) -> Iterator[str]:
    if not set(evidence.models) & set(evidence.generators):
        yield (
            "no run is named like a model of the proposals "
            f"({', '.join(evidence.generators)}), so all count as outsiders"
        )
    absent = [name for name in evidence.generators if name not in evidence.models]
    if absent and len(absent) < len(evidence.generators):
        yield f"no run of {', '.join(absent)}, which built the pool"


def _table(report: BiasReport) -> Table:
    """Return the models' main columns."""
    header = ["model", "badge", "macro_auc", "low", "high", "macro_ap", "micro_auc"]
    header += ["equal_outsider_auc", "family_matched_auc", "forced_loss_ceiling"]
    return Table(
        header,
        [
            [
                *(row.name, row.badge, row.macro_auc.value),
                *(row.macro_auc.interval.low, row.macro_auc.interval.high),
                *(row.macro_ap.value, row.micro_auc.value, row.equal_outsider_auc.value),
                *(row.family_matched_auc.value, row.forced_loss_ceiling),
            ]
            for row in report.model_rows
        ],
    )


def _json(arguments: argparse.Namespace, report: BiasReport) -> dict[str, Any]:
    inputs = {
        "labels": str(arguments.qrels),
        "proposals": str(arguments.proposals),
        "runs": [str(path) for path in arguments.run],
        "seed": arguments.seed,
    }
    return {"inputs": inputs, **as_json(report)}
