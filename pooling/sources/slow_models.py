"""Which of the models that are asked for are slow on the devices that would compute them."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from jobs.models import Worker
from lookalike.backbones.slow_precision import slow_precision
from lookalike.pooling.source_spec import SourceKind, source_kind


def slow_here(spec: str) -> str:
    """Return why a source is slow in this process, "" where it is not."""
    if not _slow(spec, "cpu"):
        return ""
    if settings.WORKER_DEVICE:
        return _slow(spec, settings.WORKER_DEVICE)
    from lookalike.backbones.loading import best_device  # noqa: PLC0415  # loads torch

    return _slow(spec, best_device().type)


def slow_models(specs: Iterable[str]) -> list[str]:
    """Return why models are slow, where no worker has a GPU.

    The processor is this machine's: of others nothing is known here.
    """
    found = [slow for spec in specs if (slow := _slow(spec, "cpu"))]
    if not found:
        return []
    has_gpu = any(worker.is_alive for worker in Worker.objects.exclude(device="cpu"))
    return [] if has_gpu else found


def _slow(spec: str, device: str) -> str:
    return slow_precision(spec, device) if source_kind(spec) == SourceKind.BACKBONE else ""
