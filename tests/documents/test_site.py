"""The documents build as a site, without a warning."""

import subprocess

from config.settings import BASE_DIR


def test_the_documents_build_as_a_site_and_hold_the_library() -> None:
    built = subprocess.run(
        ["script/docs"], cwd=BASE_DIR, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    site = BASE_DIR / "var/docs/site"
    assert "What is stored" in (site / "docs/architecture.html").read_text()
    assert 'id="lookalike.io.labels.read_qrels"' in (site / "docs/reference.html").read_text()
