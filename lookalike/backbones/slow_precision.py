"""Say where a precision that is asked for its speed is slow: bfloat16 without a unit for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lookalike.backbones.spec import Spec, parse_spec

UNITS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})  # of x86 and of ARM
CPUINFO = Path("/proc/cpuinfo")


@cache
def has_bfloat16_unit(cpuinfo: Path = CPUINFO) -> bool | None:
    """Return whether this machine's processor computes in bfloat16; None where nobody says."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        return None
    flags = [line.partition(":")[2] for line in lines if line.startswith(("flags", "Features"))]
    return bool(UNITS & set(flags[0].split())) if flags else None


def slow_precision(spec: Spec | str, device: str, cpuinfo: Path = CPUINFO) -> str:
    """Return why a backbone is slow on a device of this machine, "" where it is not.

    Args:
        spec: the backbone.
        device: cpu, or any other.
        cpuinfo: what the operating system says of the processor.

    Raises:
        SpecError: as `parse_spec`.
    """
    wanted = parse_spec(spec) if isinstance(spec, str) else spec
    if wanted.precision != "bfloat16" or device != "cpu" or has_bfloat16_unit(cpuinfo) is not False:
        return ""
    return (
        f"{wanted}: this processor has no unit for bfloat16, so it takes two to four times as "
        "long as without @bfloat16, which is for GPUs and newer processors."
    )
