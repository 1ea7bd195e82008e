"""Try on this machine all that runs on a GPU: `script/gpu-check [--device cuda:0] [--small]`.

Each check compares what the device makes with what the processor makes, and puts beside its speed
the limit that the machine sets: a bare forward pass of batches that lie on the device already,
decoding by all processors, one reading of the catalog at the device's measured rate. The exit
status is 1 if a result is wrong; on a GPU, too, if embedding stays below 0.9 of its limit or
search below 20 times two processor cores. Without a GPU all of it runs on the processor, which
tries the code and says nothing of speed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

if not __package__:  # run as a file: benchmarks/evaluation.py must not hide the package
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import timm
import torch
from timm.data.config import resolve_model_data_config
from timm.data.transforms_factory import create_transform
from torch import nn

from benchmarks.embed import SHARD, agreement, build, make_photos
from benchmarks.search import unit_vectors
from lookalike.backbones.decoders import Decoders
from lookalike.backbones.embed import PIECE, embed_images, embed_in_turn
from lookalike.backbones.loading import best_device, load_backbone
from lookalike.backbones.networks import NetworkBackbone, Pixels, Precision
from lookalike.core.arrays import Floats
from lookalike.core.threads import Pool
from lookalike.images.sources import open_source
from lookalike.learning.losses.multisimilarity import multisimilarity
from lookalike.learning.metric.classes import Classes
from lookalike.learning.networks.pictures import LearntPictures
from lookalike.learning.networks.settings import NetworkSettings
from lookalike.learning.networks.settings import Precision as StepPrecision
from lookalike.learning.networks.training import NetworkLearner
from lookalike.search import gpu
from lookalike.search.exact import top_k
from lookalike.search.filters import Filters
from lookalike.search.topk import TopK

LITE0 = "timm:tf_efficientnet_lite0"
LEAST_EMBEDDING, LEAST_SEARCH = 0.9, 20.0
LEAST_AGREEMENT: dict[Precision, float] = {  # on real weights
    "float32": 0.999, "bfloat16": 0.95, "float16": 0.97,
}  # fmt: skip
EMBEDDED: list[tuple[str, Precision, int]] = [  # and how often the photos; the first is for CI
    ("tf_efficientnet_lite0", "float32", 1), ("vit_base_patch16_224", "float32", 32),
    ("vit_base_patch16_224", "bfloat16", 32), ("vit_large_patch16_224", "float32", 8),
]  # fmt: skip
MOST_CHANGE: dict[StepPrecision, float] = {  # of a network's losses
    "float32": 1e-3, "bfloat16": 0.05, "float16": 0.02,
}  # fmt: skip
GIB = 2**30
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Found:
    """What a check found: a line of the table, and what is wrong, if anything."""

    check: str
    says: str
    wrong: str = ""


@dataclass(frozen=True)
class Bench:
    """The device, the photos and how much is done."""

    device: torch.device
    photos: list[Path]
    is_small: bool

    @property
    def on_gpu(self) -> bool:
        return self.device.type != "cpu"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", help="default: the GPU if there is one")
    parser.add_argument("--small", action="store_true", help="a few seconds of each, for CI")
    given = parser.parse_args()
    device = torch.device(given.device) if given.device else best_device()
    if str(device) == "cuda":
        device = torch.device("cuda", torch.cuda.current_device())
    if given.small:
        torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        make_photos(Path(folder), 12 if given.small else 512)
        bench = Bench(device, sorted(Path(folder).glob("*.jpg")), given.small)
        sys.exit(report(bench))


def report(bench: Bench) -> int:
    """Print the table, and return how the program is to end."""
    name = torch.cuda.get_device_name(bench.device) if bench.device.type == "cuda" else "processor"
    print(f"Device: {bench.device} ({name}), torch {torch.__version__}", flush=True)
    if not bench.on_gpu:
        print("No GPU here: the processor stands in, and no bound on speed is looked at.")
    n_wrong = 0
    for check in CHECKS:
        for found in check(bench):
            n_wrong += bool(found.wrong)
            print(f"{'WRONG' if found.wrong else 'ok':5s}  {found.check:28s} {found.says}")
            if found.wrong:
                print(f"       {'':28s} {found.wrong}")
            sys.stdout.flush()
    print(f"{n_wrong} checks failed." if n_wrong else "All checks passed.")
    return 1 if n_wrong else 0


# ---- embedding ----
def precisions(bench: Bench) -> Iterator[Found]:
    """The same neighbours in each precision as by the processor in float32."""
    expected = embed_images(load_backbone(LITE0, "cpu"), bench.photos)
    for precision, least in LEAST_AGREEMENT.items():
        if precision == "float16" and not bench.on_gpu:
            continue  # processors do not compute in it
        backbone = load_backbone(f"{LITE0}@{precision}", bench.device)
        shared = agreement(expected, embed_images(backbone, bench.photos))
        wrong = "" if shared >= least else f"at least {least:.1%} are expected"
        yield Found(f"lite0 in {precision}", f"{shared:.2%} of the neighbours are the same", wrong)


def embedding_rate(bench: Bench) -> Iterator[Found]:
    """From JPEG to vectors, beside the lower of what decoding and a bare forward pass allow."""
    for model, precision, times in EMBEDDED[:1] if bench.is_small else EMBEDDED[1:]:
        photos = bench.photos * times
        groups = [photos[at : at + SHARD] for at in range(0, len(photos), SHARD)]
        backbone = random_backbone(model, bench.device, precision)
        embed_all(backbone, groups[:4])
        rate = len(photos) / once(partial(embed_all, backbone, groups))
        bare, size = bare_forward(backbone, bench)
        decoding = len(photos) / once(partial(decode, backbone, photos))
        limit = min(bare, decoding)
        says = (
            f"{rate:.0f} images/s; bare forward {bare:.0f} (batches of {size}), "
            f"decoding {decoding:.0f}: {rate / limit:.2f} of the limit"
        )
        is_slow = bench.on_gpu and rate < LEAST_EMBEDDING * limit
        wrong = f"at least {LEAST_EMBEDDING} are expected" if is_slow else ""
        yield Found(f"{model} in {precision}", says, wrong)


def embed_all(backbone: NetworkBackbone, groups: list[list[Path]]) -> None:
    for _ in embed_in_turn(backbone, groups):
        pass


def random_backbone(name: str, device: torch.device, precision: Precision) -> NetworkBackbone:
    torch.manual_seed(0)
    model = timm.create_model(name, num_classes=0)
    transform = create_transform(**resolve_model_data_config(model))
    return NetworkBackbone(
        spec=name, model=model, pixels=Pixels.of(transform, name), card={}, device=device,
        precision=precision,
    )  # fmt: skip


def bare_forward(backbone: NetworkBackbone, bench: Bench) -> tuple[float, int]:
    """Return the best images/s of batches that lie on the device, and their size."""
    _, example = backbone.exportable
    n_batches, best, at = 1 if bench.is_small else 4, 0.0, 0
    for size in (12,) if bench.is_small else (64, 256):
        batch = example.expand(size, -1, -1, -1).to(bench.device, memory_format=torch.channels_last)

        def forward(batch: torch.Tensor = batch) -> None:
            with torch.inference_mode():
                for _ in range(n_batches):
                    backbone.features(batch)
            wait_for(bench.device)

        rate = best_rate(n_batches * size, forward)
        if rate > best:
            best, at = rate, size
    return best, at


def decode(backbone: NetworkBackbone, photos: list[Path]) -> None:
    with Decoders(backbone.transform, backbone.smallest_side) as decoders, Pool() as pool:
        pieces = [photos[at : at + PIECE] for at in range(0, len(photos), PIECE)]
        waiting = deque(pool.begin(decoders.read, piece) for piece in pieces)
        while waiting:
            waiting.popleft().result()


class Crowded(nn.Module):
    """A network for which more than four pictures at once are too many."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 16, 32, stride=32)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        if len(images) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory, as a stand-in says")
        vectors: torch.Tensor = self.layer(images).flatten(1)
        return vectors


def full_memory(bench: Bench) -> Iterator[Found]:
    """Batches that do not fit are halved until they do, and the vectors are the same."""
    photos = bench.photos[:256]
    if bench.device.type == "cuda":
        backbone = random_backbone("vit_base_patch16_224", bench.device, "float32")
        expected = embed_images(backbone, photos, batch_size=8)
        free_gib = 1.5
        total = torch.cuda.get_device_properties(bench.device).total_memory
        torch.cuda.empty_cache()
        held = torch.cuda.memory_reserved(bench.device)
        torch.cuda.set_per_process_memory_fraction((held + free_gib * GIB) / total, bench.device)
        try:
            found = embed_images(backbone, photos, batch_size=256)
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0, bench.device)
        how = f"batches of 256 with {free_gib} GiB free"
    else:
        transform = create_transform(input_size=(3, 224, 224))
        backbone = NetworkBackbone(
            spec="crowded", model=nn.Sequential(nn.Conv2d(3, 16, 32, stride=32), nn.Flatten()),
            pixels=Pixels.of(transform, "crowded"), card={}, device=bench.device,
        )  # fmt: skip
        expected = embed_images(backbone, photos)
        crowded = Crowded()
        crowded.layer.load_state_dict(
            {k.removeprefix("0."): v for k, v in backbone.exportable[0].state_dict().items()}
        )
        backbone.run_by(lambda batch: crowded(batch).detach().numpy(), "crowded")
        found, how = embed_images(backbone, photos, batch_size=64), "batches of 64 where 4 fit"
    change = float(np.abs(found - expected).max())
    wrong = "" if change < 1e-4 else "the vectors are others"
    yield Found("full memory", f"{how}: a number changes by {change:.1g} at most", wrong)


WORKER = """
import sys
from pathlib import Path
import torch
from lookalike.backbones.embed import embed_images
from lookalike.backbones.loading import load_backbone
spec, device, n_threads, *photos = sys.argv[1:]
torch.set_num_threads(int(n_threads))
backbone = load_backbone(spec, device)
vectors = embed_images(backbone, [Path(photo) for photo in photos], batch_size=32)
sys.stdout.buffer.write(vectors.tobytes())
"""


def two_workers(bench: Bench) -> Iterator[Found]:
    """Two processes on one device at once make what one makes."""
    photos = bench.photos[:256]
    given = [LITE0, str(bench.device), str(torch.get_num_threads()), *map(str, photos)]
    started = [
        subprocess.Popen([sys.executable, "-c", WORKER, *given], cwd=ROOT, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    outputs = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        yield Found("two workers", "at once", "one of them failed")
        return
    one, other = (np.frombuffer(output, np.float32) for output in outputs)
    alone = embed_images(load_backbone(LITE0, bench.device), photos, batch_size=32)
    change = max(float(np.abs(one - x).max()) for x in (other, alone.ravel()))
    wrong = "" if change < 1e-4 else "the vectors are others"
    yield Found("two workers on one device", f"a number changes by {change:.1g} at most", wrong)


def several_devices(bench: Bench) -> Iterator[Found]:
    """Every GPU of the machine makes the same vectors."""
    n_gpus = torch.cuda.device_count() if bench.device.type == "cuda" else 0
    if n_gpus < 2:
        yield Found("several GPUs", f"{n_gpus} here: nothing to compare")
        return
    photos = bench.photos[:256]
    first, *others = (
        embed_images(load_backbone(LITE0, f"cuda:{number}"), photos) for number in range(n_gpus)
    )
    change = max(float(np.abs(first - other).max()) for other in others)
    wrong = "" if change < 1e-4 else "the vectors are others"
    yield Found("several GPUs", f"{n_gpus}: a number changes by {change:.1g} at most", wrong)


# ---- search and training ----
def search(bench: Bench) -> Iterator[Found]:
    """The processor's result, bit for bit, and how much sooner."""
    n_images, n_queries, dim, k = (3000, 100, 64, 6) if bench.is_small else (500_000, 2000, 768, 10)
    catalog = unit_vectors(n_images, dim, "clusters").astype(np.float16)
    queries, filters = catalog[:n_queries].copy(), Filters(own=np.arange(n_queries))
    found: dict[str, TopK] = {}

    def on_device() -> None:
        found["device"] = gpu.top_k(queries, catalog, k, device=str(bench.device), filters=filters)

    def on_two_cores() -> None:
        found["cores"] = top_k(queries, catalog, k, filters=filters, n_threads=2)

    by_device = seconds(on_device, times=3)
    top_k(queries[:8], catalog, k, n_threads=2)  # compiles the kernels
    by_cores = once(on_two_cores)
    is_same = all(
        np.array_equal(getattr(found["device"], name), getattr(found["cores"], name))
        for name in ("indices", "scores")
    )
    reading = catalog.nbytes / copy_rate(bench)
    says = (
        f"{1000 * by_device:.1f} ms, two cores {1000 * by_cores:.1f}: x{by_cores / by_device:.1f}; "
        f"reading the catalog once {1000 * reading:.2f} ms"
    )
    wrong = "" if is_same else "the result is not the processor's, bit for bit"
    if not wrong and bench.on_gpu and by_cores < LEAST_SEARCH * by_device:
        wrong = f"at least x{LEAST_SEARCH:.0f} is expected"
    yield Found(f"search, {n_queries:,} in {n_images:,} x {dim}", says, wrong)


def copy_rate(bench: Bench) -> float:
    """Return the bytes/s at which the device reads its own memory while it writes."""
    block = torch.zeros(2**20 if bench.is_small else 2**26, device=bench.device)

    def copy() -> None:
        for _ in range(4):
            block.clone()
        wait_for(bench.device)

    return 8 * block.nbytes / seconds(copy, times=3)  # read and written


def layers(bench: Bench) -> Iterator[Found]:
    """Twenty steps of layers over vectors come to the processor's losses."""
    losses, spent = [], 0.0
    for device in (torch.device("cpu"), bench.device):
        torch.manual_seed(0)
        learnt = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 128)).to(device)
        images, labels = torch.randn(112, 512).to(device), (torch.arange(112) // 2).to(device)
        adam = torch.optim.Adam(learnt.parameters(), 1e-3)
        steps = []
        started = time.perf_counter()
        for _ in range(20):
            loss = multisimilarity(nn.functional.normalize(learnt(images)), labels)
            adam.zero_grad()
            loss.backward()
            adam.step()
            steps.append(loss.detach())
        wait_for(device)
        spent = time.perf_counter() - started
        losses.append(torch.stack(steps).cpu())
    change = float((losses[0] - losses[1]).abs().max() / losses[0].abs().max())
    wrong = "" if change < 1e-3 else "the losses are others"
    yield Found(
        "layers' training step", f"{1000 * spent / 20:.2f} ms; losses change by {change:.1g}", wrong
    )


def network(bench: Bench) -> Iterator[Found]:
    """Steps of a network from JPEG, in each precision, come nearly to the processor's losses."""
    n_steps, batch = (2, 8) if bench.is_small else (10, 128)
    expected, _ = steps_of_network(bench, torch.device("cpu"), "float32", n_steps, batch)
    for precision, most in MOST_CHANGE.items():
        if precision == "float16" and not bench.on_gpu:
            continue
        found, spent = steps_of_network(bench, bench.device, precision, n_steps, batch)
        change = float(np.abs(found - expected).max() / np.abs(expected).max())
        wrong = "" if change <= most else f"at most {most} is expected"
        says = f"{1000 * spent:.0f} ms for {batch} JPEG; losses change by {change:.1g}"
        yield Found(f"lite0's step in {precision}", says, wrong)


def steps_of_network(
    bench: Bench, device: torch.device, precision: StepPrecision, n_steps: int, batch: int
) -> tuple[Floats, float]:
    """Return the losses of steps, shape (n_steps,), and the least seconds of one."""
    model, transform = build("lite0")
    settings = NetworkSettings(LITE0, steps=n_steps, batch=batch, precision=precision, patience=99)
    names = [path.name for path in bench.photos]
    with open_source(bench.photos[0].parent) as source:
        pictures = LearntPictures(
            source, names, Pixels.of(transform, LITE0), 128, crop=settings.crop, seed=0
        )
        learner = NetworkLearner(
            model, pictures, np.arange(len(names)), Classes.of([str(at // 2) for at in range(
                len(names))]), settings, language=None, trial=None, device=device,
        )  # fmt: skip
        losses, spent = [], []
        for number in range(n_steps):
            started = time.perf_counter()
            losses.append(learner.step(number)["loss"])
            spent.append(time.perf_counter() - started)
    return np.array(losses), min(spent)


# ---- time ----
def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def once(work: Callable[[], Any]) -> float:
    """Return the seconds of one run."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def seconds(work: Callable[[], Any], times: int) -> float:
    """Return the least seconds of several runs, after one that warms up."""
    work()
    return min(once(work) for _ in range(times))


def best_rate(n: int, work: Callable[[], Any]) -> float:
    return n / seconds(work, times=2)


CHECKS: tuple[Callable[[Bench], Iterator[Found]], ...] = (
    precisions, embedding_rate, full_memory, two_workers, several_devices, search, layers, network,
)  # fmt: skip

if __name__ == "__main__":
    main()
