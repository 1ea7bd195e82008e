"""What a release folder holds: every table with its columns, every file with its purpose.

docs/formats.md is made from the words here, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from lookalike.release.conditional.layout import TEMPLATE_TABLES, TRIPLET_TABLES
from lookalike.release.format.columns import TYPES, Column, Table

SCHEMA_VERSION = 7
# 1 has no templates or triplets; 2 no campaign's pools and strata; 3 no tables for MTEB; 4 no
# grades; 5 no rounds; 6, which only releases with rounds have, no board and no depth of runs
READABLE = (1, 2, 3, 4, 5, 6, 7, 8)
WITHOUT_METADATA = 8  # only of releases that removed metadata from an image
FIRST_WITH_BOARD = 7  # the version of everything that stands in a release since then
PRODUCT_PREFIX = "query_product_prefix"
"""Key of release.json: what the product ids of images that are queries alone begin with, where
queries come from a catalog that does not share its ids with that of the candidates."""
MANIFEST = "MANIFEST.json"
SIGNATURE = f"{MANIFEST}.minisig"
MTEB_PATHS = ("mteb/corpus.parquet", "mteb/queries.parquet")
FACTS = ("release.json", "models.json", "guidelines.json")  # taken from the site
RULES = ("majority", "undecided", "unanimous", "dawid_skene")

_QUERY = Column("query_id", "text", "The query, an `image_id` of images.")
_IMAGE = Column("image_id", "text", "The candidate, an `image_id` of images.")
_MODEL = Column("model_id", "text", "The model, an `id` of models.json.")

TABLES = {
    table.name: table
    for table in (
        Table("images", "An image of the benchmark’s catalogs, judged or not.", ("image_id",), (
            Column("image_id", "text", "Its name here: the first characters of its SHA-256, "
                   "as many (at least 16) as make it unique. The same in every version."),
            Column("sha256", "text", "SHA-256 of the file’s bytes, hexadecimal."),
            Column("path", "text", "Path under which it was imported; the first of several."),
            Column("product_id", "text", "Product that it shows; empty where unknown. A product "
                   "belongs to its catalog: ids of a catalog of queries begin with its name, "
                   "unless both catalogs share their ids."),
            Column("width", "int32", "Pixels, upright."),
            Column("height", "int32", "Pixels, upright."),
            Column("format", "text", "JPEG, PNG or WEBP."),
            Column("n_bytes", "int64", "Size of the file."),
            Column("perceptual_hash", "text", "64-bit pHash, hexadecimal."),
            Column("duplicate_group", "text", "`image_id` of the first image of a group of near "
                   "duplicates; empty for an image without any."),
            Column("attributes", "text", "Attributes as a JSON object."),
            Column("is_candidate", "bool", "Whether models rank it: an image of the catalog "
                   "searched, rather than of the queries’ own catalog alone."),
            Column("file", "text", "The image in this release; empty where its licence keeps it "
                   "out."),
        )),
        Table("queries", "A query.", ("query_id",), (
            _QUERY,
            Column("position", "int32", "Order in which it was drawn, from 0."),
            Column("split", "text", "`public`, or `hidden` where the labels are kept back for "
                   "submissions."),
        )),
        Table("pairs", "A pair put to the judges.", ("query_id", "image_id"), (
            _QUERY, _IMAGE,
            Column("campaign", "text", "Slug of the campaign that asked it."),
            Column("stratum", "text", "`pool`, or the stratum below the pool that it was drawn "
                   "from."),
            Column("inclusion", "float64", "The chance that it had to be asked; 1 in the pool."),
        )),
        Table("pool", "A proposal: a model had the image among its k nearest to the query.",
              ("pool", "model_id", "query_id", "rank"), (
            _QUERY, _IMAGE, _MODEL,
            Column("rank", "int32", "Place in the model’s list, from 1."),
            Column("score", "float64", "The model’s own similarity; may be negative."),
            Column("pool", "text", "Slug of the pool."),
        )),
        Table("judgements", "What one judge says of one pair; an unjudged pair has no row.",
              ("query_id", "image_id", "annotator"), (
            _QUERY, _IMAGE,
            Column("annotator", "text", "The judge under a name of this release alone, a01, a02 …"),
            Column("answer", "text", "similar, different, cant_tell or skip; only the first two "
                   "vote."),
            Column("reason", "text", "Of a skip: bad_image, not_comparable, unsure or policy; "
                   "else empty."),
            Column("is_counted", "bool", "Whether it counts: a vote, not surplus to the k "
                   "wanted, and not excluded by an admin."),
            Column("mode", "text", "pair, sheet or import: how it was given."),
            Column("decided_at", "text", "UTC, rounded down to the hour."),
            Column("visible_ms", "int32", "Time the pair was on screen, rounded to 100 ms; 0 "
                   "where not measured."),
            Column("guideline_version", "int32", "Version of the guidelines then in force."),
            Column("campaign", "text", "Slug of the campaign."),
        ), may_be_graded=True),
        Table("rulings", "An admin’s ruling on a pair, which is its label whatever the votes.",
              ("query_id", "image_id"), (
            _QUERY, _IMAGE,
            Column("answer", "text", "similar or different."),
        ), may_be_graded=True),
        Table("labels", "The outcome of a pair with a vote or a ruling, by each rule; null where "
              "the rule leaves it undecided.", ("query_id", "image_id"), (
            _QUERY, _IMAGE,
            Column("n_similar", "int32", "Votes that count."),
            Column("n_different", "int32", "Votes that count."),
            Column("is_ruled", "bool", "Whether a ruling decides."),
            Column("label", "int8", "By the release’s own rule: 1 similar, 0 different; may be "
                   "null."),
            Column("majority", "int8", "More than half; a tie is different. May be null."),
            Column("undecided", "int8", "More than half; a tie has no label. May be null."),
            Column("unanimous", "int8", "All votes equal, else no label. May be null."),
            Column("dawid_skene", "int8", "1 where p_dawid_skene > 0.5. May be null."),
            Column("p_dawid_skene", "float64", "Chance of similar by the Dawid-Skene model of "
                   "the judges; null without a vote."),
        ), is_primary=False, may_be_graded=True),
        Table("excluded", "A pair put to the judges that has no label by the release’s rule, or "
              "is not compared.", ("query_id", "image_id"), (
            _QUERY, _IMAGE,
            Column("reason", "text", "`unjudged`: nobody has answered; `no_vote`: only can’t "
                   "tell and skip; `tie`: the rule leaves it open; `own_product`: an image of "
                   "the query’s product; `itself`: the query’s own picture; `below_pool`: drawn "
                   "below the pool, proposed by no model."),
        ), is_primary=False),
        Table("negatives", "A random negative: an image drawn from those neither judged nor of "
              "the query’s product, one for each positive.", ("query_id", "image_id"), (
            _QUERY, _IMAGE,
        ), is_primary=False),
        Table("results", "A measure of a model on one query.",
              ("model_id", "measure", "query_id"), (
            _MODEL,
            Column("measure", "text", "As docs/measures.md names it."),
            _QUERY,
            Column("value", "float64", "Null where the measure is undefined for the query."),
        ), is_primary=False),
        Table("qrels", "A label by the release’s rule, named as MTEB names it.",
              ("query-id", "corpus-id"), (
            Column("query-id", "text", "The query."),
            Column("corpus-id", "text", "The candidate."),
            Column("score", "int8", "1 similar, 0 different; where pairs are graded, the grade."),
        ), is_primary=False),
    )
}  # fmt: skip

ROUNDS = Table(
    "rounds", "A pair that was open when a round of judging was drawn, and the chance that it was "
    "drawn: estimates need it.", ("campaign", "round", "query_id", "image_id"), (
        Column("campaign", "text", "Slug of the campaign."),
        Column("round", "int32", "Number of the round, from 1."),
        _QUERY, _IMAGE,
        Column("probability", "float64", "That the round drew it, in (0, 1]."),
        Column("is_drawn", "bool", "Whether it did, and so put it to the judges."),
    ),
)  # fmt: skip
BOARD = Table(
    "board", "A value on the board, with its interval and the models that no test tells apart.",
    ("measure", "model_id"), (
        Column("measure", "text", "As docs/measures.md names it; `equal_outsider_auc` where the "
               "pool is whole."),
        _MODEL,
        Column("family", "text", "The model’s family."),
        Column("badge", "text", "Its part in the pool: pooled, sibling or outsider."),
        Column("value", "float64", "Mean over queries, or one value over all pairs; null where "
               "undefined."),
        Column("low", "float64", "Lower end of the 95 % interval; null without one."),
        Column("high", "float64", "Upper end of the 95 % interval; null without one."),
        Column("no_interval", "text", "Why there is no interval; empty where there is one, or "
               "never is."),
        Column("n_queries", "int32", "Queries of the mean; null for a value over all pairs."),
        Column("unit", "text", "What intervals and tests take as independent: query, or product "
               "where queries share one."),
        Column("n_units", "int32", "How many units the queries have; null where no interval is "
               "made of them."),
        Column("comparable_with", "text", "The models that this value may be compared with: all "
               "models, nobody, or a group."),
        Column("reason", "text", "Why."),
        Column("letters", "text", "Models that share a letter may be compared in this measure and "
               "no test tells them apart; empty without tests."),
    ),
    is_primary=False,
)  # fmt: skip
IMAGE_FILES = Table(
    "image_files", "An image of this release whose file is not the one that was imported: metadata "
    "such as EXIF with its place were removed, and its pixels are the same.", ("image_id",), (
        Column("image_id", "text", "The image; its `sha256` in images is of the file imported."),
        Column("file", "text", "The image in this release."),
        Column("sha256", "text", "SHA-256 of the bytes in this release, hexadecimal."),
        Column("n_bytes", "int64", "Size of the file in this release."),
    ),
)  # fmt: skip
BAND_NEGATIVES = Table(
    "band_negatives", "A negative from a band of ranks: an image among ranks 100 to 500 of the "
    "models that built the pool, neither judged nor proposed nor of the query’s product, one for "
    "each positive where so many are left.", ("query_id", "image_id"), (_QUERY, _IMAGE),
)  # fmt: skip
DRAWN_TABLES = {"uniform": "negatives", "band": BAND_NEGATIVES.name}
"""Where negatives stand, by the kind of draw."""
NEGATIVES = "negatives"
"""Key of release.json: how negatives were drawn for the areas on them."""
ALL_TABLES = {
    BAND_NEGATIVES.name: BAND_NEGATIVES,
    **TABLES,
    **{table.name: table for table in (BOARD, ROUNDS, IMAGE_FILES)},
    **TEMPLATE_TABLES,
    **TRIPLET_TABLES,
}


def has_rounds(info: Mapping[str, Any]) -> bool:
    """Whether a campaign of a release was judged in rounds."""
    return any(campaign.get("rounds") for campaign in info["campaigns"])


def has_stripped_images(info: Mapping[str, Any]) -> bool:
    """Whether metadata were removed from an image of a release."""
    return bool(info["licence"].get("image_metadata") == "removed")


def has_sets(info: Mapping[str, Any]) -> bool:
    """Whether a release holds templates or triplets."""
    return bool(info.get("template_sets") or info.get("triplet_sets"))


def list_tables(info: Mapping[str, Any]) -> list[Table]:
    """Return the tables of the release whose release.json is given."""
    tables = [table.graded() if info.get("grades") else table for table in TABLES.values()]
    if info.get("schema_version", 1) >= FIRST_WITH_BOARD:
        tables.append(BOARD)
    if has_rounds(info):
        tables.append(ROUNDS)
    if has_stripped_images(info):
        tables.append(IMAGE_FILES)
    if "band" in info.get(NEGATIVES, {}):
        tables.append(BAND_NEGATIVES)
    if info.get("template_sets"):
        tables += TEMPLATE_TABLES.values()
    if info.get("triplet_sets"):
        tables += TRIPLET_TABLES.values()
    return tables


def described_files(info: Mapping[str, Any]) -> list[str]:
    """Return the files that croissant.json names with their SHA-256: tables, then facts."""
    facts = FACTS if info.get("schema_version", 1) >= FIRST_WITH_BOARD else ()
    return [*(table.path for table in list_tables(info)), *facts]


RUN_COLUMNS = (
    Column("query", "text", "The query."),
    Column("candidate", "text", "The candidate."),
    Column("score", "float64", "The model’s score; higher is more similar."),
)
RUN_SCHEMA = pa.schema([(column.name, TYPES[column.kind]) for column in RUN_COLUMNS])

FILES = {
    "MANIFEST.json": "SHA-256, bytes and rows of every other file, and a hash over all of them.",
    "MANIFEST.json.minisig": "Where the institution signs: its signature of the manifest, as "
    "minisign makes it. Not in the manifest.",
    "README.md": "Dataset card for `datasets.load_dataset`, with what the release is.",
    "release.json": "What was frozen: name, version, campaigns, pools, rules, seeds, licences, "
    "citation, code.",
    "models.json": "One entry a model: id, name, family, badge, fingerprint and card.",
    "guidelines.json": "Every version of what judges were told, with its date.",
    "statistics.json": "Counts, ties and agreement with its intervals, computed from the tables.",
    "strata.json": "Strata of each campaign with their sizes N and n, and inclusion probabilities.",
    "results.json": "Every measure of every model, computed from runs and labels; where rounds "
    "have judged a part of the pool, `judged` says which share, and all values are estimates.",
    "bias.json": "Findings of the report on the pool’s bias, made from the release’s own pairs, "
    "runs and public labels; before version 7 of the site’s report, and frozen.",
    "runs/MODEL.parquet": "Scores of a model: the head of each list and every pair judged. Its "
    "metadata say as `exact_depth` down to which rank every list is complete; without it, lists "
    "are all that the model ranks.",
    "csv/labels.csv": "Table labels after both images’ paths, safe to open in a spreadsheet.",
    "csv/judgements.csv": "The table judgements, likewise.",
    "csv/images.csv": "The table images, likewise.",
    "csv/board.csv": "The table board, likewise.",
    "jsonl/labels.jsonl": "The table labels, one JSON object a line.",
    "jsonl/judgements.jsonl": "The table judgements, one JSON object a line.",
    "vsd/annotations.json": "The labels as the VSD benchmark’s code reads them; images by path.",
    "vsd/metadata.json": "Product of each image by path, as the VSD benchmark’s code reads it.",
    "trec/qrels.txt": "The labels by the release’s rule, as TREC qrels; where pairs are graded, "
    "the grades.",
    "trec/qrels.RULE.txt": "The labels by another rule: majority, undecided, unanimous or "
    "dawid_skene.",
    "trec/qrels.xinfap.txt": "For xinfAP over the pool: topic numbers are positions in queries "
    "plus 1, the stratum is 0, -1 marks a pair without a label. Pairs drawn below the pool are "
    "left out, since nothing here names the rest of their strata. Not where rounds have judged a "
    "part of the pool.",
    "trec/images.tsv": "Name and path of each image, as ir_datasets reads documents.",
    "trec/queries.tsv": "Name and path of each query, as ir_datasets reads queries.",
    "trec/runs/MODEL.txt": "The first 100 of each list of a model, as a TREC run; of an uploaded "
    "run the list is as it was given.",
    "mteb/corpus.parquet": "The images that models rank, as MTEB reads them: id, modality, "
    "product_id (empty where the query’s own product is compared, too) and, where the images are "
    "given away, image.",
    "mteb/queries.parquet": "The queries with a similar image, likewise; their labels are the "
    "table qrels.",
    "conditional.json": "Of each set of templates or triplets: counts, shares and agreement with "
    "its intervals.",
    "genecis/SET.json": "The templates of a set that people verified, in the format of GeneCIS; "
    "images by the number that their path names, else by path; whole images have a box, too, in "
    "tasks of attributes.",
    "triplets/SET.csv": "The triplets of a set with a majority, images by path: anchor, closer, "
    "farther, condition, n_votes, n_closer.",
    "croissant.json": "Croissant 1.1 metadata with its RAI properties, from the datasheet.",
    "CITATION.cff": "How to cite.",
    "CHANGELOG.md": "What changed from version to version.",
    "LICENSE.txt": "Terms of the labels and of the images.",
    "datasheet.md": "The datasheet: why, what, who judged, how well they agree, known biases.",
    "datasheet.html": "The same to read in a browser or to print.",
    "guidelines/CAMPAIGN-vN.md": "The guidelines as shown to the judges.",
    "guidelines/CAMPAIGN-vN.LANGUAGE.md": "The same in another language, where there is one.",
    "images/IMAGE.ENDING": "An image, where its licence allows.",
}
