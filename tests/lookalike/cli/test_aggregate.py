import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import classification_report

from lookalike.agreement.aggregate import RULES, aggregate, measure_agreement
from lookalike.agreement.voter_models import glad, posterior
from lookalike.agreement.votes import make_votes, read_truth, read_votes
from lookalike.cli.main import main
from lookalike.io.errors import InputError
from lookalike.io.numbered_rows import TableError

GOLDEN = ["111", "110", "100", "111", "000", "111", "101", "111", "111", "011"]
MISSING = {(1, 2), (2, 2), (4, 0), (7, 1), (7, 2)}


def golden_votes(missing=frozenset()):
    return make_votes(
        [
            (f"i{i}", f"w{w}", label)
            for i, row in enumerate(GOLDEN)
            for w, label in enumerate(row)
            if (i, w) not in missing
        ]
    )


def table_of(votes):
    return pd.DataFrame({"task": votes.item_of, "worker": votes.worker_of, "label": votes.label_of})


def write(folder, text, name="votes.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def run(capsys, *arguments):
    status = main(["aggregate", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, json.loads(out) if out else None, err


# ---- the reference sets ----
REFERENCE = [
    ("bluebirds", "majority", (0.7593, 0.7593, 0.7593, 0)),
    ("bluebirds", "dawid-skene", (0.8889, 0.8889, 0.8889, 0)),
    ("snow_temp", "majority", (0.9361, 0.9329, 0.9394, 17)),
    ("snow_temp", "dawid-skene", (0.9416, 0.9416, 0.9416, 0)),
]


@pytest.mark.parametrize(("name", "rule", "expected"), REFERENCE)
def test_the_reference_figures_come_out(name, rule, expected, shared_data, capsys):
    split, low, high, n_ties = expected
    folder = shared_data / "crowd_labels" / name
    status, found, _ = run(
        capsys, folder / "labels.csv", "--truth", folder / "truth.csv", "--rule", rule,
        "--tie", "split",
    )  # fmt: skip
    assert status == 0
    accuracy = found["accuracy"]
    assert accuracy["value"] == accuracy["ties_split"] == pytest.approx(split, abs=5e-5)
    assert min(accuracy["by_tie_side"].values()) == pytest.approx(low, abs=5e-5)
    assert max(accuracy["by_tie_side"].values()) == pytest.approx(high, abs=5e-5)
    assert found["n_ties"] == n_ties


@pytest.mark.parametrize(
    ("name", "alpha", "fleiss"), [("bluebirds", 0.1255, 0.1253), ("snow_temp", 0.2234, 0.2232)]
)
def test_the_reference_agreement_comes_out(name, alpha, fleiss, shared_data, capsys):
    _, found, _ = run(capsys, shared_data / "crowd_labels" / name / "labels.csv", "--tie", "split")
    assert found["agreement"]["alpha"] == pytest.approx(alpha, abs=5e-5)
    assert found["agreement"]["fleiss"] == pytest.approx(fleiss, abs=5e-5)


# ---- models of the voters ----
def test_dawid_skene_gives_the_golden_posteriors():
    found = posterior(golden_votes(MISSING), "dawid-skene")[:, 1]
    expected = [0.996, 0.987, 0.322, 0.996, 0, 0.996, 0.641, 0.752, 0.996, 1.0]
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.filterwarnings("ignore::pandas.errors.PandasDeprecationWarning")
def test_our_glad_is_crowdkits_on_real_votes(shared_data):
    from crowdkit.aggregation.classification import GLAD

    votes = read_votes(shared_data / "crowd_labels" / "bluebirds" / "labels.csv")
    names = list(zip(votes.item_of, votes.worker_of, votes.label_of, strict=True))
    some = make_votes([(str(i), str(w), str(x)) for i, w, x in names if w < 5])
    theirs = GLAD().fit_predict_proba(table_of(some)).sort_index()[[0, 1]].to_numpy()
    ours = glad(some)
    assert np.abs(ours - theirs).max() < 0.01
    assert (ours.argmax(axis=1) == theirs.argmax(axis=1)).all()


@pytest.mark.daily
@pytest.mark.filterwarnings("ignore::pandas.errors.PandasDeprecationWarning")
def test_one_restart_of_mace_is_as_good_as_crowdkits_ten():
    from crowdkit.aggregation.classification import MACE

    votes = golden_votes()
    table = table_of(votes)
    ten = MACE(n_restarts=10, random_state=0).fit_predict_proba(table).sort_index()
    assert posterior(votes, "mace") == pytest.approx(ten[[0, 1]].to_numpy())


@pytest.mark.parametrize("model", ["dawid-skene", "glad", "mace"])
def test_posteriors_sum_to_one_and_a_lone_label_is_certain(model):
    assert posterior(golden_votes(MISSING), model).sum(axis=1) == pytest.approx(np.ones(10))
    lone = make_votes([("a", "w", "yes"), ("b", "w", "yes")])
    assert posterior(lone, model).tolist() == [[1.0], [1.0]]


def test_an_unknown_model_is_refused():
    with pytest.raises(ValueError, match="unknown model 'oracle'"):
        posterior(golden_votes(), "oracle")


# ---- the command ----
def test_the_tie_rule_decides_ties_and_only_those(tmp_path, capsys):
    path = write(tmp_path, "item,worker,label\na,1,similar\na,2,different\nb,1,similar\n")
    truth = write(tmp_path, "item,truth\na,similar\nb,similar\nc,similar\n", "truth.csv")
    for tie, label, value in (
        ("negative", "different", 0.5),
        ("undecided", None, 1.0),
        ("split", None, 0.75),
    ):
        _, found, _ = run(capsys, path, "--tie", tie, "--truth", truth)
        assert found["labels"] == {"a": label, "b": "similar"}
        assert found["accuracy"]["value"] == value
        assert found["accuracy"]["by_tie_side"] == {"different": 0.5, "similar": 1.0}
        assert found["accuracy"]["n_truth_without_votes"] == 1
        assert found["n_ties"] == 1
        assert found["negative_label"] == "different"


def test_three_labels_have_no_negative(tmp_path, capsys):
    path = write(tmp_path, "item,worker,label\na,1,x\na,2,y\nb,1,z\n")
    status, _, err = run(capsys, path)
    assert status == 2
    assert "which of the labels 'x', 'y', 'z' is the negative one, that 1 ties become" in err
    _, found, _ = run(capsys, path, "--negative", "y")
    assert found["labels"] == {"a": "y", "b": "z"}
    status, found, _ = run(capsys, path, "--tie", "undecided")
    assert (status, found["labels"]) == (0, {"a": None, "b": "z"})


POSITIVE_FIRST = [
    ("match", "nonmatch"), ("same", "unlike"), ("equal", "unequal"), ("relevant", "unrelated"),
    ("similar", "unsimilar"), ("+", "-"), ("0", "no"),
]  # fmt: skip


@pytest.mark.parametrize(("positive", "negative"), POSITIVE_FIRST)
def test_a_tie_is_never_positive_because_of_the_alphabet(positive, negative, tmp_path, capsys):
    rows = [f"1,a,{positive}", f"1,b,{negative}", f"2,a,{positive}", f"2,b,{positive}"]
    path = write(tmp_path, "\n".join(["item,worker,label", *rows, ""]))
    status, found, err = run(capsys, path)
    assert (status, found) == (2, None)
    for part in (repr(positive), repr(negative), "--negative LABEL"):
        assert part in err
    _, found, _ = run(capsys, path, "--negative", negative)
    assert found["labels"] == {"1": negative, "2": positive}
    status, _, err = run(capsys, path, "--negative", "nomatch")
    assert status == 2
    assert "no vote says 'nomatch'; the labels are" in err


def test_labels_of_unknown_words_without_ties_need_no_negative(tmp_path, capsys):
    path = write(tmp_path, "item,worker,label\na,1,match\nb,1,nonmatch\n")
    status, found, _ = run(capsys, path)
    assert (status, found["negative_label"]) == (0, None)


def test_accuracy_stands_beside_precision_recall_f1_and_balanced_accuracy(shared_data, capsys):
    folder = shared_data / "crowd_labels" / "snow_temp"
    files = (folder / "labels.csv", "--truth", folder / "truth.csv")
    _, found, _ = run(capsys, *files, "--negative", "1")
    truth = read_truth(folder / "truth.csv")
    items = [item for item in found["labels"] if item in truth]
    theirs = classification_report(
        [truth[item] for item in items], [found["labels"][item] for item in items], output_dict=True
    )
    accuracy = found["accuracy"]
    assert accuracy["value"] == pytest.approx(theirs["accuracy"])
    assert accuracy["balanced"] == pytest.approx(theirs["macro avg"]["recall"])
    for label, of in accuracy["by_label"].items():
        expected = theirs[label]
        assert (of["precision"], of["recall"], of["f1"], of["n_true"]) == pytest.approx(
            (expected["precision"], expected["recall"], expected["f1-score"], expected["support"])
        )


TIED = [
    ("x", "ab"), ("x", "aa"), ("y", "ab"), ("y", "bb"), ("y", "ab"), ("z", "abc"), ("y", "aab"),
]  # fmt: skip


@pytest.mark.parametrize("names", ["xyz", "xy"])
@pytest.mark.parametrize("rule", ["majority", "dawid-skene"])
@pytest.mark.parametrize("tie", ["negative", "undecided", "split"])
def test_accuracy_and_each_labels_figures_have_one_denominator(names, rule, tie):
    renamed = dict(zip("abc", "xyz", strict=True))
    triples = [
        (f"i{i}", f"w{w}", renamed[vote])
        for i, (true, votes) in enumerate(TIED)
        for w, vote in enumerate(votes)
        if true in names and renamed[vote] in names
    ]
    truth = {f"i{i}": true for i, (true, _) in enumerate(TIED) if true in names}
    found = aggregate(make_votes(triples), rule=rule, tie=tie, negative="x", truth=truth)
    accuracy = found["accuracy"]
    n = accuracy["n_scored"]
    assert n == (accuracy["n_decided"] if tie == "undecided" else accuracy["n_items"])
    by_label = accuracy["by_label"].values()
    right = sum((of["recall"] or 0.0) * of["n_true"] for of in by_label)
    assert accuracy["value"] == pytest.approx(right / n)
    assert sum(of["n_true"] for of in by_label) == n
    assert sum(of["n_given"] for of in by_label) == pytest.approx(n)
    recalls = [of["recall"] for of in by_label if of["n_true"]]
    assert accuracy["balanced"] == pytest.approx(sum(recalls) / len(recalls))


def test_a_split_tie_counts_for_both_labels_in_precision_and_recall(tmp_path, capsys):
    path = write(tmp_path, "item,worker,label\na,1,yes\na,2,no\nb,1,yes\nc,1,no\n")
    truth = write(tmp_path, "item,truth\na,yes\nb,yes\nc,no\n", "truth.csv")
    _, found, _ = run(capsys, path, "--tie", "split", "--truth", truth)
    accuracy = found["accuracy"]
    assert accuracy["value"] == pytest.approx(2.5 / 3)
    yes, no = accuracy["by_label"]["yes"], accuracy["by_label"]["no"]
    assert (yes["n_given"], yes["precision"], yes["recall"]) == (1.5, 1.0, 0.75)
    assert (no["n_given"], no["precision"], no["recall"]) == (1.5, pytest.approx(2 / 3), 1.0)
    assert accuracy["balanced"] == pytest.approx(0.875)


def test_accuracy_of_rare_positives_does_not_stand_alone(tmp_path, capsys):
    """Nine in ten right, and every second positive wrong: 5 found, 5 missed, 5 false of 100."""
    said = ["yes"] * 5 + ["no"] * 5 + ["yes"] * 5 + ["no"] * 85
    votes = write(
        tmp_path, "\n".join(["item,worker,label", *(f"i{i},w,{v}" for i, v in enumerate(said))])
    )
    true = ["yes"] * 10 + ["no"] * 90
    rows = [f"i{i},{v}" for i, v in enumerate(true)]
    truth = write(tmp_path, "\n".join(["item,truth", *rows]), "truth.csv")
    _, found, _ = run(capsys, votes, "--truth", truth)
    accuracy = found["accuracy"]
    assert accuracy["value"] == pytest.approx(0.9)
    assert accuracy["balanced"] == pytest.approx((0.5 + 85 / 90) / 2)
    positive = accuracy["by_label"]["yes"]
    assert (positive["precision"], positive["recall"], positive["f1"]) == (0.5, 0.5, 0.5)


def test_undefined_figures_are_null(tmp_path, capsys):
    path = write(tmp_path, "item,worker,label\na,1,x\n")
    _, found, _ = run(capsys, path)
    assert found["agreement"]["alpha"] is None
    assert found["agreement"]["prevalence"] == {"x": 1.0}


def test_it_runs_where_django_is_not_installed(tmp_path):
    path = write(tmp_path, "item,worker,label\na,1,x\na,2,x\n")
    program = (
        "import sys, runpy; sys.modules['django'] = None; "
        f"sys.argv = ['lookalike', 'aggregate', {str(path)!r}]; "
        "runpy.run_module('lookalike', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["labels"] == {"a": "x"}


# ---- reading ----
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the columns item, worker and label are missing"),
        ("item,worker\na,b\n", "the column label is missing"),
        ("item,worker,label,item\n", "the column item is there twice"),
        ("item,worker,label\n", "there are no votes"),
        ("item,worker,label\na,1,x\nb,2,\n", "row 3: label is empty"),
        ("item,worker,label\n,,x\n", "row 2: item, worker is empty"),
        ("item,worker,label\na,1\n", "row 2 has 2 fields, the first has 3"),
        ("item,worker,label\na,1,x\na,2,x\na,1,y\n", "row 4: '1' has voted on 'a' in row 2"),
        ('item,worker,label\na,1,"x\n', "row 2: unexpected end"),
    ],
)
def test_bad_votes_are_named_by_row(text, message, tmp_path):
    path = write(tmp_path, text)
    with pytest.raises(TableError) as problem:
        read_votes(path)
    assert str(path) in str(problem.value)
    assert message in str(problem.value)


def test_all_bad_rows_are_told_at_once(tmp_path):
    path = write(tmp_path, "item,worker,label\na,1,\nb,,x\nc,1,y\nc,1,z\n")
    with pytest.raises(TableError) as problem:
        read_votes(path)
    assert len(problem.value.problems) == 3


def test_a_long_list_of_problems_is_cut_with_its_length(tmp_path):
    path = write(tmp_path, "item,worker,label\n" + "a,1,\n" * 30)
    with pytest.raises(TableError, match="and 10 more"):
        read_votes(path)


def test_other_encodings_and_missing_files_are_named(tmp_path):
    latin = write(tmp_path, "item,worker,label\na,1,x\né,1,x\n", encoding="latin-1")
    with pytest.raises(TableError, match="row 3 is not UTF-8"):
        read_votes(latin)
    with pytest.raises(TableError, match="No such file"):
        read_votes(tmp_path / "absent.csv")


def test_extra_columns_a_byte_order_mark_and_blank_lines_do_no_harm(tmp_path):
    path = write(tmp_path, "\ufeffnote,label, item ,worker\n,x,a,1\n\n,y,a,2\n")
    votes = read_votes(path)
    assert (votes.items, votes.workers, votes.labels) == (["a"], ["1", "2"], ["x", "y"])
    assert votes.counts().tolist() == [[1, 1]]


def test_a_truth_that_stands_twice_is_refused(tmp_path):
    path = write(tmp_path, "item,truth\na,x\na,y\n")
    with pytest.raises(TableError, match="row 3: 'a' is there twice"):
        read_truth(path)


def test_one_worker_votes_once_on_an_item():
    with pytest.raises(InputError, match="'w' has voted 2 times on 'a'"):
        make_votes([("a", "w", "yes"), ("b", "w", "yes"), ("a", "w", "no")])


def test_no_votes_have_no_labels_and_no_agreement():
    none = make_votes(iter([]))
    for rule in RULES:
        with pytest.raises(InputError, match="there are no votes"):
            aggregate(none, rule=rule)
    with pytest.raises(InputError, match="there are no votes"):
        measure_agreement(none)
    with pytest.raises(InputError, match="there are no votes"):
        posterior(none, "glad")


def test_unknown_rules_and_ties_are_refused():
    votes = golden_votes()
    with pytest.raises(InputError, match="unknown rule 'maj'; one of majority, median, dawid"):
        aggregate(votes, rule="maj")
    for rule, tie in (("majority", "Negative"), ("median", "bogus")):
        with pytest.raises(InputError, match=f"'{tie}'; one of negative, undecided, split"):
            aggregate(votes, rule=rule, tie=tie)
