"""The WS-CSL criterion from answers to figures: without Django, by a command, and on its page."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import Role, User
from conditional.models import TripletAlignment, TripletSet
from conditional.tasks import align as align_task
from jobs.models import Job, JobState
from lookalike.cli.main import main
from lookalike.conditional.alignment import accuracy_matrix, align
from lookalike.conditional.criterion import MIN_QUESTIONS, measure, scored_part, seen_by
from lookalike.conditional.formats.tables import AccuracyMatrix, matrix_csv, read_matrix
from lookalike.conditional.triplet_scores import distances, verdicts
from lookalike.conditional.triplets import TripletTable
from lookalike.conditional.types import Triplet
from tests.catalogs import catalog_of, embedding_set_of
from tests.pooling.run_command import printed

N = 40
NAMES = [f"i{number:02d}" for number in range(N)]


def answers(n=60, seed=0):
    """Return answers by two rulers, and the rulers: positions of the images under each."""
    rng = np.random.default_rng(seed)
    rulers = {name: 1.0 + rng.permutation(N) for name in ("colour", "shape")}
    found: list[Triplet] = []
    for condition, at in rulers.items():
        seen: set[tuple[int, ...]] = set()
        while len(seen) < n:
            a, b, c = rng.choice(N, 3, replace=False).tolist()
            to_b, to_c = abs(at[b] - at[a]), abs(at[c] - at[a])
            if to_b < to_c and (a, *sorted((b, c))) not in seen:
                seen.add((a, *sorted((b, c))))
                found.append(Triplet(NAMES[a], NAMES[b], NAMES[c], condition))
    return found, {name: at[:, None] for name, at in rulers.items()}


def told(table, name, vectors):
    """What an embedding of all images says of a table, which may lack some."""
    return seen_by(table, name, vectors[[NAMES.index(one) for one in table.images]], "euclidean")


def test_embeddings_that_measure_the_conditions_are_matched_with_them():
    triplets, rulers = answers()
    table = TripletTable.of(triplets)
    seen = [told(table, name, rulers[name]) for name in ("shape", "colour")]
    found = measure(table, seen, 0)
    assert (found.conditions, found.embeddings) == (("colour", "shape"), ("shape", "colour"))
    assert found.is_split
    assert found.validation.n.tolist() == found.test.n.tolist() == [30, 30]
    assert found.alignment.main_choice.tolist() == [1, 0]
    assert found.alignment.ot == found.alignment.greedy == 1.0
    assert found.test.accuracy[0, 1] == found.test.accuracy[1, 0] == 1.0
    assert 0.3 < found.test.accuracy[0, 0] < 0.7
    # each condition is explained by its own ruler, and about half by the other one reversed
    assert found.reversed.explained == 1.0
    assert 0.3 < found.reversed.explained_both_ways < 0.7
    again = measure(table, seen, 1)
    assert not np.array_equal(again.test.accuracy, found.test.accuracy)


def test_the_parts_are_those_of_the_measures_and_all_answers_to_a_question_stay_together():
    triplets, rulers = answers()
    table = TripletTable.of([one for one in triplets for _ in range(3)])
    part = scored_part(table, 4)
    assert part is not None
    assert part.reshape(-1, 3).all(axis=1).tolist() == part.reshape(-1, 3).any(axis=1).tolist()
    signs = np.stack([verdicts(table, rulers[name], "euclidean") for name in rulers], axis=1)
    seen = [told(table, name, rulers[name]) for name in rulers]
    found = measure(table, seen, 4)
    fitted = accuracy_matrix(table.kept(~part), signs[~part])
    scored = accuracy_matrix(table.kept(part), signs[part])
    assert np.array_equal(found.validation.accuracy, fitted)
    assert np.array_equal(found.test.accuracy, scored)
    assert found.alignment.ot == align(fitted, scored).ot
    assert found.whole.accuracy == pytest.approx(accuracy_matrix(table, signs))


def test_too_few_questions_are_not_parted():
    triplets, rulers = answers(n=MIN_QUESTIONS - 1)
    table = TripletTable.of(triplets)
    found = measure(table, [told(table, "a", rulers["colour"])], 0)
    assert (found.is_split, found.test.n.tolist()) == (False, [MIN_QUESTIONS - 1] * 2)
    assert found.test is found.validation


def test_ties_are_counted_apart_and_are_not_right():
    triplets, _ = answers()
    table = TripletTable.of(triplets)
    found = measure(table, [told(table, "flat", np.zeros((N, 2)))], 0)
    assert found.test.ties.tolist() == [[1.0], [1.0]]
    assert found.alignment.ot == 0.0
    assert (found.reversed.valid, found.reversed.valid_reversed) == (0.0, 0.0)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_distances_agree_with_the_verdicts(metric):
    triplets, _ = answers()
    table = TripletTable.of(triplets)
    vectors = np.random.default_rng(3).standard_normal((N, 5))
    far, close = distances(table, vectors, metric)
    assert np.sign(far - close).tolist() == verdicts(table, vectors, metric).tolist()
    one = triplets[0]
    a, b = (vectors[NAMES.index(name)] for name in (one.anchor, one.closer))
    by_hand = (
        np.linalg.norm(a - b)
        if metric == "euclidean"
        else 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    )
    assert close[0] == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("n_conditions", "names", "reason"),
    [(1, ("a",), "one condition"), (2, (), "at least one embedding"), (2, ("a", "a"), "own name")],
)
def test_what_cannot_be_matched_is_refused(n_conditions, names, reason):
    triplets, rulers = answers()
    table = TripletTable.of(triplets[: 60 * n_conditions])
    seen = [told(table, name, rulers["colour"]) for name in names]
    with pytest.raises(ValueError, match=reason):
        measure(table, seen, 0)


def test_a_matrix_comes_back_as_it_was_written(tmp_path):
    matrix = AccuracyMatrix(("=a", "b"), ("x,y", "z"), np.array([[1 / 3, 1.0], [0.1, 0.0]]))
    path = tmp_path / "m.csv"
    path.write_text(matrix_csv(matrix))
    found = read_matrix(path)
    assert (found.conditions, found.embeddings) == (matrix.conditions, matrix.embeddings)
    assert np.array_equal(found.values, matrix.values)


# ---- without Django ----
@pytest.fixture
def files(tmp_path):
    """A file of answers and one of vectors for each ruler."""
    triplets, rulers = answers()
    lines = [",".join(one[:4]) for one in triplets]
    (tmp_path / "t.csv").write_text("\n".join(["anchor,closer,farther,condition", *lines]) + "\n")
    for name, at in rulers.items():
        np.savez(tmp_path / f"{name}.npz", ids=np.array(NAMES), vectors=at.astype(np.float32))
    return tmp_path


def matrix(files, *more):
    vectors = [part for name in ("colour", "shape") for part in ("--embeddings", files / name)]
    given = [str(one) + (".npz" if one in (files / "colour", files / "shape") else "")
             for one in vectors]  # fmt: skip
    return main(
        [
            "conditional",
            "matrix",
            str(files / "t.csv"),
            *given,
            "--metric",
            "euclidean",
            *map(str, more),
        ]
    )


def test_the_matrix_command_writes_what_the_alignment_reads(files, capsys):
    validation, test = files / "v.csv", files / "test.csv"
    assert matrix(files, "--validation", validation, "--test", test) == 0
    out = capsys.readouterr().out
    assert out.startswith("fitted on 60 triplets, scored on 60 others\n")
    assert "OT accuracy 1.000000, greedy 1.000000" in out
    assert main(["conditional", "alignment", str(validation), "--test", str(test), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ot_accuracy"] == 1.0
    assert matrix(files) == 0
    (files / "whole.csv").write_text(capsys.readouterr().out)
    assert read_matrix(files / "whole.csv").values.diagonal().tolist() == [1.0, 1.0]
    assert matrix(files, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["is_split"], report["n_bad_rows"]) == (True, 0)


def test_the_matrix_command_says_what_is_wrong(files, capsys):
    path = files / "t.csv"
    path.write_text(path.read_text() + "i00,i00,i01,shape\n")
    assert matrix(files) == 2
    assert "1 bad rows (the first: row 120, " in capsys.readouterr().err
    assert matrix(files, "--skip-bad") == 0
    path.write_text("anchor,closer,farther\ni00,i01,i02\n")
    assert matrix(files) == 2
    assert "one condition" in capsys.readouterr().err


# ---- in the site ----
@pytest.fixture
def stored(files, db, settings):
    settings.DATA_DIR = files / "data"
    catalog = catalog_of(NAMES)
    _, rulers = answers()
    for name, at in rulers.items():
        embedding_set_of(catalog, at.astype(np.float32), f"timm:{name}")
    printed("import_triplets", "Eggs", files / "t.csv", "--catalog", "eggs")
    return TripletSet.objects.get()


def test_the_command_stores_and_prints_the_figures(stored, files):
    given = ("score_alignment", "eggs", "--metric", "euclidean")
    result = printed(*given, "--test", files / "m.csv")
    assert (result["ot_accuracy"], result["is_split"]) == (1.0, True)
    assert result["embeddings"] == ["timm:colour", "timm:shape"]
    assert read_matrix(files / "m.csv").conditions == ("colour", "shape")
    kept = TripletAlignment.objects.get()
    assert str(kept.uid) == result["uid"]
    assert [len(one["shards"]) for one in kept.inputs["embeddings"]] == [1, 1]
    printed(*given)
    assert TripletAlignment.objects.get().uid == kept.uid
    printed(*given, "--seed", 1)
    assert TripletAlignment.objects.count() == 2
    call_command(*given)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("none",), "there are no triplets “none”"),
        (("eggs", "--embeddings", "timm:x"), "there are: timm:colour, timm:shape"),
        (("eggs", "--embeddings", "timm:shape"), "at least two embedding sets"),
        (("eggs", "--seed", "-1"), "from 0"),
    ],
)
def test_the_command_says_what_cannot_be_matched(stored, arguments, reason):
    with pytest.raises(CommandError, match=reason):
        call_command("score_alignment", *arguments)


def test_triplets_of_one_condition_are_not_matched(stored, files):
    (files / "one.csv").write_text("anchor,closer,farther\ni00,i01,i02\n")
    printed("import_triplets", "One", files / "one.csv", "--catalog", "eggs")
    with pytest.raises(CommandError, match="no answers under two conditions"):
        call_command("score_alignment", "one")


def client_of(role):
    client = Client()
    client.force_login(User.objects.create_user(role, role=role))
    return client


def test_an_admin_asks_and_readers_see_the_table_and_take_the_matrix(stored):
    admin, page = client_of(Role.ADMIN), "/templates/triplets/eggs/alignment/"
    assert "Nothing is matched yet" in admin.get(page).content.decode()
    assert page in admin.get("/templates/triplets/eggs/").content.decode()
    chosen = list(stored.catalog.embedding_sets.values_list("pk", flat=True))
    asked = {"embedding_sets": chosen, "metric": "euclidean", "seed": 0}
    refused = admin.post(
        "/templates/triplets/eggs/align", asked | {"embedding_sets": chosen[:1]}, follow=True
    )
    assert "choose at least two embedding sets" in refused.content.decode()
    admin.post("/templates/triplets/eggs/align", asked)
    job = Job.objects.latest("pk")
    align_task(str(job.uid))
    job.refresh_from_db()
    assert (job.state, job.error, job.n_done) == (JobState.SUCCEEDED, "", 3)
    reader = client_of(Role.RESEARCHER)
    found = reader.get(page).content.decode()
    for words in ("100.0 %", "The match is fitted on one half", "matched", 'scope="row"'):
        assert words in found
    assert "<form" not in found.split("</header>", 1)[1].split("</main>")[0]
    uid = TripletAlignment.objects.get().uid
    given = reader.get(f"{page}{uid}/test.csv").content.decode()
    assert given.startswith("condition,timm:colour,timm:shape\ncolour,1.0,")
    assert reader.get(f"{page}{uid}/other.csv").status_code == 404
    assert reader.post("/templates/triplets/eggs/align", asked).status_code == 403
    assert client_of(Role.ANNOTATOR).get(page).status_code == 403
