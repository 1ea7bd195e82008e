"""Which engine runs a network on a processor: torch, or ONNX Runtime where that is faster.

The same network in another engine gives the same vectors up to rounding, as it does on another
processor or a GPU. So an engine stands in the card, for people, and not in the fingerprint. It is
taken where it needs less of a processor's time for the same neighbours; what was found is kept
for the network, the versions and the processor, with the exported network beside it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from PIL import Image, ImageFilter
from torch import nn

from lookalike.backbones.networks import NetworkBackbone
from lookalike.backbones.protocol import Vectors, unit_rows
from lookalike.core.atomic_files import write_atomically
from lookalike.core.memory import is_out_of_memory
from lookalike.core.threads import Pool

logger = logging.getLogger(__name__)

TORCH, ONNX = "torch", "onnxruntime"
N_TRIED = 32  # pictures that both engines embed
N_TIMED, MOST_ROUNDS = 16, 4  # pictures whose time is taken, and how often
LONG_SECONDS = 0.6  # of a processor; what has taken so long is told from noise
LARGE_MS = 200  # a picture; a batch of so large a network takes seconds, and few pictures tell
AT_ONCE = (1, 2, 4)  # pictures at a time: few stay in the cache, many share the weights
N_EXAMPLES = 1  # pictures that a network is exported with
N_IMAGES = "n"  # what an exported network calls their number
NEIGHBOURS = 10
LEAST_AGREEMENT = 0.999  # share of the nearest neighbours that are torch's
LARGEST_CHANGE = 1e-4  # of a number of a unit vector
LEAST_GAIN = 1.05  # times as fast as torch, or the change is not worth it
MAX_BYTES = 1_500_000_000  # of weights; protobuf ends at two gigabytes

Forward = Callable[[torch.Tensor], NDArray[np.float32]]


@dataclass(frozen=True)
class Verdict:
    """What was found out about a network on a processor.

    Attributes:
        engine: the one to take, "torch" or "onnxruntime".
        reason: why, in a sentence.
        at_once: how many pictures ONNX Runtime gets at a time; 0 for torch.
        network_sha256: of the exported network; "" if there is none.
    """

    engine: str
    reason: str
    at_once: int = 0
    network_sha256: str = ""


def choose_engine(
    backbone: NetworkBackbone, folder: Path, on_trial: Callable[[], object] | None = None
) -> Verdict:
    """Let a network on the processor be run by the engine that is best for it here.

    What a folder has been told before is taken from there; a damaged file is made again. Where
    nothing can be kept, torch runs the network.

    Args:
        backbone: in float32 on the processor.
        folder: where exported networks and verdicts are kept.
        on_trial: called before the engines are tried; of a large network that takes minutes.
    """
    network = folder / f"{_key(backbone)}.onnx"
    kept = network.with_name(f"{network.stem}.{_here()}.json")
    verdict = _read(kept, network)
    if verdict is None:
        if on_trial is not None:
            on_trial()
        try:
            verdict = _find_out(backbone, network)
            content = json.dumps(asdict(verdict)).encode()
            write_atomically(kept, lambda file: file.write(content))
        except OSError as problem:
            verdict = Verdict(TORCH, f"nothing can be kept in {folder}: {problem}")
        logger.info("%s is run by %s: %s", backbone.spec, verdict.engine, verdict.reason)
    if verdict.engine == ONNX:
        forward = _by_onnx(network, verdict.at_once)
        backbone.run_by(forward, f"{ONNX} {onnxruntime.__version__}")
    return verdict


def onnx_session(network: Path | bytes, at_once: int) -> onnxruntime.InferenceSession:
    """Return what runs an exported network for so many pictures; each thread works alone.

    Where all shapes are known beforehand, no padding is worked out, or copied, for each picture.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_free_dimension_override_by_name(N_IMAGES, at_once)
    return onnxruntime.InferenceSession(
        network if isinstance(network, bytes) else str(network),
        options,
        providers=["CPUExecutionProvider"],
    )


def onnx_forward(
    session: onnxruntime.InferenceSession, at_once: int, batch: torch.Tensor
) -> NDArray[np.float32]:
    """Return the vectors of a batch, of which just so many pictures are computed at a time."""
    n_images = len(batch)
    if missing := -n_images % at_once:
        batch = torch.cat([batch, torch.zeros_like(batch[:1]).expand(missing, -1, -1, -1)])
    parts = [
        session.run(None, {"images": part.contiguous().numpy()})[0]
        for part in torch.split(batch, at_once)
    ]
    return np.concatenate(parts, dtype=np.float32)[:n_images]


def export_onnx(model: nn.Module, example: torch.Tensor) -> bytes:
    """Return a network as ONNX, for batches of any size.

    Raises:
        Exception: of many kinds, where the exporter does not know one of its layers.
    """
    # torch's newer exporter needs two packages more and six times as long for the same network
    file = BytesIO()
    with warnings.catch_warnings(), torch.inference_mode(), _attention_in_steps():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (example,),
            file,
            dynamo=False,
            input_names=["images"],
            output_names=["vectors"],
            dynamic_axes={"images": {0: N_IMAGES}, "vectors": {0: N_IMAGES}},
        )
    return file.getvalue()


@contextmanager
def _attention_in_steps() -> Iterator[None]:
    """Let torch compute attention by operations that ONNX has, not by one of its own."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def _find_out(backbone: NetworkBackbone, network: Path) -> Verdict:
    """Export a network and try it beside torch.

    Raises:
        OSError: it cannot be kept.
    """
    model, example = backbone.exportable
    n_bytes = sum(parameter.nbytes for parameter in model.parameters())
    if n_bytes > MAX_BYTES:
        return Verdict(TORCH, f"its weights have {n_bytes:,} bytes, and ONNX takes {MAX_BYTES:,}")
    try:
        exported = export_onnx(model, example)
    except Exception as problem:  # the exporter raises many kinds
        return _left_to_torch("it cannot be exported", problem)
    try:
        with Pool(1) as pool:  # one thread, as each of those that embed
            verdict = pool.begin(partial(_tried, backbone), exported).result()
    except Exception as problem:  # ONNX Runtime's own, and torch's
        return _left_to_torch("it fails when it is tried", problem)
    if verdict.engine == ONNX:
        write_atomically(network, lambda file: file.write(exported))
    return verdict


def _left_to_torch(what: str, problem: Exception) -> Verdict:
    """Return that torch runs a network, and why; too little memory is no reason that lasts."""
    if is_out_of_memory(problem):
        raise problem
    first_line = str(problem).strip().partition("\n")[0]
    return Verdict(TORCH, f"{what}: {first_line}")


def _tried(backbone: NetworkBackbone, exported: bytes) -> Verdict:
    """Embed pictures by both engines, ONNX Runtime with as many at a time as is fastest.

    Neighbours are compared where it is faster: of a large network, that takes minutes.
    """
    batches = _pictures(backbone)
    timed = batches[: max(1, N_TIMED // backbone.batch_size)]
    parts = [part for batch in timed for part in torch.split(batch, max(AT_ONCE))]
    took_ms: dict[int, float] = {}
    for n in AT_ONCE:
        try:
            took_ms[n] = _best_ms(_by_onnx(exported, n), parts)
        except Exception as problem:  # ONNX Runtime's own; some export the number of their example
            if n == N_EXAMPLES or is_out_of_memory(problem):
                raise
    at_once = min(took_ms, key=took_ms.__getitem__)
    is_large = took_ms[at_once] > LARGE_MS
    torch_ms = _best_ms(backbone.forward_by_torch, parts if is_large else timed)
    found = f"{took_ms[at_once]:.1f} ms a picture to torch's {torch_ms:.1f}"
    if torch_ms < LEAST_GAIN * took_ms[at_once]:
        return Verdict(TORCH, found)
    by_onnx = _by_onnx(exported, at_once)  # anew: two at a time would be the weights twice
    vectors, by_torch = _embedded(by_onnx, batches), _embedded(backbone.forward_by_torch, batches)
    agreement, change = _agreement(by_torch, vectors), float(np.abs(by_torch - vectors).max())
    if not (agreement >= LEAST_AGREEMENT and change <= LARGEST_CHANGE):
        return Verdict(
            TORCH,
            f"{agreement:.1%} of the neighbours are torch's, and a number changes by {change:.1g}",
        )
    return Verdict(ONNX, found, at_once, hashlib.sha256(exported).hexdigest())


def _by_onnx(network: Path | bytes, at_once: int) -> Forward:
    """Return what makes vectors of batches by ONNX Runtime, so many pictures at a time."""
    return partial(onnx_forward, onnx_session(network, at_once), at_once)


def _embedded(forward: Forward, batches: Sequence[torch.Tensor]) -> Vectors:
    """Return the vectors of some batches."""
    return unit_rows(np.concatenate([forward(batch) for batch in batches]))


def _best_ms(forward: Forward, batches: Sequence[torch.Tensor]) -> float:
    """Return the milliseconds of a processor that a picture takes at best, in a round or more.

    A large network is not given all batches: its pictures differ little, and take long.
    """
    forward(batches[0])  # the first run asks for memory
    best, spent = math.inf, 0.0
    for _ in range(MOST_ROUNDS):
        n_images, started = 0, time.thread_time()
        for batch in batches:
            forward(batch)
            n_images += len(batch)
            took = time.thread_time() - started
            if took > LONG_SECONDS:
                break
        best, spent = min(best, took / n_images), spent + took
        if spent > LONG_SECONDS:
            break
    return 1000 * best


def _pictures(backbone: NetworkBackbone) -> list[torch.Tensor]:
    """Return batches of pictures that differ from each other, coarse and fine."""
    rng = np.random.default_rng(0)
    inputs = []
    for number in range(N_TRIED):
        side = 4 * 2 ** (number % 5)
        values = rng.integers(0, 256, (side, side, 3), np.uint8)
        picture = Image.fromarray(values).resize((320, 320), Image.Resampling.BICUBIC)
        inputs.append(backbone.transform(picture.filter(ImageFilter.GaussianBlur(number % 3))))
    size = backbone.batch_size
    return [backbone.as_inputs(inputs[at : at + size]) for at in range(0, N_TRIED, size)]


def _agreement(one: Vectors, other: Vectors) -> float:
    """Return the share of the nearest neighbours by the one that are also the other's."""
    nearest = []
    for vectors in (one, other):
        similarity = vectors @ vectors.T
        np.fill_diagonal(similarity, -np.inf)
        nearest.append(np.argsort(-similarity, axis=1)[:, :NEIGHBOURS])
    shared = [len(set(a) & set(b)) for a, b in zip(*nearest, strict=True)]
    return float(np.mean(shared)) / NEIGHBOURS


def _read(kept: Path, network: Path) -> Verdict | None:
    """Return a kept verdict; None if there is none, or a file of it is damaged or gone."""
    with suppress(OSError, ValueError, TypeError):
        verdict = Verdict(**json.loads(kept.read_bytes()))
        if verdict.engine == TORCH:
            return verdict
        with network.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == verdict.network_sha256:
                return verdict
    return None


def _key(backbone: NetworkBackbone) -> str:
    """Return what names a network: all that decides its vectors, and torch's version."""
    return hashlib.sha256(f"{backbone.fingerprint} {torch.__version__}".encode()).hexdigest()[:32]


def _here() -> str:
    """Return what names this processor with these versions."""
    facts = [platform.machine(), torch.__version__, onnxruntime.__version__, str(AT_ONCE)]
    with suppress(OSError):  # Linux says more
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        facts += sorted({line for line in lines if line.startswith(("model name", "flags"))})
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
