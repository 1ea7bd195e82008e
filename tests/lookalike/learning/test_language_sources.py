"""How alike names are: by word vectors of a file, and by WordNet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike.backbones.errors import SpecError
from lookalike.core.errors import Refused
from lookalike.io.errors import FormatError
from lookalike.learning.language.sources import load_language
from lookalike.learning.language.word_vectors import WordVectors
from lookalike.learning.language.wordnet import DATA, INDEX, WordNet
from lookalike.learning.metric.language import name_language, pseudolabel_language

ABOVE = {  # of each concept, by its first word
    "entity": (), "artifact": ("entity",), "living_thing": ("entity",), "bag": ("artifact",),
    "footwear": ("artifact",), "shoe": ("footwear",), "high_top": ("shoe",), "tench": ("fish",),
    "fish": ("living_thing",), "goldfish": ("fish",), "case": ("artifact",),
    "suitcase": ("case", "bag"),
}  # fmt: skip
LICENCE = "  1 This software and database is being provided to you | as is\n"


def write_wordnet(folder: Path) -> Path:
    """Write a WordNet of a dozen nouns as Princeton writes it."""
    folder.mkdir(exist_ok=True)
    offset = {name: f"{number:08d}" for number, name in enumerate(ABOVE, 1740)}
    data, index = [LICENCE], [LICENCE]
    for name, above in ABOVE.items():
        pointers = [f"@ {offset[one]} n 0000" for one in above]
        pointers += [f"~ {offset[one]} n 0000" for one in ABOVE if name in ABOVE[one]]
        words = f"02 {name} 0 another_word 0"
        cells = [offset[name], "06 n", words, f"{len(pointers):03d}", *pointers]
        data.append(" ".join([*cells, "| what it is; “1 @ 2”\n"]))
        index.append(f"{name} n 1 2 @ ~ 1 1 {offset[name]}  \n")
    index.append(f"sack n 2 1 @ 2 1 {offset['bag']} {offset['fish']}  \n")  # a bag, mostly
    (folder / DATA).write_text("".join(data))
    (folder / INDEX).write_text("".join(index))
    return folder


@pytest.fixture
def wordnet(tmp_path: Path) -> WordNet:
    return WordNet(write_wordnet(tmp_path / "dict"))


class TestWordNet:
    def test_names_are_as_alike_as_what_they_have_in_common_lies_deep(self, wordnet):
        names = ["shoe", "bag", "tench", "goldfish", "high_top"]
        rows = wordnet.rows(names)
        # shoe and bag: artifact is the second concept from the root, two steps and one below it
        wanted = [
            [1, 2 * 2 / (2 + 1 + 4), 2 / (3 + 3 + 2), 2 / (3 + 3 + 2), 2 * 4 / (1 + 8)],
            [4 / 7, 1, 2 / (2 + 3 + 2), 2 / (2 + 3 + 2), 2 * 2 / (1 + 3 + 4)],
        ]
        np.testing.assert_allclose((rows @ rows.T)[:2], wanted, atol=1e-6)
        assert rows[2] @ rows[3] == pytest.approx(2 * 3 / (1 + 1 + 6), abs=1e-6)

    def test_of_several_ways_up_the_one_that_is_most_alike_counts(self, wordnet):
        senses = [wordnet.sense(name) for name in ("suitcase", "bag", "case")]
        found = wordnet.similarities(senses)
        assert found[0, 1] == found[0, 2] == pytest.approx(2 * 3 / (1 + 6))
        assert found[1, 2] == pytest.approx(2 * 2 / (1 + 1 + 4))

    @pytest.mark.parametrize(
        ("name", "noun"),
        [("red bag", "bag"), ("Shoes", "shoe"), ("grey high top", "high_top"), ("sack", "bag"),
         ("high_tops", "high_top")],
    )  # fmt: skip
    def test_the_last_words_of_a_name_count_in_their_most_frequent_sense(self, wordnet, name, noun):
        assert wordnet.sense(name) == wordnet.sense(noun)

    def test_classes_and_pseudolabels_are_read_by_it(self, wordnet):
        classes = name_language(["01.Red_Bag", "blue bag", "shoe"], wordnet)
        words = classes.of(np.arange(3), np.arange(3))
        assert words[0, 1].item() == pytest.approx(1)
        assert words[0, 2].item() == pytest.approx(4 / 7, abs=1e-6)
        probabilities = np.full((2, 1000), 1e-4)
        probabilities[0, :2], probabilities[1, :2] = (0.5, 0.4), (0.4, 0.5)
        guessed = pseudolabel_language(probabilities, np.arange(2), wordnet, 2)  # tench, goldfish
        assert guessed.of(np.arange(2), np.arange(2))[0, 1].item() == pytest.approx(0.75, abs=1e-6)

    def test_a_name_without_a_noun_is_refused(self, wordnet):
        with pytest.raises(Refused, match="wordnet:dict has no noun for 'teal'"):
            wordnet.rows(["teal bag", "teal"])

    def test_another_folder_is_refused(self, tmp_path):
        with pytest.raises(Refused, match=r"holds no index.noun; give the folder dict of WordNet"):
            load_language(f"wordnet:{tmp_path}")
        folder = write_wordnet(tmp_path / "dict")
        text = (folder / DATA).read_text()
        (folder / DATA).write_text(text.replace(" 06 n 02 ", " 06 n xx ", 1))
        with pytest.raises(FormatError, match=r"data.noun, line 2: is no entry of WordNet"):
            WordNet(folder)
        (folder / DATA).write_text("".join(text.splitlines(keepends=True)[:-1]))
        with pytest.raises(FormatError, match=r"has no concept 0+1751, which is named \(1 are"):
            WordNet(folder)


class TestWordVectors:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "glove.txt"
        path.write_text("4 3\nred 1 0 0\nBag 9 9 9\nbag 0 2 0\n4 0 0 1\n")
        return path

    def test_a_name_is_the_mean_of_the_directions_of_its_words(self, file):
        rows = WordVectors(file).rows(["Red bag", "bag", "4", "unheard-of red"])
        half = 0.5**0.5
        np.testing.assert_allclose(rows, [[half, half, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], 1e-6)

    def test_no_line_says_how_many_there_are_in_files_of_glove(self, file):
        file.write_text("red 1 0\nbag 1 1\n")
        found = name_language(["02.Red", "bag"], load_language(f"vectors:{file}"))
        words = found.of(np.arange(2), np.arange(2))
        assert words[0, 1].item() == pytest.approx(0.5**0.5)

    def test_a_name_of_unknown_words_is_refused(self, file):
        with pytest.raises(Refused, match=r"vectors:glove.txt has no word of 'teal hat'"):
            WordVectors(file).rows(["red", "teal hat"])

    @pytest.mark.parametrize(
        ("line", "reason"),
        [("bag one two", "line 2: 'bag' has no numbers"), ("bag 1", "'bag' is not 2 finite"),
         ("bag 0 0", "2 finite numbers, or all are 0"), ("bag nan 1", "'bag' is not 2 finite")],
    )  # fmt: skip
    def test_a_line_that_is_no_vector_is_named(self, file, line, reason):
        file.write_text(f"red 1 0\n{line}\n")
        with pytest.raises(FormatError, match=reason):
            WordVectors(file).rows(["red bag"])

    def test_what_is_no_file_of_vectors_is_refused(self, file):
        file.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(FormatError, match="is no text in UTF-8"):
            WordVectors(file).rows(["red"])
        with pytest.raises(Refused, match=r"absent is no file of word vectors"):
            load_language("vectors:absent")


def test_a_language_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(SpecError, match=r"'glove' names no language. Write sentence:.*wordnet:"):
        load_language("glove")
