"""Readers name file, line and reason; writers and readers agree."""

import copy
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.io.csv_text import protected, unprotected
from lookalike.io.documents import Table, as_markdown, markdown_text
from lookalike.io.errors import FormatError
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.runs import read_run
from lookalike.io.tables import Qrels, Run
from lookalike.io.values import without_traces
from lookalike.io.writers import (
    csv_pieces,
    trec_qrels_pieces,
    vsd_pieces,
    write_csv,
)
from lookalike.release.documents.markdown import table

LABELS = [("q1", "b", 1), ("q1", "a", 0), ("q2", "b", 1)]
JSONL = """{"query": "q1", "candidate": "b", "label": 1, "by": null}

{"candidate": "a", "label": 0, "query": "q1"}
{"query": "q2", "candidate": "b", "label": 1.0}"""


@pytest.fixture
def file(tmp_path):
    def write(content, name="labels"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def parquet(tmp_path, **columns):
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_labels_are_arrays_with_ids_in_order_and_a_table_by_query():
    labels = Qrels.of(LABELS)
    assert labels.query_ids == ("q1", "q2")
    assert labels.candidate_ids == ("a", "b")
    assert labels.queries.tolist() == [0, 0, 1]
    assert labels.candidates.tolist() == [1, 0, 1]
    assert labels.by_query() == {"q1": {"b": 1, "a": 0}, "q2": {"b": 1}}
    assert list(labels) == LABELS
    assert len(labels) == 3


def test_a_run_is_arrays_with_a_table_by_query():
    run = Run.of("beit", [("q1", "b", 0.25), ("q1", "a", -3)])
    assert run.scores.dtype == np.float64
    assert run.by_query() == {"q1": {"b": 0.25, "a": -3.0}}
    assert len(run) == 2


@pytest.mark.parametrize(
    "content",
    [
        '[{"key": ["q1", "b"], "value": 1}, {"key":["q1","a"],"value":0},\n'
        '{"key":["q2","b"],"value":1}]',
        "q1 0 b 1\n\nq1 0 a 0\r\nq2\t0\tb\t1",
        "query,candidate,label\nq1,b,1\nq1,a,0\n\nq2,b,1\n",
        "note,label,candidate,query\nx,1,b,q1\ny,0,a,q1\nz,1,b,q2\n",
        "query-id,corpus-id,score\nq1,b,1\nq1,a,0\nq2,b,1\n",
        "\ufeffquery,candidate,label\nq1,b,1\nq1,a,0\nq2,b,1\n",
        JSONL,
        "\ufeff\n" + JSONL.replace("candidate", "image_id").replace("query", "query_id"),
    ],
)
def test_labels_are_read_whatever_their_format(file, content):
    assert list(read_qrels(file(content))) == LABELS


def test_labels_are_read_from_parquet_with_ids_of_any_type(tmp_path):
    path = parquet(tmp_path, query=[1, 1], candidate=["a", "b"], label=[0, 1], votes=[3, 3])
    assert list(read_qrels(path)) == [("1", "a", 0), ("1", "b", 1)]


def test_a_run_is_read_from_trec_csv_and_parquet(file, tmp_path):
    pairs = {"q1": {"a": 0.5, "b": -1e-3}}
    trec = read_run(file("q1 Q0 a 9 0.5 beit_v1\nq1 Q0 b 1 -1e-3 beit_v1\n", "r.run"))
    assert trec.name == "beit_v1"
    assert trec.by_query() == pairs
    table = read_run(file("query,candidate,score\nq1,a,0.5\nq1,b,-0.001\n", "clip.csv"))
    assert table.name == "clip"
    assert table.by_query() == pairs
    path = parquet(tmp_path, query=["q1", "q1"], candidate=["a", "b"], score=[0.5, -1e-3])
    assert read_run(path).by_query() == pairs


def test_a_float32_score_in_parquet_keeps_its_exact_value(tmp_path):
    scores = np.array([0.1, 0.2], dtype=np.float32)
    path = parquet(tmp_path, query=["q", "q"], candidate=["a", "b"], score=scores)
    assert read_run(path).scores.tolist() == scores.astype(np.float64).tolist()


def test_the_same_label_twice_counts_once(file):
    labels = read_qrels(file("q 0 a 1\nq 0 b 0\nq 0 a 1\n"))
    assert list(labels) == [("q", "a", 1), ("q", "b", 0)]


VSD = '[{"key": ["q", "a"], "value": 1},\n\n {"key": ["q", "b"], "value": %s}]'


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("", 1, "empty"),
        (" \n\n", 1, "empty"),
        ("q 0 a 1\nq 0 b\n", 2, "3 fields where there must be 4"),
        ("q 0 a 1\nq 0 b 2\n", 2, "label '2' is neither 0 nor 1"),
        ("q 0 a -1\n", 1, "neither 0 nor 1"),
        ("q 0 a 1\nq 0 b 0\nq 0 a 0\n", 3, "label 0 here and 1 in line 1"),
        (b"q 0 a 1\nq 0 b\xff 0\n", 2, "byte 0xff is not UTF-8"),
        (b"\xff\xfeq\0\0\xdc\n\0", None, "not readable as UTF-16"),
        ("query,candidate\nq,a\n", 1, "needed: query,candidate,label"),
        ("query,query,candidate,label\nq,q,a,1\n", 1, "needed"),
        ('{"query":"q","candidate":"a"}\n', 1, "needed: query,candidate,label"),
        (JSONL + "\n[1]", 5, "it is no JSON object"),
        (JSONL + "\n{", 5, "not JSON"),
        (JSONL + '\n{"query":"q","candidate":"a"}', 5, "it lacks label"),
        (JSONL + '\n{"query":"q","candidate":null,"label":1}', 5, "the candidate is None"),
        (JSONL + '\n{"query":"q","candidate":"","label":1}', 5, "the candidate is empty"),
        (JSONL + '\n{"query":"q","candidate":"a","label":"blue"}', 5, "label 'blue' is neither"),
        (JSONL + '\n{"query":"q1","candidate":"b","label":0}', 5, "label 0 here and 1 in line 1"),
        ("query,candidate,label\nq,a,1\nq,b\n", 3, "2 cells where the header names 3"),
        ("query,candidate,label\nq,a,1\n,b,0\n", 3, "the query is empty"),
        ("query,candidate,label\nq,,1\n", 2, "the candidate is empty"),
        ("query,candidate,label\nq,a,perhaps\n", 2, "label 'perhaps'"),
        ("query,candidate,label\nq,a,1_0\n", 2, "label '1_0'"),
        ('query,candidate,label\nq,a,1\nq,"b,0\n', 3, "unexpected end of data"),
        ("query,candidate,label\n", None, "holds no pairs"),
        (b"query,candidate,label\nq,a,1\nq,\xe9,0\n", 3, "byte 0xe9"),
        (VSD % 2, 3, "label 2 is neither"),
        (VSD % "null", 3, "label None is neither"),
        (VSD % "NaN", 3, "label nan is neither"),
        ('[{"key": ["q", "a"], "value": 1},\n{"key": ["q"], "value": 1}]', 2, "key of entry 2"),
        ('[\n{"key": ["q", 3], "value": 1}]', 2, "key of entry 1"),
        ('[\n{"key": ["q", "a"]}]', 2, "entry 1 is no object"),
        ('[\n{"key": ["q", "a"], "value": 1},\n]', 3, "not JSON"),
        ('{"key": ["q", "a"], "value": 1}', 1, "the file is not a JSON array"),
        ("[]", None, "holds no pairs"),
        (b'[\n{"key": ["q", "\xff"], "value": 1}]', 2, "byte 0xff"),
    ],
)
def test_bad_labels_are_refused_with_file_line_and_reason(file, content, line, reason):
    path = file(content)
    with pytest.raises(FormatError) as caught:
        read_qrels(path)
    assert caught.value.file == str(path)
    assert caught.value.line == line
    assert reason in caught.value.reason
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("q Q0 a 1 0.5 x\nq Q0 b 2 nan x\n", 2, "score 'nan' is not finite"),
        ("q Q0 a 1 inf x\n", 1, "not finite"),
        ("q Q0 a 1 high x\n", 1, "score 'high' is not a number"),
        ("q Q0 a 1 0.5 x\nq Q0 a 2 0.4 x\n", 2, "was scored before, in line 1"),
        ("q Q0 a 0.5 x\n", 1, "5 fields where there must be 6"),
        ("query,candidate,score\nq,a,\n", 2, "score '' is not a number"),
        ("query,candidate,score\nq,a,-inf\n", 2, "not finite"),
        ('{"query":"q","candidate":"a","score":NaN}', 1, "not finite"),
        ('{"query":"q","candidate":"a","score":1' + "0" * 400 + "}", 1, "not finite"),
        ('{"query":"q","candidate":"a","score":"high"}', 1, "is not a number"),
        ("[]", None, "holds no pairs"),
    ],
)
def test_bad_runs_are_refused_with_file_line_and_reason(file, content, line, reason):
    path = file(content)
    with pytest.raises(FormatError) as caught:
        read_run(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert reason in caught.value.reason


def test_bad_parquet_names_the_row(file, tmp_path):
    path = parquet(tmp_path, query=["q", "q"], candidate=["a", "b"], score=[0.5, float("nan")])
    with pytest.raises(FormatError, match="row 2: score nan is not finite"):
        read_run(path)
    path = parquet(tmp_path, query=["q", "q"], candidate=["a", None], label=[0, 1])
    with pytest.raises(FormatError, match="row 2: a cell is empty"):
        read_qrels(path)
    with pytest.raises(FormatError, match="needed: query,candidate,score"):
        read_run(path)
    with pytest.raises(FormatError, match="not readable as parquet"):
        read_run(file(b"PAR1 and then nothing", "torn.parquet"))


def test_a_missing_file_is_an_operating_system_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_qrels(tmp_path / "nowhere")


def test_products_are_read_from_vsd_metadata_and_csv(file):
    expected = {"a.jpg": "id_1", "b.jpg": ""}
    vsd = '{"images":[{"id":"id_1","path":"a.jpg","phase":"test"},{"id":"","path":"b.jpg"}]}'
    assert read_products(file(vsd)) == expected
    assert read_products(file("path,colour,product_id\na.jpg,red,id_1\nb.jpg,,\n")) == expected


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ('{"images":[{"id":"1","path":"a"},\n{"path":"b"}]}', 2, "entry 2 lacks"),
        ('{"images":[\n{"id":"1","path":"a"},\n{"id":"2","path":"a"}]}', 3, "product '2' here"),
        ('{"pictures":[]}', 1, '"images" is not a JSON array'),
        ("path,product\na,1\n", 1, "needed: product_id, and path or image_id"),
        ("path,product_id\na\n", 2, "1 cells"),
        ("path,product_id\na,1\na,2\n", 3, "product '2' here and '1' before"),
        ("path,product_id\n,1\n", 2, "the path is empty"),
    ],
)
def test_bad_metadata_is_refused_with_file_line_and_reason(file, content, line, reason):
    with pytest.raises(FormatError) as caught:
        read_products(file(content))
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_a_format_error_survives_a_trip_between_processes():
    error = FormatError("a.csv", 3, "bad", unit="row")
    again = copy.copy(error)  # by way of __reduce__, like a pickle
    assert str(again) == str(error) == "a.csv, row 3: bad"


# Ids that a directed pair of paths may be: anything printable, some that look like formulas.
ids = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1)
cells = st.one_of(ids, ids.map(lambda name: "=" + name), ids.map(lambda name: "'-" + name))


def are_distinct(labels: dict[tuple[str, str], int]) -> bool:
    """Whether no two ids differ only in spaces at their ends or in `.0`, which are one id."""
    sides = [set(side) for side in zip(*labels, strict=True)]
    return all(len(set(map(without_traces, side))) == len(side) for side in sides)


pairs = st.dictionaries(st.tuples(cells, cells), st.integers(0, 1), min_size=1).filter(are_distinct)


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_labels_survive_vsd_and_csv(tmp_path_factory, labels):
    folder = tmp_path_factory.mktemp("labels")
    rows = [(q, c, label) for (q, c), label in labels.items()]
    written = {
        "labels.json": vsd_pieces(rows),
        "labels.csv": csv_pieces(rows, ("query", "candidate", "label")),
    }
    for name, pieces in written.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as out:
            out.writelines(pieces)
        assert {(q, c): label for q, c, label in read_qrels(folder / name)} == labels


def test_written_vsd_is_what_the_benchmark_reads():
    assert json.loads("".join(vsd_pieces(LABELS[:2]))) == [
        {"key": ["q1", "b"], "value": 1},
        {"key": ["q1", "a"], "value": 0},
    ]
    assert json.loads("".join(vsd_pieces([]))) == []


def test_written_trec_qrels_read_back(file):
    written = "".join(trec_qrels_pieces(LABELS))
    assert written.splitlines()[0] == "q1 0 b 1"
    assert list(read_qrels(file(written))) == LABELS


def test_writers_refuse_what_their_format_cannot_hold():
    out = io.StringIO()
    with pytest.raises(ValueError, match="white space"):
        list(trec_qrels_pieces([("my photo.jpg", "a", 1)]))
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        list(vsd_pieces([("q", "a", 2)]))
    with pytest.raises(ValueError, match="2 cells under a header of 3"):
        write_csv(out, [("q", "a")])


def test_a_formula_is_written_as_text_and_read_back():
    out = io.StringIO()
    write_csv(out, [("=HYPERLINK(1)", "@a", -0.5), ("plain", "'-b", 2)], ("query", "x", "score"))
    assert out.getvalue().splitlines() == [
        "query,x,score",
        "'=HYPERLINK(1),'@a,-0.5",
        "plain,''-b,2",
    ]


@given(st.text())
def test_protection_can_always_be_taken_off(text):
    assert unprotected(protected(text)) == text
    assert protected(text)[:1] not in {"=", "+", "-", "@", "\t", "\r", "\n"}


def test_writers_keep_nothing_of_what_they_wrote():
    class Counting(io.StringIO):
        longest = 0

        def write(self, text, /):
            self.longest = max(self.longest, len(text))
            return len(text)

    out = Counting()
    write_csv(out, ((f"q{i}", f"c{i}", i % 2) for i in range(5000)))
    assert out.longest < 100
    labels = ((f"q{i}", f"c{i}", i % 2) for i in range(5000))
    assert max(map(len, vsd_pieces(labels))) < 100


@pytest.mark.parametrize("grade", [1e300, 2**63, 1001, "9223372036854775808"])
def test_a_grade_that_nobody_can_mean_is_refused(grade):
    with pytest.raises(FormatError, match=r"line 2: grade .* is too large; at most 1,000"):
        Qrels.of([("a", "c", 1000), ("a", "b", grade)], min_rel=1)
    assert len(Qrels.of([("a", "c", 1000), ("a", "b", -(10**300))], min_rel=1)) == 1


def test_ids_are_strings():
    for odd in ((0, "b"), ("b", 0), (5, 6)):
        with pytest.raises(FormatError, match=r"line 2: the id \d is not a string"):
            Qrels.of([("a", "c", 1), (*odd, 1)])


def test_markdown_shows_names_as_they_are():
    names = ["<img src=x onerror=alert(1)>", "[m](javascript:alert(1))|a|b", "`a`\\\n# b", "[1](x)"]
    names += ["**a_b** __c__ &lt;"]
    shown = as_markdown(Table(["model", "a|b"], [[name, 0.5] for name in names])).splitlines()
    assert shown[0] == r"| model | a\|b |"
    assert shown[2:] == [
        "| &lt;img src=x onerror=alert(1)> | 0.5000 |",
        r"| \[m\](javascript:alert(1))\|a\|b | 0.5000 |",
        r"| \`a\`\\ # b | 0.5000 |",
        r"| \[1\](x) | 0.5000 |",
        r"| \*\*a_b\*\* \__c_\_ &amp;lt; | 0.5000 |",
    ]
    for plain in ("a_b & c", "0.9 [0.850, 0.950] b, p < .05"):
        assert markdown_text(plain) == plain
    assert table(("model",), [(names[0],)]).endswith("| &lt;img src=x onerror=alert(1)> |")
