"""A release of the demo: whoever computes its numbers comes to those of its board."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from demo import main_job
from releases.models import Release
from releases.publishing.zenodo import metadata_of
from tests.releases.demo_release import make_demo_release
from tests.releases.every_way import check_every_way

WHOLE = pytest.param("whole", marks=[pytest.mark.daily, pytest.mark.timeout(30 * 60)])


@pytest.fixture(params=["small", WHOLE])
def demo(
    request: pytest.FixtureRequest, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> Release:
    """The demo, frozen; the small one has fewer pictures and no networks."""
    return make_demo_release(monkeypatch, 24 if request.param == "small" else None)


def test_command_python_page_api_hand_and_ir_measures_agree_on_the_demo_and_call_it_simulated(
    demo: Release, client: Client, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    specs = (main_job.MODELS[0], main_job.MODELS[-1])
    check_every_way(demo, specs, client=client, capsys=capsys, cache=tmp_path / "cache")
    assert "judgements are simulated" in metadata_of(demo)["description"]
    sent = client.get("/releases/demo/1.0.0/leaderboard.md")
    assert "demo-1.0.0-simulated-leaderboard.md" in sent["Content-Disposition"]
    assert "judgements are simulated" in sent.content.decode()
