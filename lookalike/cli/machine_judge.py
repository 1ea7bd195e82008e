"""`lookalike machine-judge`: what a machine's answers are worth beside a panel's."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from lookalike.agreement.machine_judge import (
    DIVIDED,
    Leaning,
    Trial,
    answers_by_score,
    leaning,
    powered_share,
    trial,
)
from lookalike.bias.evidence.files import Proposals, VoteTable
from lookalike.cli.input_files import InputFiles
from lookalike.cli.inputs import VOTES, file_option
from lookalike.cli.output import Report
from lookalike.cli.vote_options import add_vote_options
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Put a machine judge on trial: its kappa with a panel beside that of the experts, how much it "
    "favours what its own family proposed, what it would save, and the share of similar pairs as "
    "its answers and the experts' labels tell together. It never votes. Answers are labels of its "
    "own, or a run: then the highest scores are similar, as many as the experts find."
)
EXAMPLE = "lookalike machine-judge --votes votes.csv --answers model.csv --proposals pool.csv"
HEADER = (
    "pairs", "n_pairs", "kappa", "kappa_low", "kappa_high", "expert_kappa", "expert_kappa_low",
    "expert_kappa_high", "misses", "false_alarms",
)  # fmt: skip
NO_LABEL = (
    f"{DIVIDED!r} is empty: no pair has other votes that differ and still have a majority, which "
    "takes four votes of a pair"
)
Pair = tuple[str, str]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    file_option(parser, "--votes", VOTES, required=True)
    file_option(parser, "--answers", "the machine's own labels, as --qrels are")
    file_option(parser, "--run", "or its scores")
    file_option(
        parser, "--proposals", "query,candidate,model,rank: tells apart what is ranked first"
    )
    parser.add_argument(
        "--own", action="append", default=[], metavar="MODEL",
        help="a model of the proposals that is of the machine's family; once per model",
    )  # fmt: skip
    add_vote_options(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Try it.

    Raises:
        InputError, Refused: files or options that cannot be used.
        OSError: if a file cannot be opened.
    """
    if (arguments.answers is None) == (arguments.run is None):
        raise InputError("a trial takes --answers or --run, one of both")
    if arguments.own and arguments.proposals is None:
        raise InputError("--own says nothing without --proposals")
    files = InputFiles(arguments, "the votes")
    votes = files.votes(arguments.votes)
    proposals = None if arguments.proposals is None else files.proposals(arguments.proposals)
    pairs, s, d = _panel(votes, proposals)
    labels = np.where(s + d > 0, (s > d).astype(np.float64), np.nan)
    answers = _answers(arguments, files, pairs, labels)
    queries = np.unique([query for query, _ in pairs], return_inverse=True)[1].astype(np.int64)
    strata = {} if proposals is None else _by_rank(proposals, pairs)
    found = trial(s, d, answers, strata, units=queries)
    lean = None
    if proposals is not None and arguments.own:
        lean = leaning(labels, answers, _own(proposals, arguments.own, pairs), queries)
    kept = ~np.isnan(answers)
    share, ends = powered_share(labels[kept], answers[kept], queries[kept])
    experts = float(np.nanmean(labels))
    rows = [
        (
            one.name,
            one.n_pairs,
            one.kappa,
            one.interval.low,
            one.interval.high,
            one.human_kappa,
            one.human_interval.low,
            one.human_interval.high,
            one.misses,
            one.false_alarms,
        )
        for one in found.strata
    ]
    text = [*_text(found), *_leans(lean, arguments.own)]
    text.append(
        f"share of similar pairs: {TEXT.number(experts)} as experts say; {TEXT.number(share)} "
        f"{TEXT.interval(ends)} with the machine's answers, if what experts judged is a random part"
    )
    return Report(
        title="A machine judge on trial",
        text="\n".join(text) + "\n",
        data={
            **as_json(found), "leaning": as_json(lean) if lean else None,
            "share_similar": experts, "powered": {"value": share, **as_json(ends)},
        },
        table=Table(HEADER, rows),
        notes=[*files.notes, *([] if found.strata[2].n_pairs else [NO_LABEL])],
    )  # fmt: skip


def _panel(votes: VoteTable, proposals: Proposals | None) -> tuple[list[Pair], Ints, Ints]:
    """Return the pairs judged or proposed, and their votes."""
    at: dict[Pair, int] = {}
    for query, candidate, _, _ in votes.rows:
        at.setdefault((query, candidate), len(at))
    for pair in () if proposals is None else _pairs(proposals):
        at.setdefault(pair, len(at))
    counts = np.zeros((len(at), 2), dtype=np.int64)
    for query, candidate, _, value in votes.rows:
        counts[at[query, candidate], value] += 1
    return list(at), counts[:, 1], counts[:, 0]


def _answers(
    arguments: argparse.Namespace, files: InputFiles, pairs: list[Pair], labels: Floats
) -> Floats:
    """Return what the machine says of each pair, NaN for nothing."""
    if arguments.answers is not None:
        answers = files.labels(arguments.answers)
        said = {(query, candidate): label for query, candidate, label in answers}
        return np.array([said.get(pair, np.nan) for pair in pairs], dtype=np.float64)
    by_query = files.run(arguments.run).by_query()
    scores = np.array([by_query.get(q, {}).get(c, np.nan) for q, c in pairs], dtype=np.float64)
    try:
        return answers_by_score(scores, labels)
    except Refused as problem:
        raise InputError(f"{arguments.run} has a score for no judged pair") from problem


def _pairs(proposals: Proposals) -> Iterator[Pair]:
    for q, c in zip(proposals.queries.tolist(), proposals.candidates.tolist(), strict=True):
        yield proposals.query_ids[q], proposals.candidate_ids[c]


def _by_rank(proposals: Proposals, pairs: list[Pair]) -> dict[str, Bools]:
    """Return the pairs that some model ranks first, and those that none does."""
    best: dict[Pair, int] = {}
    for pair, rank in zip(_pairs(proposals), proposals.ranks.tolist(), strict=True):
        best[pair] = min(rank, best.get(pair, rank))
    is_first = np.array([best.get(pair, 0) == 1 for pair in pairs])
    return {"ranked first by a model": is_first, "by none": ~is_first}


def _own(proposals: Proposals, models: list[str], pairs: list[Pair]) -> Bools:
    if unknown := set(models) - set(proposals.generators):
        raise InputError(f"--own {min(unknown)!r} is no model of the proposals")
    numbers = [proposals.generators.index(name) for name in models]
    is_own = np.isin(proposals.models, numbers).tolist()
    own = {pair for pair, one in zip(_pairs(proposals), is_own, strict=True) if one}
    return np.array([pair in own for pair in pairs])


def _text(found: Trial) -> Iterator[str]:
    rows = [["", "pairs", "kappa", "an expert's", "misses", "false alarms"]]
    for one in found.strata:
        shares = [TEXT.share(one.misses), TEXT.share(one.false_alarms)]
        kappas = [
            f"{TEXT.number(value)} {TEXT.interval(ends) if ends.is_defined else ''}".strip()
            for value, ends in (
                (one.kappa, one.interval), (one.human_kappa, one.human_interval)
            )
        ]  # fmt: skip
        rows.append([one.name, f"{one.n_pairs:,}", *kappas, *shares])
    yield from table(rows)
    yield ""
    yield (
        f"in the place of one judge: {TEXT.share(found.saved)} of the votes saved, "
        f"{TEXT.share(found.changed)} of the labels another or none"
    )


def _leans(lean: Leaning | None, models: list[str]) -> Iterator[str]:
    if lean is not None:
        yield (
            f"calls similar what experts call different: {TEXT.share(lean.own)} of {lean.n_own:,} "
            f"pairs proposed by {', '.join(models)}, {TEXT.share(lean.other)} of {lean.n_other:,} "
            f"others (standard error of the difference {TEXT.share(lean.error)})"
        )
