"""Labels and runs as other tools of the field write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.io.errors import FormatError
from lookalike.io.labels import read_qrels
from lookalike.io.runs import read_run

LABELS = [("q1", "a", 0), ("q1", "b", 1), ("q2", "b", 1)]
RUN = {"q1": {"a": 0.5, "b": 2.0}, "q2": {"b": -1.0}}
ROWS = [("q1", "b", "1"), ("q1", "a", "0"), ("q2", "b", "1")]


def lines(rows: list[tuple[str, ...]], separator: str = ",") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def table(*header: str, separator: str = ",", words: tuple[str, str] = ("0", "1")) -> str:
    rows = [(query, image, words[int(label)]) for query, image, label in ROWS]
    return lines([header, *rows], separator)


NESTED = {"q1": {"a": 0, "b": 1}, "q2": {"b": 1}}
LABEL_FILES = {
    "beir.tsv": table("query-id", "corpus-id", "score", separator="\t"),
    "mteb": table("query-id", "corpus-id", "score", separator="\t"),
    "german.csv": table("query", "candidate", "label", separator=";"),
    "excel.csv": "sep=;\n" + table("query", "candidate", "label", separator=";"),
    "bars.txt": table("qid", "docno", "label", separator="|"),
    "spaces.csv": table("query ", " candidate", " label"),
    "terrier.csv": table("qid", "docno", "label"),
    "irds.tsv": table("query_id", "doc_id", "relevance", separator="\t"),
    "capital.csv": table("Query_ID", "Doc-Id", "Relevance"),
    "true.csv": table("query", "candidate", "label", words=("false", "true")),
    "excel-true.csv": table("query", "candidate", "label", words=("FALSE", "TRUE")),
    "yes.csv": table("query", "candidate", "label", words=("no", "Yes")),
    "similar.csv": table("query", "candidate", "label", words=("Different", "similar")),
    "floats.csv": table("query", "candidate", "label", words=("0.0", "1.0")),
    "nested.json": json.dumps(NESTED),
    "indented.json": json.dumps(NESTED, indent=2),
    "wrapped.json": json.dumps({"rule": "majority", "n": 3, "labels": NESTED}),
    "nested.jsonl": "".join(json.dumps({q: found}) + "\n" for q, found in NESTED.items()),
    "records.json": json.dumps(
        [{"qid": q, "docno": d, "label": int(label)} for q, d, label in ROWS], indent=1
    ),
    "booleans.jsonl": "".join(
        json.dumps({"query": q, "candidate": d, "label": label == "1"}) + "\n"
        for q, d, label in ROWS
    ),
    "xinfap": "q1 0 b 2 1\nq1 0 a 0 0\nq2 0 b 1 1\n",
    "prels": "q1 b 1 0 1.0\nq1 a 0 1 0.5\nq2 b 1 1 0.25\n",
    "old.qrels": "q1 Q0 b 1\nq1 Q0 a 0\nq2 Q0 b 1\n",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("name", LABEL_FILES)
def test_labels_of_every_format_are_the_same_labels(name: str, encoding: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(LABEL_FILES[name].encode(encoding))
    assert sorted(read_qrels(path)) == LABELS


def test_a_folder_of_a_retrieval_data_set_is_read_by_its_test_labels(tmp_path: Path):
    folder = tmp_path / "qrels"
    folder.mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n')
    (folder / "test.tsv").write_text(LABEL_FILES["beir.tsv"])
    assert sorted(read_qrels(tmp_path)) == LABELS
    (folder / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq9\tz\t1\n")
    assert sorted(read_qrels(tmp_path)) == LABELS
    (folder / "test.tsv").rename(folder / "dev.tsv")
    with pytest.raises(FormatError, match=r"dev\.tsv"):
        read_qrels(tmp_path)
    hub = tmp_path / "hub/data"
    hub.mkdir(parents=True)
    names = {"query-id": ["q1", "q1", "q2"], "corpus-id": ["b", "a", "b"], "score": [1, 0, 1]}
    pq.write_table(pa.table(names), hub / "qrels-00000-of-00001.parquet")
    assert sorted(read_qrels(hub.parent)) == LABELS


def run_objects(form: str) -> str:
    rows = [(q, d, s) for q, found in RUN.items() for d, s in found.items()]
    texts: dict[str, list[dict[str, Any]]] = {
        "flat": [{"qid": q, "docid": d, "score": s, "rank": 1} for q, d, s in rows],
        "results": [
            {"query_id": q, "results": [{"doc_id": d, "score": s} for d, s in found.items()]}
            for q, found in RUN.items()
        ],
        "scores": [{"query": q, "scores": found} for q, found in RUN.items()],
        "pairs": [{"qid": q, "hits": list(map(list, found.items()))} for q, found in RUN.items()],
        "nested": [{q: found} for q, found in RUN.items()],
    }
    return "".join(json.dumps(one) + "\n" for one in texts[form])


RUN_FILES = {
    **{
        f"{form}.jsonl": run_objects(form)
        for form in ("flat", "results", "scores", "pairs", "nested")
    },
    "run.json": json.dumps(RUN),
    "wrapped.json": json.dumps({"model": "x", "run": RUN}),
    "terrier.csv": "qid,docno,rank,score\nq1,a,1,0.5\nq1,b,0,2\nq2,b,0,-1.0\n",
    "german.csv": "query_id;doc_id;score\nq1;a;0.5\nq1;b;2\nq2;b;-1.0\n",
    "tabs.tsv": "query-id\tcorpus-id\tscore\nq1\ta\t0.5\nq1\tb\t2\nq2\tb\t-1.0\n",
    "trec": "q1 Q0 a 2 .5 x\nq1\tQ0\tb\t1\t2\tx\nq2 Q0 b 1 -1 x\n",
}


@pytest.mark.parametrize("name", RUN_FILES)
def test_runs_of_every_format_are_the_same_run(name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_text(RUN_FILES[name])
    assert read_run(path).by_query() == RUN


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("q1 0 a 1\nq1 0 b 1 x\n", 2, "TREC qrels"),
        ("q1 0 a 0 1\nq1 0 b 1\n", 2, "xinfAP"),
        ("10 docA 0 1 0.5\n10 docB 1 1\n", 2, "prels"),
        ("q1 a 1\n", 1, "3 fields"),
        ("query-id\tcorpus-id\tscore\nq1\ta\n", 2, "2 cells"),
        ("qid,docno,label,docid\nq,a,1,a\n", 1, "docno, docid"),
        ("query;candidate;label\nq;a\n", 2, "2 cells"),
        ('{"q1": {"a": 1}, "q2": 3}', 1, "JSON array"),
        ('{"q1": {"a": 1, "a": 0}}', None, "'a' stands twice"),
        ('{"q1": {"a": "perhaps"}}', 1, "perhaps"),
        ('query,candidate,label\nq,"a,1\n' + "q,b,0\n" * 2000 + 'q,"c",0\n', 2, "quote"),
        ("query,candidate,label\nq,a,nan\n", 2, "nan"),
    ],
)
def test_a_line_that_does_not_fit_its_format_is_named(content, line, words, tmp_path: Path):
    path = tmp_path / "labels"
    path.write_text(content)
    with pytest.raises(FormatError) as refused:
        read_qrels(path)
    assert refused.value.line == line
    assert words in refused.value.reason


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("q Q0 a 1 0.5 x\nq Q0 b 2 0.4 x y\n", 2, "7 fields"),
        ("q Q0 a 1 0.5 x\nq Q0 b 2 0.4\n", 2, "TREC run"),
        ("query,candidate,distance\nq,a,0.1\n", 1, "higher"),
        ("query;candidate;score\nq;a;0,5\n", 2, "decimal point"),
        ('{"qid": "q", "results": [{"doc_id": "a"}]}\n', 1, "needed"),
    ],
)
def test_a_line_that_is_no_part_of_a_run_is_named(content, line, words, tmp_path: Path):
    path = tmp_path / "run"
    path.write_text(content)
    with pytest.raises(FormatError) as refused:
        read_run(path)
    assert refused.value.line == line
    assert words in refused.value.reason


names = st.text(st.characters(whitelist_categories=("L", "N", "P")), min_size=1, max_size=6)


@given(
    st.dictionaries(
        names, st.dictionaries(names, st.integers(0, 1), min_size=1, max_size=4), max_size=4
    )
)
def test_nested_json_of_any_names_is_read_as_it_stands(tmp_path_factory, table):
    if table:
        path = tmp_path_factory.mktemp("json") / "x.json"
        path.write_text(json.dumps(table))
        assert read_qrels(path).by_query() == table
