"""Files of labels and scores: VSD JSON, TREC, CSV, parquet."""

from catalog.formats.errors import FormatError
from catalog.formats.runs import read_run
from catalog.formats.tables import Qrels, Run
from evaluation.formats.read import read_products, read_qrels
from evaluation.formats.write import write_csv, write_trec_qrels, write_trec_run, write_vsd

__all__ = [
    "FormatError",
    "Qrels",
    "Run",
    "read_products",
    "read_qrels",
    "read_run",
    "write_csv",
    "write_trec_qrels",
    "write_trec_run",
    "write_vsd",
]
