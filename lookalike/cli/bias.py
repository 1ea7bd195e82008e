"""`python -m evaluation bias`: what a pooled label set hides, as JSON or as text."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.bias.assemble import Extras, assemble_evidence
from lookalike.bias.evidence import PoolEvidence
from lookalike.bias.report import BiasReport, BiasSettings, as_json, bias_report
from lookalike.bias.tables import read_attribute, read_families, read_proposals, read_votes
from lookalike.bias.text import as_text
from lookalike.io.errors import InputError
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.runs import read_run

if TYPE_CHECKING:
    SubCommands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(sub_commands: SubCommands) -> None:
    """Add the sub-command and its options."""
    parser = sub_commands.add_parser(
        "bias",
        help="lay open the bias of a pool",
        description="Report what a pooled label set does to the models that did and did not build "
        "it. A run named like a model of the proposals is that model.",
    )
    _add_inputs(parser)
    _add_settings(parser)
    parser.set_defaults(command=run)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    def add(name: str, text: str, **options: Any) -> None:
        parser.add_argument(name, metavar="FILE", type=Path, help=text, **options)

    add("--qrels", "labels: VSD JSON, TREC, CSV or parquet", required=True)
    add("--proposals", "CSV or parquet: query,candidate,model,rank", required=True)
    add("--run", "TREC, CSV or parquet; once per model", required=True, action="append")
    add("--families", "CSV or parquet: model,family")
    add("--votes", "CSV or parquet: query,candidate,annotator,value")
    add("--metadata", "products (VSD JSON or CSV path,product_id); their pairs are left out")
    add("--attributes", "CSV or parquet: path and one column per --attribute")
    add("--negatives", "frozen random negatives: labels that are all 0")
    parser.add_argument(
        "--attribute", action="append", default=[], metavar="NAME", help="column of --attributes"
    )


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--contamination",
        type=float,
        metavar="SHARE",
        help="estimated share of true positives among the random negatives",
    )
    parser.add_argument(
        "--candidates", type=int, metavar="N", help="candidates of a query in the catalogue"
    )
    parser.add_argument("--k", default="", metavar="5,10", help="cut-offs of P@k")
    parser.add_argument(
        "--missing",
        choices=("error", "worst"),
        default="error",
        help="judged pairs without a score: refuse the run, or rank them below all others",
    )
    parser.add_argument(
        "--bootstraps", type=int, default=1_000, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "--permutations", type=int, default=10_000, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(arguments: argparse.Namespace) -> int:
    """Read the files, make the report and write it to stdout, remarks to stderr.

    Raises:
        InputError: with file, line and reason.
        OSError: if a file cannot be opened.
    """
    settings = BiasSettings(
        n_bootstraps=_at_least("--bootstraps", arguments.bootstraps, 0),
        n_permutations=_at_least("--permutations", arguments.permutations, 1),
        ks=_cutoffs(arguments.k),
    )
    evidence = _evidence(arguments)
    report = bias_report(evidence, np.random.default_rng(arguments.seed), settings)
    _remark(evidence)
    sys.stdout.write(_json(arguments, report) if arguments.json else as_text(report))
    return 0


def _evidence(arguments: argparse.Namespace) -> PoolEvidence:
    if arguments.attribute and not arguments.attributes:
        raise InputError("--attribute needs the file --attributes")
    if arguments.contamination is not None and not 0 <= arguments.contamination < 1:
        raise InputError(f"--contamination {arguments.contamination} is not in [0, 1)")
    if arguments.candidates is not None:
        _at_least("--candidates", arguments.candidates, 1)
    return assemble_evidence(
        read_qrels(arguments.qrels),
        read_proposals(arguments.proposals),
        [read_run(path) for path in arguments.run],
        missing=arguments.missing,
        extras=Extras(
            families=read_families(arguments.families) if arguments.families else None,
            products=read_products(arguments.metadata) if arguments.metadata else None,
            votes=read_votes(arguments.votes) if arguments.votes else None,
            attributes={n: read_attribute(arguments.attributes, n) for n in arguments.attribute},
            negatives=_negatives(arguments.negatives),
            contamination=arguments.contamination,
            n_candidates=arguments.candidates,
        ),
    )


def _negatives(path: Path | None) -> list[tuple[str, str]]:
    if path is None:
        return []
    found = read_qrels(path)
    if found.labels.any():
        raise InputError(f"{path}: random negatives are labels that are all 0; one is 1")
    return [(query, candidate) for query, candidate, _ in found]


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


def _remark(evidence: PoolEvidence) -> None:
    if not set(evidence.models) & set(evidence.generators):
        sys.stderr.write(
            "note: no run is named like a model of the proposals "
            f"({', '.join(evidence.generators)}), so all count as outsiders\n"
        )
    absent = [name for name in evidence.generators if name not in evidence.models]
    if absent and len(absent) < len(evidence.generators):
        sys.stderr.write(f"note: no run of {', '.join(absent)}, which built the pool\n")


def _json(arguments: argparse.Namespace, report: BiasReport) -> str:
    inputs = {
        "labels": str(arguments.qrels),
        "proposals": str(arguments.proposals),
        "runs": [str(path) for path in arguments.run],
        "seed": arguments.seed,
    }
    found = {"inputs": inputs} | as_json(report)
    return json.dumps(found, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
