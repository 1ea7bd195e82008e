"""Which workers a machine gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.running import devices
from config.server import Program


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "devices_here", lambda: ["cuda:0", "cuda:1"])
    monkeypatch.setattr("socket.gethostname", lambda: "box")


def test_every_gpu_gets_a_worker_with_a_queue_of_its_own():
    found = devices.workers_for([])
    assert [worker.device for worker in found] == ["cuda:0", "cuda:1"]
    assert [worker.queue for worker in found] == ["device.cuda-0-on-box", "device.cuda-1-on-box"]


def test_the_same_device_twice_gives_two_workers_and_a_label_sets_them_apart():
    found = devices.workers_for(["cpu", "cpu"], label="night")
    assert [worker.name for worker in found] == ["cpu on box night", "cpu on box night 2"]
    assert len({worker.queue for worker in found}) == 2


@pytest.mark.parametrize("device", ["cuda:2", "tpu", "cuda"])
def test_a_device_that_is_not_here_is_named(device: str):
    with pytest.raises(devices.DeviceError, match=f"'{device}'.*cuda:0, cuda:1"):
        devices.workers_for([device])


def test_a_worker_s_process_is_told_who_it_is():
    (worker,) = devices.workers_for(["cuda:1"])
    section = Program.of_worker(worker).section
    assert 'LOOKALIKE_WORKER="cuda:1 on box"' in section
    assert 'LOOKALIKE_WORKER_DEVICE="cuda:1"' in section
    assert "--queues device,device.cuda-1-on-box" in section


@pytest.mark.parametrize(
    ("names", "platform", "is_asked"),
    [
        (["nvidia3", "nvidiactl"], "linux", True),  # a container with the fourth GPU alone
        (["dxg"], "linux", True),  # Linux within Windows
        ([], "darwin", True),
        (["nvidiactl", "nvidia-uvm"], "linux", False),  # a driver without a GPU
        ([], "linux", False),
    ],
)
def test_torch_is_asked_for_gpus_where_there_may_be_one(
    names: list[str],
    platform: str,
    is_asked: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    for name in names:
        (tmp_path / name).touch()
    monkeypatch.setattr(devices, "DEV", tmp_path)
    monkeypatch.setattr("sys.platform", platform)
    assert devices._may_have_gpu() == is_asked
