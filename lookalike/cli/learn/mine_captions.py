"""`lookalike learn mine-captions`: triplets of images and conditions, from captions."""

from __future__ import annotations

import argparse
from pathlib import Path

from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.io.documents import Table
from lookalike.learning.captions.concreteness import read_concreteness
from lookalike.learning.captions.files import (
    TRIPLET_HEADER,
    read_captions,
    read_parsed,
    triplet_cells,
    write_parsed,
)
from lookalike.learning.captions.mining import (
    REDRAWS,
    THRESHOLD,
    TRIES,
    CaptionTable,
    Mined,
    Rules,
    mine,
    shard,
)
from lookalike.learning.captions.relations import ParsedCaption, flatten, parse_captions
from lookalike.stats.text_tables import table

DESCRIPTION = (
    "Read who does what with whom out of captions, and draw triplets: two images of one subject "
    "with different objects, and what is said of the second. With a table of concreteness, of "
    "Brysbaert et al. (2014) or in its columns, only what one can see is kept. A triplet depends "
    "on captions, seed and its number alone, so shards together are what one draw gives. Needs "
    "the extra `captions`."
)
EXAMPLE = "lookalike learn mine-captions captions.csv --concreteness ratings.txt -n 10000 --out triplets.csv"  # noqa: E501


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "captions", type="input", metavar="CAPTIONS",
        help="CSV with the columns image and caption, a .tsv as Conceptual Captions has, or a "
        ".jsonl of --relations",
    )  # fmt: skip
    parser.add_argument(
        "--relations", type=Path, metavar="FILE",
        help="write there what was read, a .jsonl, so that it need not be read again",
    )  # fmt: skip
    parser.add_argument(
        "--concreteness", type="input", metavar="FILE",
        help="with tabs, the columns Word and Conc.M; all triplets are kept if it is not given",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", type=float, default=THRESHOLD, metavar="X",
        help="which a triplet's mean concreteness has to exceed; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--rated", type=int, choices=(2, 3), default=3, metavar="ROWS",
        help="3: the mean is over reference, target and distractor, as in the paper's code; 2: "
        "without the distractor, as in its text; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--redraw", choices=REDRAWS, default=REDRAWS[0],
        help="what is drawn again where a target has the reference's object or image: the target, "
        "as in the paper's code, or the whole triplet, which thins subjects of few objects; "
        "default: %(default)s",
    )  # fmt: skip
    parser.add_argument("-n", type=int, default=1000, metavar="N", help="triplets in all; default: %(default)s")  # noqa: E501  # fmt: skip
    parser.add_argument(
        "--shard", type=_part, default=(1, 1), metavar="K/N", help="only the K-th of N parts"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Report:
    """Read captions and draw triplets.

    Raises:
        InputError, Refused: files that cannot be used, or captions that give no triplet.
        OSError: a file cannot be read or written.
    """
    notes = []
    path = Path(arguments.captions)
    if path.suffix == ".jsonl":
        parsed = read_parsed(path)
    else:
        captions, n_further = read_captions(path)
        parsed = list(parse_captions(captions))
        if n_further:
            notes.append(f"left out: {n_further:,} captions of images that have another")
    if arguments.relations:
        write_parsed(parsed, arguments.relations)
    ratings = read_concreteness(arguments.concreteness) if arguments.concreteness else None
    rules = Rules(threshold=arguments.threshold, n_rows=arguments.rated, redraw=arguments.redraw)
    found = CaptionTable(flatten(parsed), rules, ratings)
    number, n_shards = arguments.shard
    mined = mine(found, shard(arguments.n, number - 1, n_shards), arguments.seed)
    if mined.n_given_up:
        notes.append(f"{mined.n_given_up:,} numbers have no triplet: {TRIES:,} draws were rejected")
    return _report(parsed, found, mined, notes)


def _report(
    parsed: list[ParsedCaption], found: CaptionTable, mined: Mined, notes: list[str]
) -> Report:
    n_without = sum(not one.relations for one in parsed)
    counts = {
        "captions": len(parsed),
        "captions without a relation": n_without,
        "relations": len(found.rows),
        "subjects that are drawn": len(found.subjects),
        "triplets": len(mined.triplets),
    }
    rejected = {f"rejected: {reason}": n for reason, n in mined.rejected.items()}
    shown = [("what", "how many"), *((k, f"{n:,}") for k, n in (counts | rejected).items())]
    title = f"{len(mined.triplets):,} triplets from {len(parsed):,} captions"
    cells = [triplet_cells(found, triplet) for triplet in mined.triplets]
    return Report(
        title=title,
        text="\n".join([title, *table(shown), ""]),
        data={
            "n_captions": len(parsed),
            "n_without_relation": n_without,
            "n_relations": len(found.rows),
            "subjects": found.subjects,
            "rejected": mined.rejected,
            "n_given_up": mined.n_given_up,
            "triplets": [dict(zip(TRIPLET_HEADER, row, strict=True)) for row in cells],
        },
        table=Table(TRIPLET_HEADER, cells),
        notes=notes,
    )


def _part(text: str) -> tuple[int, int]:
    number, slash, n = text.partition("/")
    if not (slash and number.isdecimal() and n.isdecimal() and 1 <= int(number) <= int(n)):
        raise argparse.ArgumentTypeError(f"{text!r} is not K/N with K from 1 to N")
    return int(number), int(n)
