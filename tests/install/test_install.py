"""The package in a bare environment: without Django, torch and database it prints what it did.

`tests/golden/commands` holds what the commands printed before they became one: the outputs of
`python -m evaluation score`, `python -m releases verify` and so on at the commit c62fbcd; the
findings of bias.txt have been put in plainer words since.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.paths import GOLDEN_RELEASES, ROOT, shared

pytestmark = pytest.mark.install

GOLDEN = ROOT / "tests" / "golden" / "commands"
NO_PRODUCTS = "note: no vsd_ measures: they count each product once"
MOST_MB = 450
MOST_SECONDS = 0.5
RUNS = (
    *("--run", "small/runs/descriptor-hog-shape.parquet"),
    *("--run", "small/trec/runs/descriptor-lbp-texture.txt"),
    *("--run", "small/runs/descriptor-colour-histogram.parquet"),
    *("--missing", "worst"),
)
SCORE = ("score", "--qrels", "small/trec/qrels.txt", *RUNS)
BIAS = (
    *("bias", "--qrels", "small/data/qrels.parquet", "--proposals", "pool.csv", *RUNS),
    *("--bootstraps", "200", "--permutations", "500", "--full"),
)
PRINTED = {
    "score.txt": SCORE,
    "score.json": (*SCORE, "--json"),
    "bias.txt": BIAS,
    "verify.txt": ("verify", "small"),
    "diff.txt": ("diff", "small-1.0.0.zip", "small"),
    "alignment.txt": ("conditional", "alignment", "accuracies.csv"),
    "alignment.json": ("conditional", "alignment", "accuracies.csv", "--json"),
}
# SHA-256 of what the command prints: the votes are not ours to keep
AGGREGATES = {
    ("bluebirds", "majority"): "b1776007f59d5df215d030956a8a80891cb1613a01f9bdc1a2a0524168e84242",
    ("bluebirds", "dawid-skene"): (
        "745027dd9c10bc38df848716d4a912841cf291ebe0fb57d242dbc03efcba9944"
    ),
    ("snow_temp", "majority"): "18c4a9e8bc90af824fc5b165004d820fadfb67205bb95e6e16582c1d4b824742",
    ("snow_temp", "dawid-skene"): (
        "7d523f5cfc650b76236a2505a2feb6d456f84b9176e7bb330f631a3aa0611dae"
    ),
}


@pytest.fixture(scope="module")
def bare(testrun_uid: str) -> Path:
    """An environment into which nothing but the package was installed, once for all processes."""
    folder = ROOT / "var" / "install"
    folder.mkdir(parents=True, exist_ok=True)
    made_by = folder / "made-by"
    with (folder.parent / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made_by.exists() and made_by.read_text() == testrun_uid):
            shutil.rmtree(folder)
            folder.mkdir()
            install(folder / "source", folder / "bare")
            made_by.write_text(testrun_uid)
    return folder / "bare"


def install(source: Path, environment: Path) -> None:
    """Make an environment, and install a copy of the library into it."""
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "lookalike", source / "lookalike")
    uv = str(Path(sys.executable).with_name("uv"))
    python = str(environment / "bin" / "python")
    package = ["pip", "install", "--compile-bytecode", "--python", python, "-c", "constraints.txt"]
    for words in (["venv", "--python", sys.executable, str(environment)], [*package, str(source)]):
        subprocess.run([uv, "--quiet", *words], cwd=ROOT, check=True)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a frozen release, its pool as proposals, and a matrix of accuracies."""
    folder = tmp_path_factory.mktemp("inputs")
    for name in ("pool.csv", "accuracies.csv"):
        shutil.copy(GOLDEN / name, folder)
    shutil.copy(GOLDEN_RELEASES / "small-1.0.0.zip", folder)
    with zipfile.ZipFile(GOLDEN_RELEASES / "small-2.0.0.zip") as archive:
        archive.extractall(folder)
    (folder / "small-2.0.0").rename(folder / "small")
    return folder


def printed(bare: Path, folder: Path, *arguments: str) -> str:
    command = [str(bare / "bin" / "lookalike"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    remarks = done.stderr.splitlines()
    assert (done.returncode, [r for r in remarks if not r.startswith(NO_PRODUCTS)]) == (0, [])
    return done.stdout


def test_the_environment_is_bare_and_small(bare: Path) -> None:
    packages = next((bare / "lib").glob("python*")) / "site-packages"
    installed = {path.name.split("-")[0] for path in packages.glob("*.dist-info")}
    assert installed == {
        *("lookalike", "numpy", "scipy", "pyarrow", "threadpoolctl", "markdown_it_py", "mdurl"),
    }
    n_bytes = sum(path.lstat().st_size for path in bare.rglob("*"))
    assert n_bytes < MOST_MB * 1_000_000
    assert (packages / "lookalike" / "py.typed").is_file()


def test_the_import_takes_less_than_half_a_second(bare: Path) -> None:
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([bare / "bin" / "python", "-c", "import lookalike"], check=True)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < MOST_SECONDS


@pytest.mark.parametrize("name", PRINTED)
def test_the_commands_print_what_they_printed_before_they_became_one(
    name: str, bare: Path, inputs: Path
) -> None:
    found, wanted = printed(bare, inputs, *PRINTED[name]), (GOLDEN / name).read_text("utf-8")
    if not name.endswith(".json"):
        assert found == wanted
        return
    whole = json.loads(found)
    if isinstance(whole, dict):
        whole.pop("notes", None)  # came later
    assert json.dumps(whole) == json.dumps(json.loads(wanted))


@pytest.mark.parametrize(("name", "rule"), AGGREGATES)
def test_real_votes_are_aggregated_as_is_kept(name: str, rule: str, bare: Path) -> None:
    folder = shared("crowd_labels") / name
    arguments = ("labels.csv", "--truth", "truth.csv", "--rule", rule, "--tie", "split")
    out = printed(bare, folder, "aggregate", *arguments)
    assert hashlib.sha256(out.encode()).hexdigest() == AGGREGATES[name, rule]


def test_the_official_run_scores_as_before(bare: Path) -> None:
    measures = {"P@5": "0.2667", "AP": "0.1785", "nDCG@10": "0.3016", "bpref": "0.1981"}
    files = ("--qrels", "qrels.test", "--run", "results.test", "--measures", ",".join(measures))
    out = printed(bare, shared("trec_eval"), "score", *files, "--trec")
    rows = dict(line.split()[::2] for line in out.splitlines()[4:])
    assert rows == measures


def test_human_triplets_are_read_and_checked(bare: Path) -> None:
    out = printed(
        bare, shared("triplets_alien_eggs"), "conditional", "validate", "responses_n30.csv"
    )
    assert out == "20,086 triplets: no defects\n"


def test_a_matrix_that_is_not_square_is_aligned_without_pot(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(
        "condition,a,b,c,d\nx,.9,.6,.5,.1\ny,.8,.7,.55,.2\nz,.85,.65,.6,.5\n"
    )
    report = json.loads(printed(bare, tmp_path, "conditional", "alignment", "wide.csv", "--json"))
    assert report["ot_accuracy"] == pytest.approx(0.6625, abs=1e-12)


def test_mace_says_which_extra_it_needs(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("item,worker,label\na,1,x\na,2,y\n")
    command = [str(bare / "bin" / "lookalike"), "aggregate", "votes.csv", "--rule", "mace"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: MACE needs crowd-kit: pip install 'lookalike[voters]'\n"


def test_the_extras_name_what_a_site_pins() -> None:
    requirements = (ROOT / "requirements.txt").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    extras = [optional[name] for name in optional if name != "publishing"]  # for readers elsewhere
    named = {requirement_name(line) for part in extras for line in part}
    named |= {requirement_name(line) for line in project["dependencies"]}
    pinned = {requirement_name(line) for line in requirements.splitlines()}
    assert named - {"lookalike"} == pinned - {"uv", "setuptools"}  # which install the others


def requirement_name(line: str) -> str:
    name = line.strip().split("[")[0].split("=")[0].split(">")[0].split("<")[0]
    return name.lower().replace("_", "-")
