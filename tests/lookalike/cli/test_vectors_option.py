"""`--vectors` is the word for vectors in every command, with the same formats, ids and errors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from lookalike.cli.main import main
from lookalike.release.opened import open_release
from tests.paths import GOLDEN_RELEASES

RELEASE = GOLDEN_RELEASES / "small-7.0.0.zip"
IDS = [f"shop/{number:02}.jpg" for number in range(24)]
VECTORS = np.random.default_rng(5).normal(size=(24, 6)).astype(np.float32)
FILES = ("v.npz", "keyed.npz", "v.npy", "v.parquet", "v.jsonl", "v.safetensors")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of one set of vectors, and labels, metadata, triplets and votes of its images."""
    monkeypatch.chdir(tmp_path)
    write_all(tmp_path, IDS)
    qrels = [f"{IDS[q]} 0 {IDS[c]} {(q + c) % 2}" for q in range(4) for c in range(10, 20)]
    (tmp_path / "labels.txt").write_text("\n".join(qrels) + "\n")
    rows = [f"{name},p{row // 2},{'red' if row % 3 else 'blue'}" for row, name in enumerate(IDS)]
    (tmp_path / "m.csv").write_text("\n".join(["path,product_id,colour", *rows, ""]))
    triplets = [f"{IDS[a]},{IDS[a + 1]},{IDS[a + 2]},shape" for a in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["anchor,closer,farther,condition", *triplets, ""]))
    votes = [f"{IDS[a]},{IDS[a + 1]},{j},{(a * j) % 2}" for a in range(20) for j in range(2)]
    (tmp_path / "votes.csv").write_text("\n".join(["query,candidate,annotator,value", *votes, ""]))
    return tmp_path


def write_all(folder: Path, ids: list[str]) -> None:
    keyed = dict(zip(ids, VECTORS, strict=True))
    np.savez(folder / "v.npz", ids=np.array(ids), vectors=VECTORS)
    np.savez(folder / "keyed.npz", **keyed)
    np.save(folder / "v.npy", VECTORS)
    (folder / "ids.txt").write_text("\n".join(ids) + "\n")
    pq.write_table(pa.table({"path": ids, "embedding": VECTORS.tolist()}), folder / "v.parquet")
    lines = [json.dumps({"image_id": i, "vector": v.tolist()}) for i, v in keyed.items()]
    (folder / "v.jsonl").write_text("\n".join(lines) + "\n")
    save_file(keyed, folder / "v.safetensors")


def vectors_of(file: str) -> list[str]:
    return ["--vectors", file, *(["--ids", "ids.txt"] if file.endswith(".npy") else [])]


COMMANDS = {
    "score": ["score", "--qrels", "labels.txt", "--measures", "macro_roc_auc,R@12,AP"],
    "classes": ["classes", "--metadata", "m.csv", "--starts", "0"],
    "identity": ["identity", "--metadata", "m.csv", "--qrels", "labels.txt"],
    "search": ["search", "-k", "3"],
    "triplets": ["conditional", "score-triplets", "t.csv"],
    "disagreement": ["disagreement", "--votes", "votes.csv"],
}


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """Return what a command says, without the names of files, and its warnings."""
    assert main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    text = out
    for file in FILES:
        text = text.replace(file, "FILE").replace(f'"{Path(file).stem}"', '"STEM"')
    said = json.loads(text)
    if isinstance(said, dict):
        said.pop("notes", None)
    return said, err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_reads_every_format_alike(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [answer([*COMMANDS[name], *vectors_of(file)], capsys)[0] for file in FILES]
    assert found == [found[0]] * len(FILES)


@pytest.mark.parametrize("name", COMMANDS)
def test_ids_may_spell_paths_otherwise(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "search":  # names come from the vectors alone
        return
    expected, _ = answer([*COMMANDS[name], *vectors_of("v.npz")], capsys)
    for form in ("./{}", "https://example.org/{}?size=2", "{}"):
        write_all(folder, [form.format(one.replace("shop/", "shop\\")) if form == "{}"
                           else form.format(one) for one in IDS])  # fmt: skip
        assert answer([*COMMANDS[name], *vectors_of("v.npz")], capsys)[0] == expected


OLD = {
    "classes": ["v.npz"],
    "identity": ["v.npz"],
    "search": ["--catalog", "v.npy", "--catalog-ids", "ids.txt"],
    "triplets": ["--embeddings", "v.npz"],
}


@pytest.mark.parametrize("name", OLD)
def test_old_words_work_in_this_version_with_a_warning(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, quiet = answer([*COMMANDS[name], *vectors_of("v.npz")], capsys)
    found, err = answer([*COMMANDS[name], *OLD[name]], capsys)
    assert found == expected
    assert "--vectors" in err
    assert "--vectors" not in quiet
    with pytest.raises(SystemExit):
        main(
            [*COMMANDS[name][:2], "--help"] if name == "triplets" else [COMMANDS[name][0], "--help"]
        )
    out = capsys.readouterr().out
    assert "--vectors FILE" in out
    assert not {"--catalog", "--embeddings", "old_vectors"} & {*out.replace("[", " ").split()}


@pytest.mark.parametrize(("words", "reason"), [
    (["--vectors", "v.npy"], "--ids"),
    (["--vectors", "v.npz", "--ids", "ids.txt"], "--ids is given 1 times for 0 .npy files"),
    (["--vectors", "labels.txt"], "labels.txt"),
    ([], "--vectors"),
    (["--vectors", "none.npz"], "none.npz"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["score", "classes", "search", "identity"])
def test_vectors_that_cannot_be_read_are_refused(
    name: str, words: list[str], reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COMMANDS[name], *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.startswith("error: ")) == ("", True)
    assert reason in err


def test_newcomers_of_a_release_may_be_vectors_with_ids_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_release(RELEASE) as release:
        images = [image for image, *_ in release.rows("images", "image_id", "is_candidate")]
        model = release.scored[0]["id"]
    rows = np.random.default_rng(1).normal(size=(len(images), 5)).astype(np.float32)
    np.save(tmp_path / "mine.npy", rows)
    np.savez(tmp_path / "mine.npz", ids=np.array(images), vectors=rows)
    (tmp_path / "ids.txt").write_text("\n".join(images) + "\n")
    given = {
        "npz": ["--vectors", str(tmp_path / "mine.npz")],
        "npy": ["--vectors", str(tmp_path / "mine.npy"), "--ids", str(tmp_path / "ids.txt")],
    }
    for command in (["score"], ["compare", "--run", model, "--measures", "AP'"],
                    ["bias", "--bootstraps", "10", "--permutations", "20"]):  # fmt: skip
        said = {}
        for kind, words in given.items():
            assert main([*command, "--release", str(RELEASE), *words, "--json"]) == 0
            said[kind] = json.loads(capsys.readouterr().out.replace(f"mine.{kind}", "mine"))
        assert said["npz"] == said["npy"]
