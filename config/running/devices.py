"""Which devices this machine computes on, and the workers that serve them."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DEV = Path("/dev")
DEVICE = re.compile(r"cpu|mps|cuda:\d+")
ASK_TORCH = "import torch; print(torch.cuda.device_count(), torch.backends.mps.is_available())"


class DeviceError(Exception):
    """A device is not to be had; the message names it."""


@dataclass(frozen=True)
class DeviceWorker:
    """One worker: what it computes on and how it is called.

    Attributes:
        device: cpu, mps or cuda:N.
        name: unique among all machines of the site.
    """

    device: str
    name: str

    @property
    def queue(self) -> str:
        """The Celery queue that it alone reads, beside the one that all share."""
        return f"device.{re.sub(r'[^A-Za-z0-9.-]+', '-', self.name)}"

    @property
    def environment(self) -> dict[str, str]:
        """What tells its process who it is."""
        return {
            "LOOKALIKE_WORKER": self.name,
            "LOOKALIKE_WORKER_QUEUE": self.queue,
            "LOOKALIKE_WORKER_DEVICE": self.device,
        }

    @property
    def command(self) -> str:
        """Start its process; one job at a time, since it has one device."""
        return (
            f"{Path(sys.executable).parent}/celery --quiet -A config worker --loglevel warning "
            f"--queues device,{self.queue} --concurrency 1 --hostname {self.queue}@%%h"
        )


def workers_for(devices: Sequence[str], label: str = "") -> list[DeviceWorker]:
    """Return a worker for each device.

    Args:
        devices: cpu, mps, cuda:N; the same one twice gives two workers. Empty: all that this
            machine has, which is every GPU, or else the processor.
        label: sets workers apart that have the same device on the same machine.

    Raises:
        DeviceError: no such device is here.
    """
    here = devices_here()
    found: list[DeviceWorker] = []
    for device in devices or here:
        if not DEVICE.fullmatch(device) or device not in {*here, "cpu"}:
            raise DeviceError(f"There is no device {device!r} here; there is {', '.join(here)}.")
        name = f"{device} on {socket.gethostname()}{' ' if label else ''}{label}"
        n_same = sum(worker.device == device for worker in found)
        found.append(DeviceWorker(device, f"{name} {n_same + 1}" if n_same else name))
    return found


def devices_here() -> list[str]:
    """Return every GPU of this machine, or else the processor, without loading torch for that."""
    if not _may_have_gpu():
        return ["cpu"]
    asked = subprocess.run(
        [sys.executable, "-c", ASK_TORCH], capture_output=True, text=True, check=True
    )
    n_gpus, has_mps = asked.stdout.split()
    gpus = [f"cuda:{number}" for number in range(int(n_gpus))]
    return gpus or (["mps"] if has_mps == "True" else ["cpu"])


def _may_have_gpu() -> bool:
    """Whether it is worth asking torch: a GPU of any number, one of WSL, or a Mac."""
    files = [*DEV.glob("nvidia[0-9]*"), *DEV.glob("dxg")]
    return bool(files) or sys.platform == "darwin"
