"""bfloat16 is for processors that compute in it; others are slower with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.backbones.slow_precision import has_bfloat16_unit, slow_precision

WITH = "processor : 0\nflags\t\t: fpu avx512f avx512_bf16 amx_tile\n"
WITHOUT = "processor : 0\nflags\t\t: fpu avx512f avx512_vnni\n"
ARM = "processor : 0\nFeatures\t: fp asimd bf16\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [(WITH, True), (WITHOUT, False), (ARM, True), ("model name: unknown\n", None), (None, None)],
)
def test_the_operating_system_says_whether_there_is_a_unit(
    tmp_path: Path, text: str | None, expected: bool | None
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    if text is not None:
        cpuinfo.write_text(text)
    assert has_bfloat16_unit(cpuinfo) is expected


@pytest.mark.parametrize(
    ("spec", "device", "text", "is_slow"),
    [
        ("timm:resnet18@bfloat16", "cpu", WITHOUT, True),
        ("timm:resnet18@bfloat16@stored-float32", "cpu", WITHOUT, True),
        ("timm:resnet18@bfloat16", "cuda:0", WITHOUT, False),
        ("timm:resnet18@bfloat16", "cpu", WITH, False),
        ("timm:resnet18@bfloat16", "cpu", "", False),  # nobody says
        ("timm:resnet18", "cpu", WITHOUT, False),
        ("descriptor:hog-shape", "cpu", WITHOUT, False),
    ],
)
def test_only_bfloat16_on_a_processor_without_a_unit_is_slow(
    tmp_path: Path, spec: str, device: str, text: str, is_slow: bool
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(text)
    reason = slow_precision(spec, device, cpuinfo)
    assert bool(reason) == is_slow
    assert not is_slow or reason.startswith(f"{spec}: this processor has no unit for bfloat16")
