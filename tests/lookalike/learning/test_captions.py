"""What captions say, how concrete it is, and the triplets that are mined from it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lookalike.core.errors import Refused
from lookalike.io.errors import FormatError
from lookalike.learning.captions.concreteness import MISSING, Concreteness, read_concreteness
from lookalike.learning.captions.files import (
    NamedTriplet,
    read_captions,
    read_parsed,
    read_triplets,
    triplet_cells,
    write_parsed,
)
from lookalike.learning.captions.mining import (
    NOT_CONCRETE,
    SAME_IMAGE,
    SAME_OBJECT,
    UNKNOWN_WORD,
    CaptionTable,
    MinedTriplet,
    Rules,
    join,
    mine,
    shard,
)
from lookalike.learning.captions.relations import (
    CaptionRow,
    flatten,
    load_grammar,
    parse_captions,
    read_relations,
)
from tests.paths import shared

TOY = [  # of the specification: only "dog" is on five images and has two objects
    CaptionRow("img1", "", "dog", "on", "grass"),
    CaptionRow("img2", "", "dog", "in", "car"),
    CaptionRow("img3", "", "dog", "on", "grass"),
    CaptionRow("img4", "", "dog", "with", "ball"),
    CaptionRow("img5", "", "dog", "on", "beach"),
    CaptionRow("img6", "", "cat", "on", "grass"),
]
SAID = {
    "A woman is playing the piano in the room.": {
        ("woman", "playing", "piano"), ("woman", "in", "room")},
    "a cat is on the mat": {("cat", "on", "mat")},
    "a bag in red": {("bag", "in", "red")},
    "a cup stands next to the living room lamp": {("cup", "next to", "living room lamp")},
    "the man sat on the left side of the car": {("man", "on the left side of", "car")},
    "a dog and a cat sitting on the grass in front of the house": {
        (one, *rest) for one in ("dog", "cat")
        for rest in (("on", "grass"), ("in front of", "house"))},
    "The ball was kicked by a boy and a girl.": {
        ("boy", "kicked", "ball"), ("girl", "kicked", "ball")},
    "photograph of the sign being repaired by brave person": {
        ("person", "repaired", "sign"), ("photograph", "of", "sign")},
    "horse looking at the camera": {("horse", "looking at", "camera")},
    "a boat is moored in the Harbour": {("boat", "in", "Harbour")},
    "He sits on a chair": set(),
    "beautiful and red": set(),
}  # fmt: skip


@pytest.fixture(scope="module")
def grammar():
    return load_grammar()


class Ratings:
    """Those of the specification's golden triplet, and nothing else."""

    known = {"dog": 5.0, "grass": 4.9, "car": 4.7, "ball": 4.6, "cat": 4.6}

    def score(self, entity: str) -> float:
        return self.known.get(entity, MISSING)


class TestRelations:
    @pytest.mark.parametrize("caption", SAID)
    def test_a_caption_says_who_does_what_with_whom(self, caption, grammar):
        _, relations = read_relations(grammar(caption))
        assert set(relations) == SAID[caption]

    def test_entities_are_named_as_they_stand_with_what_is_compounded(self, grammar):
        said, _ = read_relations(grammar("two big Dogs in front of the living room table"))
        assert said == ("Dogs", "living room table")

    def test_rows_follow_the_captions(self, grammar):
        parsed = list(
            parse_captions([("b", "a cat is on the mat"), ("a", "a bag in red")], grammar)
        )
        assert [(row.image, row.subject) for row in flatten(parsed)] == [("b", "cat"), ("a", "bag")]


class TestConcreteness:
    def test_a_plural_has_the_rating_of_its_singular_in_place_of_its_own(self):
        ratings = Concreteness({"Dog": 4.85, "foot": 4.9, "feet": 1.5, "null": 2.0})
        assert ratings.score("dogs") == ratings.score("DOG") == 4.85
        assert ratings.score("feet") == 4.9
        assert ratings.score("null") == 2.0
        assert ratings.score("sand castle") == MISSING

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("Word\tRating\ndog\t5\n", "line 1: the columns are Word, Rating; Word and Conc.M"),
            ("Word\tConc.M\ndog\tx\n", "line 2: 'x' is no rating from 1 to 5"),
            ("Word\tConc.M\ndog\t7\n", "line 2: '7' is no rating"),
            ("Word\tConc.M\n", "no word is rated"),
        ],
    )
    def test_another_table_is_refused(self, text, reason, tmp_path):
        (tmp_path / "c.txt").write_text(text)
        with pytest.raises(FormatError, match=reason):
            read_concreteness(tmp_path / "c.txt")


class TestMining:
    def test_only_a_subject_of_five_images_and_two_objects_is_drawn(self):
        assert CaptionTable(TOY).subjects == ["dog"]
        assert CaptionTable(TOY, Rules(fewest_images=1)).subjects == ["dog"]  # a cat has one object

    def test_targets_and_distractors_of_a_reference_are_drawn_as_specified(self):
        found = mine(CaptionTable(TOY), range(6000), 0).triplets
        of_first = Counter(one.target for one in found if one.reference == 0)
        assert set(of_first) == {1, 3, 4}
        assert all(abs(n / of_first.total() - 1 / 3) < 0.05 for n in of_first.values())
        onto_grass = {one.distractor for one in found if one.target in (0, 2)}
        assert onto_grass == {0, 2, 5}
        assert CaptionTable(TOY).condition(MinedTriplet(0, 0, 1, 1)) == "in car"

    def test_a_subject_is_drawn_by_its_images_and_an_object_by_nothing_else(self):
        rows = [CaptionRow(f"h{n}", "", "horse", "on", "hay" if n else "ice") for n in range(15)]
        rows = [*TOY, *rows, *rows]  # said twice of an image counts once
        found = mine(CaptionTable(rows), range(4000), 0).triplets
        subjects = Counter(rows[one.target].subject for one in found)
        assert subjects["horse"] / subjects.total() == pytest.approx(15 / 20, abs=0.03)
        objects = Counter(rows[one.target].object for one in found)
        assert objects["hay"] / objects["ice"] == pytest.approx(1 / 14, rel=0.3)

    @pytest.mark.parametrize(
        ("redraw", "share"), [("target", 0.5), ("triplet", (1 / 2) / (1 / 2 + 5 / 6))]
    )
    def test_subjects_of_few_objects_are_as_frequent_as_their_images(self, redraw, share):
        rows = [
            CaptionRow(f"{subject}{n}", "", subject, "on", f"{subject} {n % n_objects}")
            for subject, n_objects in (("cup", 2), ("dog", 6))
            for n in range(12)
        ]
        mined = mine(CaptionTable(rows, Rules(redraw=redraw)), range(8000), 0)
        assert mined.n_given_up == 0
        cups = np.mean([rows[one.target].subject == "cup" for one in mined.triplets])
        assert cups == pytest.approx(share, abs=0.02)
        for one in mined.triplets:
            reference, target = rows[one.reference], rows[one.target]
            assert (reference.object, reference.image) != (target.object, target.image)
            assert reference.object != target.object

    def test_a_reference_without_any_target_is_given_up_for_another(self):
        crowded = [CaptionRow("fair", "", "dog", "near", f"stall {n}") for n in range(6)]
        lonely = [CaptionRow(f"p{n}", "", "dog", "near", "stall 0") for n in range(4)]
        rows = [*crowded, *lonely]  # on the fair every other object is on the same image
        found = mine(CaptionTable(rows), range(300), 0)
        assert found.n_given_up == 0
        assert {SAME_OBJECT, SAME_IMAGE} == set(found.rejected)
        assert all(rows[one.reference].image != rows[one.target].image for one in found.triplets)

    def test_an_unknown_rule_of_drawing_again_is_refused(self):
        with pytest.raises(Refused, match="'all' is none of target, triplet"):
            Rules(redraw="all")

    @pytest.mark.parametrize(
        ("terms", "is_kept"),
        [
            ([5, 4.9, 5, 4.7, 5, 4.6], True),  # 4.866667
            ([-1, 4.9, 5, 4.7, 5, 4.6], False),  # 3.866667
            ([4.8] * 6, False),  # a mean of 4.8 is not above it
            ([5, 4.6, 5, 4.6, 5, 4.6], False),  # nor here, whatever the sum is in binary
        ],
    )
    def test_the_mean_of_all_six_entities_has_to_exceed_the_threshold(self, terms, is_kept):
        table = CaptionTable(TOY, ratings=Ratings())
        table._concreteness = np.vstack([np.reshape(terms, (3, 2)), np.ones((3, 2))])
        assert (table._reason((0, 1, 2)) == "") is is_kept

    def test_without_the_distractor_four_entities_count(self):
        rows = (0, 1, 5)  # dog, grass, dog, car: 4.9; cat and grass beside: 4.85 and 4.733
        assert CaptionTable(TOY, Rules(threshold=4.86, n_rows=2), Ratings())._reason(rows) == ""
        assert CaptionTable(TOY, Rules(threshold=4.86), Ratings())._reason(rows) == NOT_CONCRETE

    def test_what_is_rejected_is_counted_by_reason(self):
        found = mine(CaptionTable(TOY, Rules(threshold=4.86), Ratings()), range(200), 0)
        assert set(found.rejected) == {SAME_OBJECT, UNKNOWN_WORD, NOT_CONCRETE}
        twice = [*TOY, CaptionRow("img1", "", "dog", "near", "car")]
        assert SAME_IMAGE in mine(CaptionTable(twice), range(200), 0).rejected

    def test_a_number_is_given_up_after_so_many_draws(self):
        class Abstract(Ratings):
            known = {}

        table = CaptionTable(TOY, Rules(tries=20), Abstract())
        found = mine(table, range(5), 0)
        assert (found.triplets, found.n_given_up) == ((), 5)
        assert sum(found.rejected.values()) == 100

    @pytest.mark.parametrize("n_shards", [1, 4, 7])
    def test_shards_together_are_one_draw(self, n_shards):
        table = CaptionTable(TOY)
        parts = [mine(table, shard(50, k, n_shards), 3) for k in reversed(range(n_shards))]
        assert join(parts) == join([mine(table, range(50), 3)])
        assert mine(table, range(50), 4).triplets != join(parts).triplets

    def test_captions_without_relations_are_refused(self):
        with pytest.raises(Refused, match="no relation is in them"):
            CaptionTable([])
        with pytest.raises(
            Refused, match="no subject is on 5 images with two objects; 4 relations"
        ):
            CaptionTable(TOY[:4])
        with pytest.raises(Refused, match="5 of 4 is none"):
            shard(10, 4, 4)


@pytest.mark.slow
def test_all_entities_of_a_mined_triplet_are_concrete_whatever_the_shards(grammar):
    captions, n_further = read_captions(shared("conceptual_captions/val_5000.tsv"))
    assert (len(captions), n_further) == (5000, 0)
    rows = flatten(parse_captions(captions[:2000], grammar))
    table_of_ratings = "concreteness/Concreteness_ratings_Brysbaert_et_al_BRM.txt"
    ratings = read_concreteness(shared(table_of_ratings))
    table = CaptionTable(rows, ratings=ratings)
    whole, *others = (join(mine(table, shard(300, k, n), 0) for k in range(n)) for n in (1, 4, 7))
    assert all(other == whole for other in others)
    assert len(whole.triplets) == 300
    assert set(whole.rejected) == {NOT_CONCRETE, UNKNOWN_WORD, SAME_OBJECT, SAME_IMAGE}
    for one in whole.triplets:
        reference, target, distractor = (rows[row] for row in one[1:])
        assert reference.subject == target.subject
        assert reference.object != target.object == distractor.object
        assert reference.image != target.image
        scores = [ratings.score(name) for row in (reference, target, distractor)
                  for name in (row.subject, row.object)]  # fmt: skip
        assert min(scores) > 3.8
        assert np.mean(scores) > 4.8


class TestFiles:
    def test_what_was_read_comes_back(self, grammar, tmp_path):
        captions = [(f"i{n}", caption) for n, caption in enumerate(SAID)]
        parsed = list(parse_captions(captions, grammar))
        write_parsed(parsed, tmp_path / "r.jsonl")
        assert read_parsed(tmp_path / "r.jsonl") == parsed

    def test_the_first_caption_of_an_image_counts(self, tmp_path):
        (tmp_path / "c.csv").write_text('caption,image\n"a dog, on grass",b\nx,a\ny,b\n')
        assert read_captions(tmp_path / "c.csv") == ([("b", "a dog, on grass"), ("a", "x")], 1)
        (tmp_path / "c.tsv").write_text('a dog\thttp://b\n\na "cat\t http://a\n')
        assert read_captions(tmp_path / "c.tsv")[0] == [
            ("http://b", "a dog"), ("http://a", 'a "cat')]  # fmt: skip

    def test_mined_triplets_are_read_by_their_names(self, tmp_path):
        cells = triplet_cells(CaptionTable(TOY), MinedTriplet(7, 0, 1, 1))
        assert cells == ("img1", "img2", "in car", "img2", "dog", 7, 0, 1, 1)
        (tmp_path / "t.csv").write_text("condition,reference,target\nin car,img1,img2\n")
        assert read_triplets(tmp_path / "t.csv") == [NamedTriplet("img1", "img2", "in car")]

    @pytest.mark.parametrize(
        ("read", "name", "text", "reason"),
        [
            (read_captions, "c.csv", "picture,caption\na,b\n", "needed: image,caption"),
            (read_captions, "c.csv", "image,caption\na,\n", "line 2: the caption is empty"),
            (read_captions, "c.tsv", "only a caption\n", "line 1: 1 cells"),
            (read_captions, "c.csv", "image,caption\n", "there is no caption"),
            (read_parsed, "r.jsonl", "{}\n", "line 1: is no caption that was read"),
            (read_parsed, "r.jsonl", "no\n", "line 1: is no caption that was read"),
            (read_triplets, "t.csv", "reference,target\na,b\n", "no column 'condition'"),
            (read_triplets, "t.csv", "reference,target,condition\na,b\n", "line 2: 2 cells"),
            (read_triplets, "t.csv", "reference,target,condition\na,b,\n", "a cell is empty"),
            (read_triplets, "t.csv", "reference,target,condition\n", "there is no triplet"),
        ],
    )
    def test_a_file_of_something_else_is_refused_with_its_line(
        self, read, name, text, reason, tmp_path: Path
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(FormatError, match=reason):
            read(tmp_path / name)
