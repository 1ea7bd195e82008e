"""`lookalike score`: whole files in, a report out, bad input refused."""

import json
import subprocess
import sys

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import ndcg_score

from lookalike.cli.main import main
from lookalike.io.labels import read_qrels
from lookalike.io.writers import vsd_pieces, write_csv
from tests.lookalike.metrics.cases import toy
from tests.paths import shared


@pytest.fixture
def files(tmp_path):
    qrels, run, products = toy()
    with (tmp_path / "labels.json").open("w") as out:
        out.writelines(vsd_pieces(qrels))
    with (tmp_path / "beit.csv").open("w") as out:
        rows = [(q, c, s) for q, row in run.by_query().items() for c, s in row.items()]
        write_csv(out, rows, ("query", "candidate", "score"))
    with (tmp_path / "products.csv").open("w") as out:
        write_csv(out, products.items(), ("path", "product_id"))
    return tmp_path


@pytest.fixture
def score(files, capsys):
    def run(*options, command="score", qrels="labels.json", runs=("beit.csv",)):
        arguments = [command, "--qrels", str(files / qrels)]
        for name in runs:
            arguments += ["--run", str(files / name)]
        status = main([*arguments, *map(str, options)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_the_toy_as_json(score, files):
    status, out, err = score("--metadata", files / "products.csv", "--json", "--by-query")
    assert (status, err) == (0, "")
    report = json.loads(out)
    assert report["labels"]["n_pairs"] == 9
    (run,) = report["runs"]
    assert run["name"] == "beit"
    assert run["coverage"]["share"] == 1
    assert run["measures"]["vsd_hr@5"] == {
        "value": pytest.approx(0.266667, abs=1e-6),
        "n_defined": 3,
    }
    assert run["measures"]["micro_roc_auc"]["value"] == pytest.approx(0.675)
    assert run["measures"]["micro_roc_auc"]["n_defined"] is None
    assert run["by_query"]["q3"]["macro_roc_auc"] == 1
    assert "micro_roc_auc" not in run["by_query"]["q3"]


def test_embeddings_rank_all_images_of_their_file(score, files):
    qrels = read_qrels(files / "labels.json")
    names = sorted({*qrels.query_ids, *qrels.candidate_ids, "unjudged"})
    vectors = np.random.default_rng(4).normal(size=(len(names), 5)).astype(np.float32)
    np.savez(files / "mine.npz", ids=np.array(names), vectors=vectors)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit @ unit.T).tolist()
    with (files / "whole.csv").open("w") as out:
        rows = [
            (query, name, cosines[names.index(query)][at])
            for query in qrels.query_ids
            for at, name in enumerate(names)
        ]
        write_csv(out, rows, ("query", "candidate", "score"))
    options = ("--measures", "P@3,macro_roc_auc,judged@5", "--by-query", "--json")
    status, out, err = score(*options, runs=("mine.npz", "whole.csv"))
    assert (status, err) == (0, "")
    mine, whole = json.loads(out)["runs"]
    assert mine["has_list"]
    for query, values in whole["by_query"].items():
        assert mine["by_query"][query] == pytest.approx(values, abs=1e-9)
    np.savez(files / "other.npz", ids=np.array(["x"]), vectors=vectors[:1])
    status, _, err = score(runs=("other.npz",))
    assert status == 2
    assert "other.npz: it has vectors of none of the queries" in err


def test_the_toy_as_a_table(score, files):
    status, out, _ = score("--metadata", files / "products.csv")
    assert status == 0
    assert "3 queries, 9 pairs, 5 positive" in out
    assert "scores 9 of 9 judged pairs (100.0 %)" in out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line}
    assert rows["vsd_hr@5"] == ["3", "0.2667"]
    assert rows["macro_roc_auc"] == ["3", "0.6667"]
    assert rows["micro_roc_auc"] == ["all", "pairs", "0.6750"]
    assert rows["share_within"] == ["0.3500"]


def test_trec_mode_prints_the_digits_of_trec_eval(capsys):
    qrels, run = shared("trec_eval/qrels.test"), shared("trec_eval/results.test")
    names = {
        "map": "AP",
        "Rprec": "R-Prec",
        "bpref": "bpref",
        "recip_rank": "MRR",
        "P_5": "P@5",
        "P_1000": "P@1000",
        "recall_10": "R@10",
        "infAP": "infAP",
        "ndcg": "nDCG",
        "ndcg_cut_10": "nDCG@10",
        "map_cut_100": "AP@100",
        "success_10": "Success@10",
        "rbp": "RBP@0.9",
        "rbp_resid": "RBP_residual@0.9",
        "unj_20": "hole@20",
    }
    arguments = ["--measures", ",".join(names.values()), "--trec", "--json"]
    assert main(["score", "--qrels", str(qrels), "--run", str(run), *arguments]) == 0
    found = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    printed = dict(
        line.split()[::2] for line in shared("trec_eval/out.test.a").read_text().splitlines()
    )
    for theirs, ours in names.items():
        assert f"{found[ours]['value']:.4f}" == printed[theirs]
        assert found[ours]["n_defined"] == int(printed["num_q"]) == 3


def test_a_run_of_judged_pairs_alone_has_no_cut_off_measures_in_the_command_either(files, score):
    """Among themselves the positives stand at .60, in the list of all images at .20."""
    judged = [("q1", f"p{i}", i < 3) for i in range(5)]
    (files / "judged.csv").write_text(
        "query,candidate,label\n" + "".join(f"{q},{c},{int(y)}\n" for q, c, y in judged)
    )
    bare = "".join(f"{q},{c},{1 - i / 10}\n" for i, (q, c, _) in enumerate(judged))
    others = "".join(f"q1,x{i},{0.95 - i / 1000}\n" for i in range(4))
    (files / "bare.csv").write_text("query,candidate,score\n" + bare)
    (files / "list.csv").write_text("query,candidate,score\n" + bare + others)
    options = ("--measures", "P@5,macro_roc_auc", "--json")
    status, out, err = score(*options, qrels="judged.csv", runs=("bare.csv", "list.csv"))
    assert status == 0
    assert "note: run 'bare' lists the judged pairs alone" in err
    bare_run, listed = json.loads(out)["runs"]
    assert (bare_run["has_list"], listed["has_list"]) == (False, True)
    undefined = bare_run["measures"]["P@5"]
    assert (undefined["value"], undefined["n_defined"]) == (None, 0)
    assert "judged pairs alone" in undefined["reason"]
    assert bare_run["measures"]["macro_roc_auc"]["value"] == 1
    assert listed["measures"]["P@5"]["value"] == pytest.approx(0.2)
    _, out, err = score(*options, "--complete", qrels="judged.csv", runs=("bare.csv",))
    assert json.loads(out)["runs"][0]["measures"]["P@5"]["value"] == pytest.approx(0.6)
    assert err == ""


GRADED = """# judged by two assessors
q1 0 a 3
q1 0 b 1
q1 0 c 0
q1 0 d -1
q2 0 a 1
q2 0 c 2
q3 0 a 1
"""


def test_graded_labels_with_comments_score_as_trec_eval_scores_them(files, score):
    (files / "graded.qrels").write_text(GRADED)
    rng = np.random.default_rng(0)
    lists = {q: {c: float(rng.random()) for c in "abcdefgh"} for q in ("q1", "q2", "q3")}
    lines = [f"{q} Q0 {c} 1 {s} r\n" for q, row in lists.items() for c, s in row.items()]
    (files / "r.run").write_text("# a run\n" + "".join(lines))
    names = {"nDCG": "ndcg", "nDCG@5": "ndcg_cut_5", "AP": "map", "P@5": "P_5", "bpref": "bpref"}
    status, out, _ = score(
        *("--min-rel", "2", "--trec", "--by-query", "--json", "--measures", ",".join(names)),
        qrels="graded.qrels",
        runs=("r.run",),
    )
    assert status == 0
    qrels: dict[str, dict[str, int]] = {}
    for line in GRADED.splitlines()[1:]:
        query, _, candidate, grade = line.split()[:4]
        qrels.setdefault(query, {})[candidate] = int(grade)
    wanted = {"ndcg", "ndcg_cut.5", "map", "P.5", "bpref"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, wanted, relevance_level=2).evaluate(lists)
    found = json.loads(out)["runs"][0]["by_query"]
    for query, measures in found.items():
        for ours, name in names.items():
            value = measures[ours]
            assert (value or 0.0) == pytest.approx(theirs[query][name], abs=1e-6), (query, ours)
    assert found["q1"]["nDCG"] != found["q1"]["AP"]


def test_exponential_gains_are_those_of_scikit_learn_under_ir_measures_name(files, score):
    (files / "graded.qrels").write_text(
        "".join(f"q 0 {c} {g}\n" for c, g in zip("abcde", "30212", strict=True))
    )
    scores = dict(zip("abcde", (0.1, 0.9, 0.5, 0.8, 0.2), strict=True))
    (files / "r.csv").write_text(
        "query,candidate,score\n" + "".join(f"q,{c},{s}\n" for c, s in scores.items())
    )
    name = str(ir_measures.nDCG(dcg="exp-log2") @ 3)
    words = ("--min-rel", "1", "--complete", "--json", "--measures", f"{name},nDCG@3")
    status, out, _ = score(*words, qrels="graded.qrels", runs=("r.csv",))
    assert status == 0
    found = json.loads(out)["runs"][0]["measures"]
    grades, ranked = np.array([[3, 0, 2, 1, 2]]), [list(scores.values())]
    assert found[name]["value"] == pytest.approx(ndcg_score(2.0**grades - 1, ranked, k=3), abs=1e-9)
    assert found["nDCG@3"]["value"] == pytest.approx(ndcg_score(grades, ranked, k=3), abs=1e-9)
    assert found[name]["value"] != found["nDCG@3"]["value"]


def test_graded_labels_and_runs_given_as_labels_are_never_taken_for_yes_and_no(files, score):
    (files / "graded.qrels").write_text(GRADED)
    status, _, err = score(qrels="graded.qrels")
    assert status == 2
    assert "graded.qrels, line 2: label '3' is neither 0 nor 1; of grades, say from" in err
    (files / "r.run").write_text("q1 Q0 a 1 0.5 r\n")
    status, _, err = score("--min-rel", "1", qrels="r.run")
    assert status == 2
    assert "r.run, line 1: this is a line of a run, not of labels" in err


def test_queries_by_query_in_a_table_show_what_is_undefined(score, files):
    (files / "one.txt").write_text("q1 0 a1 1\nq9 0 a1 0\n")
    status, out, _ = score("--measures", "P@1", "--by-query", qrels="one.txt")
    assert status == 0
    assert ["q9", "undefined"] in [line.split() for line in out.splitlines()]


def test_a_query_without_labels_is_reported_and_not_fatal(score, files):
    (files / "some.txt").write_text("q1 0 a1 1\nq1 0 b1 0\n")
    status, out, err = score("--json", qrels="some.txt")
    assert status == 0
    assert "note: run 'beit' has 2 queries without labels" in err
    missing = json.loads(out)["runs"][0]["coverage"]["queries_not_in_labels"]
    assert missing == {"n": 2, "first": ["q2", "q3"]}


def test_undefined_is_null(score, files):
    (files / "some.txt").write_text("q1 0 a1 0\n")
    _, out, _ = score("--json", "--measures", "P@1,macro_roc_auc", qrels="some.txt")
    assert json.loads(out)["runs"][0]["measures"] == {
        "P@1": {"value": None, "n_defined": 0},
        "macro_roc_auc": {"value": None, "n_defined": 0},
    }


def test_missing_scores_are_refused_with_the_way_out(score, files):
    (files / "short.csv").write_text("query,candidate,score\nq1,a1,1\n")
    status, out, err = score(runs=("short.csv",))
    assert (status, out) == (2, "")
    assert "run 'short': no score for 8 of 9 judged pairs" in err
    assert "--missing worst" in err
    status, out, _ = score("--missing", "worst", runs=("short.csv",))
    assert status == 0
    assert "scores 1 of 9 judged pairs (11.1 %); lists nothing for 2 queries" in out


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("labels.json", '[{"key": ["q1", "a1"],\n "value": 2}]', "labels.json, line 1: label 2"),
        ("labels.json", "q1 0 a1\n", "labels.json, line 1: 3 fields"),
        ("labels.json", "q1 0 a1 1\nq1 0 a1 0\n", "labels.json, line 2: the pair 'q1', 'a1' has"),
        ("beit.csv", "query,candidate,score\nq1,a1,nan\n", "beit.csv, line 2: score 'nan'"),
        ("products.csv", "path\nq1\n", "products.csv, line 1: the columns"),
        ("products.csv", "path,product_id\nq1,A\n", "metadata says nothing about image"),
    ],
)
def test_bad_files_are_refused_with_file_line_and_reason(score, files, name, content, expected):
    (files / name).write_text(content)
    status, out, err = score("--metadata", files / "products.csv")
    assert (status, out) == (2, "")
    assert expected in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--measures", "HR@5"], "unknown measure 'HR@5'; known: vsd_hr@k"),
        (["--measures", "HR@5"], ". Did you mean vsd_hr@5?\n"),
        (["--measures", "Recall@5"], ". Did you mean R@5? "),
        (["--measures", "Recall@5"], "Success@5"),
        (["--measures", "ndcg@10"], ". Did you mean nDCG@10?\n"),
        (["--measures", "micro_rocauc"], ". Did you mean micro_roc_auc?\n"),
        (["--measures", "Spearman@5"], "micro_pr_auc_band\n"),
        (["--measures", "P@0"], "k must be at least 1"),
        (["--measures", ","], "names no measure"),
        (["--measures", "macro_roc_auc_random"], "needs random negatives"),
        (["--mode", "product"], "needs the product of each image"),
        (["--contamination", "1"], "not in [0, 1)"),
        (["--min-rel", "0"], "--min-rel 0 is not 1 or more"),
        (["--metadata", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_options_are_refused_with_the_reason(score, options, expected):
    status, _, err = score(*options)
    assert status == 2
    assert expected in err


def test_runs_of_one_name_are_told_apart_by_their_file(score, files):
    for name in ("a.run", "b.run"):
        (files / name).write_text("q1 Q0 a1 1 0.5 same\n")
    _, out, _ = score("--measures", "P@1", "--json", runs=("a.run", "b.run"))
    names = [run["name"] for run in json.loads(out)["runs"]]
    assert names == [f"same ({files / 'a.run'})", f"same ({files / 'b.run'})"]
    status, _, err = score("--measures", "P@1", runs=("a.run", "a.run"))
    assert status == 2
    assert "given twice" in err


def test_random_negatives_are_drawn_into_a_file_and_scored(files, score, capsys):
    labels, run, out = (str(files / name) for name in ("labels.json", "beit.csv", "drawn.csv"))
    draw = ["negatives", "--qrels", labels, "--reference", run, "--seed", "3", "--out", out]
    assert main([*draw, "--band", "1-6"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["source"] == "ranks 1-6 of beit"
    assert summary["seed"] == 3
    assert summary["n_pairs"] == 5
    status, text, _ = score(
        *("--measures", "macro_roc_auc_random", "--negatives", out, "--contamination", "0.02")
    )
    assert status == 0
    assert "corrected" in text
    assert main([*draw, "--band", "nearby"]) == 2
    assert "not of the form 100-500" in capsys.readouterr().err
    status, _, err = score("--negatives", files / "labels.json")
    assert status == 2
    assert "one is 1" in err


def test_it_runs_without_django_a_database_or_torch(files):
    blocked = "import sys\n"
    blocked += "for name in ('django', 'torch', 'psycopg', 'celery'): sys.modules[name] = None\n"
    blocked += "from lookalike.cli.main import main\nraise SystemExit(main(sys.argv[1:]))"
    arguments = ["score", "--qrels", "labels.json", "--run", "beit.csv", "--json"]
    arguments += ["--metadata", "products.csv"]
    done = subprocess.run(
        [sys.executable, "-c", blocked, *arguments],
        cwd=files,
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert json.loads(done.stdout)["runs"][0]["measures"]["macro_roc_auc"]["n_defined"] == 3
